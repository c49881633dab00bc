// SPDX-License-Identifier: BSD-3-Clause
// Ranks on GPUs: exchanges, products and sums have the bits of one rank, queued for once and recorded as a graph.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/matrix/struct_matrix_cuda.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/slab_ends.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/point_values.hpp"
#include "on_device.hpp"
#include "on_ranks.hpp"
#include "replays.hpp"

namespace hyperplane {
namespace {

using testing_support::DeviceTest;

struct RanksOnDevice : DeviceTest {};

Vector part_of_random(const Context& context, const Layout& layout, int dof, std::uint64_t seed) {
    Vector x(context, layout, dof, "test vector");
    from_natural(reference::Random(seed).vector(int(layout.grid().points()) * dof), x);
    return x;
}

/// A rank's planes of a matrix, with the coefficients of its halo.
StructMatrix part_of(const Context& context, const StructMatrix& whole, const Layout& layout) {
    StructMatrix on_host(context.host(), layout, whole.stencil(), whole.dof(), whole.storage());
    for (Index row = 0; row < layout.slots(); ++row) {
        const Int3 p = layout.point(row);
        for (int e = 0; e < whole.stored_entries(); ++e)
            for (int r = 0; r < whole.dof(); ++r)
                for (int c = 0; c < whole.dof(); ++c)
                    on_host.values(e, r, c)[layout.slot(p)] = whole.values(e, r, c)[whole.layout().slot(p)];
    }
    StructMatrix a(context, layout, whole.stencil(), whole.dof(), whole.storage());
    a.assign(on_host);
    a.share_halos();
    return a;
}

struct RankCase {
    Grid grid;
    Stencil stencil;
    int dof;
    MatrixStorage storage;
};

/// Powers of A: x = A x / 8 a few times, with the sums of each step, then the residual and the largest value.
std::vector<double> products_and_sums(const Context& context, const RankCase& of, const StructMatrix& whole) {
    const Layout layout = hyperplane::part_of(context, whole.layout(), whole.stencil().planes());
    const StructMatrix a = part_of(context, whole, layout);
    Vector x = part_of_random(context, layout, of.dof, 1), y(context, layout, of.dof, "y"),
           r(context, layout, of.dof, "r");
    const Vector b = part_of_random(context, layout, of.dof, 2);
    const bool in_one_pass = StructMatrixCuda::has_dot(layout, of.dof);  // which a larger grid has
    const StructMatrixCuda kernels(a);
    Scalars scalars(context, "scalars", 8);
    double* const s = scalars.data();
    run_and_replay(context, 5, [&] {
        a.apply_dot(x, y, s);
        if (in_one_pass) kernels.apply_dot(a, x, y, s + 6);
        axpy_norm2_dot(1.0 / 8, y, x, b, s + 1, s + 2);
        dot_norm2(x, b, s + 3, s + 4);
        sum(x, of.dof - 1, s + 5);
        divide_by_root(s + 1, x);
    });
    a.residual(b, x, r);
    std::vector<double> all = to_natural(r);
    if (in_one_pass) {
        EXPECT_EQ(scalars.get(6, 1), scalars.get(0, 1));
    }
    const std::vector<double> sums = scalars.get(0, 6), last = to_natural(y);
    all.insert(all.end(), last.begin(), last.end());
    all.insert(all.end(), sums.begin(), sums.end());
    all.push_back(norm2(r));
    all.push_back(all_finite(r) ? 1.0 : 0.0);
    return all;
}

/// What the first of `ranks` ranks on GPUs computes; on one rank without a communicator.
template <class Compute>
std::vector<double> on_gpu_ranks(int ranks, const Compute& compute) {
    if (ranks == 1) return compute(Context::cuda());
    std::vector<double> result;
    on_each_gpu_rank(ranks, [&](const Context& context) {
        std::vector<double> mine = compute(context);
        if (is_first_rank(context)) result = std::move(mine);
    });
    return result;
}

TEST_F(RanksOnDevice, ProductsAndSumsHaveTheBitsOfOneRank) {
    for (const RankCase& of : {RankCase{{17, 9, 13}, Stencil::star7(), 1, MatrixStorage::full},
                               RankCase{{17, 9, 13}, Stencil::star7(), 1, MatrixStorage::lower},
                               RankCase{{9, 5, 7}, Stencil::box27(), 2, MatrixStorage::lower},
                               RankCase{{16, 10, 7}, Stencil::box27(), 3, MatrixStorage::full},
                               RankCase{{70, 67, 11}, Stencil::star13(), 1, MatrixStorage::full}}) {
        const Layout layout(LayoutKind::natural, of.grid, of.stencil.level_map());
        const StructMatrix whole = testing_support::random_struct_matrix(layout, of.stencil, of.dof, of.storage, 3);
        const auto compute = [&](const Context& context) { return products_and_sums(context, of, whole); };
        const std::vector<double> one = on_gpu_ranks(1, compute);
        EXPECT_EQ(one.back(), 1.0);
        for (const int ranks : {2, 3})
            EXPECT_EQ(on_gpu_ranks(ranks, compute), one) << of.stencil.name() << " on " << ranks << " ranks";
    }
}

TEST_F(RanksOnDevice, SumsOverColumnsHaveTheBitsOfOneRank) {
    for (const int columns : {1, 3, 7, 20, 40, 70})
        for (const Grid& grid : {Grid{17, 9, 13}, Grid{64, 33, 7}}) {
            const auto compute = [&](const Context& context) {
                const Layout layout = hyperplane::part_of(context, Layout(LayoutKind::natural, grid, {}), 1);
                std::vector<Vector> v;
                std::vector<const Vector*> all;
                for (int m = 0; m < columns; ++m) v.push_back(part_of_random(context, layout, 2, 10 + m));
                for (const Vector& one : v) all.push_back(&one);
                Vector w = part_of_random(context, layout, 2, 5);
                Scalars scalars(context, "scalars", 2 * columns + 1);
                double* const h = scalars.data();
                run_and_replay(context, 3, [&] {
                    dots(all, w, h);
                    add_combination(-1e-3, h, all, w, h + 2 * columns);
                    add_combination_dots(1e-4, h, all, w, h + columns);
                });
                std::vector<double> values = to_natural(w);
                const std::vector<double> sums = scalars.get(0, scalars.size());
                values.insert(values.end(), sums.begin(), sums.end());
                return values;
            };
            const std::vector<double> one = on_gpu_ranks(1, compute);
            for (const int ranks : {2, 3})
                EXPECT_EQ(on_gpu_ranks(ranks, compute), one) << columns << " columns on " << ranks << " ranks";
        }
}

/// Parts of different sizes, one of which may be empty, in several arrays; again and again, with other values.
TEST_F(RanksOnDevice, EveryRankGetsThePartsOfAll) {
    constexpr int arrays = 3, turns = 4;
    for (const std::vector<Index>& begins : {std::vector<Index>{0, 700, 40000}, {0, 5, 5, 12}, {0, 257, 900, 1025}})
        on_each_gpu_rank(int(begins.size()) - 1, [&](const Context& context) {
            const int rank = context.ranks()->rank();
            const Index slots = begins.back(), distance = slots + 7;
            const auto value = [&](int turn, int array, Index slot) { return turn * 1e7 + array * 1e5 + double(slot); };
            Buffer<double> values(context, "values", arrays * distance);
            const auto set_own = [&](int turn) {
                std::vector<double> all(std::size_t(arrays * distance), -1.0);
                for (int array = 0; array < arrays; ++array)
                    for (Index slot = begins[rank]; slot < begins[rank + 1]; ++slot)
                        all[array * distance + slot] = value(turn, array, slot);
                context.stream().copy(all.data(), values.data(), values.size() * Index(sizeof(double)));
            };
            const auto expect_all = [&](int turn) {
                std::vector<double> all(std::size_t(values.size()));
                context.stream().copy(values.data(), all.data(), values.size() * Index(sizeof(double)));
                Index wrong = 0;
                for (int array = 0; array < arrays; ++array) {
                    for (Index slot = 0; slot < slots; ++slot)
                        wrong += all[array * distance + slot] != value(turn, array, slot);
                    for (Index at = array * distance + slots; at < (array + 1) * distance; ++at)
                        wrong += all[at] != -1.0;
                }
                EXPECT_EQ(wrong, 0) << "turn " << turn << " on rank " << rank;
            };
            const auto gather = [&] { gather_slots(context, begins, arrays, values.data(), distance); };
            set_own(0);
            gather();
            expect_all(0);
            const Replay recording(context, gather);
            for (int turn = 1; turn < turns; ++turn) {
                set_own(turn);
                synchronise_ranks(context, true);  // nobody overwrites what another rank is about to send
                recording.queue();
                context.synchronize();
                expect_all(turn);
                synchronise_ranks(context, true);
            }
        });
}

TEST_F(RanksOnDevice, TheSmallestPointIsThatOfAllRanks) {
    const Grid grid{9, 5, 7};
    const auto compute = [&](const Context& context) {
        PointValues values(context, grid, "values");
        const Layout layout = hyperplane::part_of(context, Layout(LayoutKind::natural, grid, {}), 0);
        std::vector<double> mine;
        for (Index slot = 0; slot < layout.slots(); ++slot)
            mine.push_back(double((layout.point(slot).x * 7 + layout.point(slot).z * 3) % 11));
        context.stream().copy(mine.data(), values.view(layout).values, Index(mine.size() * sizeof(double)));
        const PointValue least = values.smallest(layout);
        return std::vector<double>{least.value, double(grid.row(least.point)), values.sum()};
    };
    const std::vector<double> one = on_gpu_ranks(1, compute);
    for (const int ranks : {2, 3}) EXPECT_EQ(on_gpu_ranks(ranks, compute), one);
}

/// On GPUs of their own, the second rank is late when it reads what the first one has released.
TEST_F(RanksOnDevice, MemoryIsReleasedAfterOtherRanksHaveReadIt) {
    const Layout layout(LayoutKind::natural, Grid{256, 256, 17}, Stencil::star7().level_map());
    const StructMatrix whole =
        testing_support::random_struct_matrix(layout, Stencil::star7(), 1, MatrixStorage::full, 3);
    const auto compute = [&](const Context& context) {
        const Layout mine = hyperplane::part_of(context, layout, 1);
        const StructMatrix a = part_of(context, whole, mine);
        Vector y(context, mine, 1, "y"), other(context, mine, 1, "other");
        set_zero(other);
        for (int repeat = 0; repeat < 3; ++repeat) {
            const Vector x = part_of_random(context, mine, 1, 1);
            for (int pass = 0; pass < 300 && !is_first_rank(context); ++pass) scale(2.0, other);
            a.apply(x, y);
        }
        return to_natural(y);
    };
    EXPECT_EQ(on_gpu_ranks(2, compute), on_gpu_ranks(1, compute));
}

TEST_F(RanksOnDevice, AnErrorOnOneRankEndsAll) {
    EXPECT_THROW(
        on_each_gpu_rank(
            2,
            [&](const Context& context) {
                const Layout layout = hyperplane::part_of(context, Layout(LayoutKind::natural, Grid{9, 5, 7}, {}), 1);
                const Vector x = part_of_random(context, layout, 1, 1);
                if (!is_first_rank(context)) throw OutOfMemory("none left");
                norm2(x);
            }),
        OutOfMemory);
}

}  // namespace
}  // namespace hyperplane
