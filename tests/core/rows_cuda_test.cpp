// SPDX-License-Identifier: BSD-3-Clause
// The rows of general matrices on ranks on GPUs: halos, sums, products and residuals have the bits of one GPU, queued
// once and recorded as a graph.
#include <gtest/gtest.h>

#include <vector>

#include "core/matrix/row_cuts.hpp"
#include "core/random_rows.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/scalars.hpp"
#include "on_device.hpp"
#include "on_ranks.hpp"
#include "replays.hpp"

namespace hyperplane {
namespace {

using testing_support::RandomRows;
using RowValues = std::vector<double>;

/// One replay more than there are parities of epochs.
constexpr int replays = 5;

class RowsOfGpuRanks : public testing_support::WithRandomRows<testing_support::DeviceTest> {
protected:
    BsrMatrix part_of_rank(const Context& context) const {
        const Context host = context.host();
        const BsrMatrix whole = reference::to_bsr_matrix(host.alone(), data());
        auto pattern = whole.pattern();
        if (context.ranks()) pattern = rows_of_rank(context, pattern, dof, "test");
        BsrMatrix on_host(host, pattern, dof, false);
        const Index first = on_host.space().first_block_row();
        std::copy_n(whole.values() + whole.pattern()->row_begin()[first] * dof * dof, on_host.nonzeros(),
                    on_host.values());
        BsrMatrix a(context, pattern, dof, false);
        a.assign(on_host);
        return a;
    }
};

INSTANTIATE_TEST_SUITE_P(OnDevice, RowsOfGpuRanks,
                         testing::Values(RandomRows{"random", 8197, 1}, RandomRows{"symmetric", 9001, 1},
                                         RandomRows{"no_diagonal", 5003, 2}, RandomRows{"random", 3001, 3},
                                         RandomRows{"dense_row", 8200, 1}, RandomRows{"arrow", 2101, 7},
                                         RandomRows{"empty_rows", 9000, 1}, RandomRows{"uneven", 9001, 1},
                                         RandomRows{"random", 2101, 31}),
                         testing_support::rows_name);

TEST_P(RowsOfGpuRanks, ExchangeTheValuesThatTheyRead) {
    on_each_gpu_rank(4, [&](const Context& context) {
        const auto pattern = reference::to_bsr_matrix(context.host().alone(), data()).pattern();
        const auto part = rows_of_rank(context, pattern, dof, "test");
        const RowSlab& slab = *part->slab();
        EXPECT_EQ(slab.first, row_cuts(*pattern, dof, 4, Backend::cuda)[context.ranks()->rank()]);
        const auto expect = [&](const Vector& x, std::uint64_t seed) {
            const RowValues all = reference::Random(seed).vector(GetParam().rows * dof);
            Vector copy;
            const Vector& found = on_host(x, copy);
            Index wrong = 0;
            for (Index slot = -slab.before; slot < slab.rows_in_memory() - slab.before; ++slot)
                for (int c = 0; c < dof; ++c) wrong += found.data()[slot * dof + c] != all[slab.row(slot) * dof + c];
            EXPECT_EQ(wrong, 0);
        };
        Vector x = vector(context, part->space(), 3);
        exchange_halo(x);
        expect(x, 3);
        const Replay recording(context, [&] { exchange_halo(x); });
        for (std::uint64_t seed = 4; seed < 4 + replays; ++seed) {
            from_natural(reference::Random(seed).vector(GetParam().rows * dof), x);  // the halo is zero
            context.synchronize();
            synchronise_ranks(context, true);
            recording.queue();
            context.synchronize();
            expect(x, seed);
            synchronise_ranks(context, true);  // nobody is sent values before it has looked at these
        }
    });
}

TEST_P(RowsOfGpuRanks, SumsProductsAndResidualsHaveTheBitsOfOneGpu) {
    const auto compute = [&](const Context& context) {
        const BsrMatrix a = part_of_rank(context);
        Vector x = vector(context, a.space(), 3);
        const Vector b = vector(context, a.space(), 4);
        Vector y(context, a.space(), dof, "y"), r(context, a.space(), dof, "r");
        std::vector<Vector> v;
        std::vector<const Vector*> columns;
        for (int m = 0; m < 40; ++m) v.push_back(vector(context, a.space(), 10 + m));
        for (const Vector& one : v) columns.push_back(&one);
        const std::vector<const Vector*> few(columns.begin(), columns.begin() + 3);
        Scalars scalars(context, "scalars", 60);
        double* const s = scalars.data();
        run_and_replay(context, replays, [&] {
            a.apply_dot(x, y, s);
            axpy_norm2_dot(1.0 / 64, y, x, b, s + 1, s + 2);
            dot_norm2(x, b, s + 3, s + 4);
            sum(x, dof - 1, s + 5);
            divide_by_root(s + 1, x);
            dots(few, x, s + 6);
            dots(columns, x, s + 10);
            add_combination(-1e-3, s + 6, few, x, s + 9);
        });
        a.residual(b, x, r);
        RowValues found = to_natural(r);
        const RowValues last = to_natural(y), sums = scalars.get(0, 50);
        found.insert(found.end(), last.begin(), last.end());
        found.insert(found.end(), sums.begin(), sums.end());
        found.push_back(norm2(r));
        return found;
    };
    const RowValues one = compute(Context::cuda());
    for (int ranks = 2; ranks <= 4; ++ranks) {
        RowValues several;
        on_each_gpu_rank(ranks, [&](const Context& context) {
            RowValues mine = compute(context);
            if (is_first_rank(context)) several = std::move(mine);
        });
        EXPECT_EQ(several, one) << ranks << " ranks";
    }
}

}  // namespace
}  // namespace hyperplane
