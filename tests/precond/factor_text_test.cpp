// SPDX-License-Identifier: BSD-3-Clause
// The kernels that factor a general matrix in blocks, their text compiled for the host (emulated_threads.hpp).
#include <bit>
#include <numeric>

#include "precond/emulated_waiting.cuh"
#include "precond/factors/gauss_jordan.hpp"
#include "precond/general/factors/arguments.hpp"
#include "precond/general/orders/levels.hpp"
#include "precond/general/orders/slices.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/general_cases.hpp"
#include "precond/sync_free_ilu/block_arguments.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

// NOLINTBEGIN(clang-diagnostic-reserved-*): CUDA's name
#define __popc(bits) __builtin_popcount(bits)
#define BY_ROW 1
#define DOF 3
#define LANES 32
#define WARPS 2
#define BATCH 1
// NOLINTEND(clang-diagnostic-reserved-*)
namespace factor_names {
using emulated::wait_for, emulated::publish;
using ::hyperplane::GeneralFactorArguments, ::hyperplane::PivotJudge, ::hyperplane::PivotRatio,
    ::hyperplane::largest_of_row, ::hyperplane::eliminated, ::hyperplane::scaled_by_pivot;
using search_text::hyperplane::find;
using waiting_text::hyperplane::take_ticket, waiting_text::hyperplane::end_part, waiting_text::hyperplane::u64;
}  // namespace factor_names
namespace general_text {
namespace hyperplane {
using namespace factor_names;
}
#define SYMMETRIC 0
#include "precond/general/factors/search_factor.cuh"
#undef HYPERPLANE_ELIMINATED_ROW
#undef SYMMETRIC
}  // namespace general_text
namespace symmetric_text {
namespace hyperplane {
using namespace factor_names;
}
#define SYMMETRIC 1
#define general_factor symmetric_factor  // its name has no namespace
#include "precond/general/factors/search_factor.cuh"
#undef general_factor
#undef SYMMETRIC
}  // namespace symmetric_text

#define MOST 15
/// What the text of block factors names, for both of its namespaces.
namespace block_names {
using emulated::look_at, emulated::await, emulated::finish;
using ::hyperplane::BlockFactorArguments, ::hyperplane::PivotJudge, ::hyperplane::PivotRatio,
    ::hyperplane::largest_of_row, ::hyperplane::SolveSlice, ::hyperplane::eliminated, ::hyperplane::scaled_by_pivot,
    ::hyperplane::unfinished;
using polled_text::hyperplane::__longlong_as_double;  // NOLINT(clang-diagnostic-reserved-*): CUDA's name
using polled_text::hyperplane::is_finished, polled_text::hyperplane::write_smallest;
}  // namespace block_names
namespace general_blocks_text {
namespace hyperplane {
using namespace block_names;
}
#define SYMMETRIC 0
#include "precond/sync_free_ilu/block_factor.cuh"
#undef SYMMETRIC
}  // namespace general_blocks_text
namespace symmetric_blocks_text {
namespace hyperplane {
using namespace block_names;
}
#define SYMMETRIC 1
#define block_factor symmetric_block_factor  // its name has no namespace
#include "precond/sync_free_ilu/block_factor.cuh"
#undef block_factor
#undef SYMMETRIC
}  // namespace symmetric_blocks_text

namespace hyperplane {
namespace {

using namespace testing_support;

/// The values of the factors that the kernel finds.
std::vector<double> factored(const BsrMatrix& a, const FilledPattern& filled, double shift,
                             const PivotRules& rules = {}, unsigned long long boosts = 0) {
    const Index rows = filled.pattern->rows(), of_block = general_text::hyperplane::rows_of_block;
    std::vector<int> order(static_cast<std::size_t>(rows)),
        parts(static_cast<std::size_t>((rows + of_block - 1) / of_block));
    std::iota(order.begin(), order.end(), 0);
    std::iota(parts.begin(), parts.end(), 0);
    HostFactorisation made(a, filled, Index(parts.size()));
    GeneralFactorArguments arguments = made.arguments(order.data(), shift);
    arguments.rule = rule_of(rules, a.symmetric());
    emulated::launch(parts, general_text::hyperplane::threads, [&] {
        a.symmetric() ? symmetric_text::hyperplane::symmetric_factor(arguments)
                      : general_text::hyperplane::general_factor(arguments);
    });
    EXPECT_EQ(made.log.failures, 0U);
    EXPECT_EQ(made.log.boosts, boosts);
    EXPECT_EQ(made.state.epoch, 2U);  // the last thread block makes the state ready for the next launch
    return made.values;
}

/// The same by the kernel for short rows whose values are polled themselves.
std::vector<double> factored_by_polling(const BsrMatrix& a, const FilledPattern& filled, double shift,
                                        const PivotRules& rules = {}, unsigned long long boosts = 0) {
    const bool same = filled.place.size() == 0;
    const double unknown = std::bit_cast<double>(unfinished);
    std::vector<double> values(std::size_t(filled.pattern->blocks() * a.dof() * a.dof()), unknown);
    std::vector<Index> a_diagonal;
    for (Index row = 0; row < filled.pattern->rows(); ++row) a_diagonal.push_back(a.pattern()->find(row, int(row)));
    const Context host = Context::cpu(1);
    const BothLevels levels = levels_of_both(host, *filled.pattern, "test");
    const SlicedOrder order = sliced_order(host, filled, levels.of(Side::lower), Side::lower, a.dof(), "test");
    std::vector<PivotRatio> ratios(1);
    PivotLog log = empty_pivot_log();
    const BlockFactorArguments arguments{.slices = order.slices.data(),
                                         .order = order.row.data(),
                                         .row_begin = as_pointers(filled.pattern->row_begin()),
                                         .column = filled.pattern->column(),
                                         .diagonal = as_pointers(filled.diagonal.data()),
                                         .values = values.data(),
                                         .a_row_begin = as_pointers(a.pattern()->row_begin()),
                                         .a_values = a.values(),
                                         .place = same ? nullptr : filled.place.data(),
                                         .a_diagonal = same ? nullptr : as_pointers(a_diagonal.data()),
                                         .ratios = ratios.data(),
                                         .rule = rule_of(rules, a.symmetric()),
                                         .log = &log,
                                         .shift = shift,
                                         .count = unsigned(order.slices.size())};
    emulated::launch({0}, general_blocks_text::hyperplane::threads, [&] {
        a.symmetric() ? symmetric_blocks_text::hyperplane::symmetric_block_factor(arguments)
                      : general_blocks_text::hyperplane::block_factor(arguments);
    });
    EXPECT_EQ(log.failures, 0U);
    EXPECT_EQ(log.boosts, boosts);
    return values;
}

/// The pivots of zero blocks have their scale from A's row.
TEST(FactorText, BoostsZeroBlocksAsTheHostDoes) {
    const Context host = Context::cpu(1);
    for (const bool symmetric : {false, true}) {
        reference::BlockMatrix data = data_of({"symmetric", 13, 3, 0, symmetric});
        data.rows[0][0] = reference::Dense(3, 3);
        data.rows[0][7] = data.rows[7][0] = reference::identity(3);
        const BsrMatrix a = reference::to_bsr_matrix(host, data, symmetric);
        SyncFreeOptions options;
        options.pivots.rules.policy = PivotPolicy::boost;
        options.pivots.rules.boost = 0.5;
        SyncFreeIlu expected(host, options);
        EXPECT_EQ(expected.setup(a).pivots_modified, 3);
        const GeneralFactors& factors = expected.factors();
        PivotRules rules = options.pivots.rules;
        rules.by_row = true;
        const std::vector<double> found = factored(a, factors.filled, 0.0, rules, 3);
        EXPECT_EQ(found, std::vector<double>(factors.values.begin(), factors.values.end()));
        EXPECT_EQ(factored_by_polling(a, factors.filled, 0.0, rules, 3), found);
    }
}

/// Rows of few blocks, which are kept in shared memory, and long rows.
TEST(FactorText, HasTheFactorsOfTheHost) {
    const Context host = Context::cpu(1);
    int with_short_rows = 0;
    for (const auto& [name, rows, fill_level, symmetric] : {std::tuple("random", 40, 0, false),
                                                            {"random", 40, 2, false},
                                                            {"dense", 20, 0, false},
                                                            {"dense_row", 60, 0, false},
                                                            {"symmetric", 40, 0, true},
                                                            {"symmetric", 40, 1, true},
                                                            {"symmetric", 12, 1, true},
                                                            {"random", 13, 1, false},
                                                            {"dense", 15, 0, false},
                                                            {"dense", 1, 0, false}}) {
        SCOPED_TRACE(std::string(name) + " " + std::to_string(rows) + " " + std::to_string(fill_level));
        const GeneralCase c{name, rows, 3, fill_level, symmetric};
        const BsrMatrix a = reference::to_bsr_matrix(host, data_of(c), symmetric);
        SyncFreeOptions options;
        options.fill_level = fill_level;
        options.pivots.shift = 0.25;
        SyncFreeIlu expected(host, options);
        expected.setup(a);
        const GeneralFactors& factors = expected.factors();
        const std::vector<double> found = factored(a, factors.filled, 0.25);
        EXPECT_EQ(found, std::vector<double>(factors.values.begin(), factors.values.end()));
        Index most = 0;
        for (Index row = 0; row < rows; ++row) most = std::max(most, entries_of(factors.filled, row).all());
        if (most > 15) continue;
        ++with_short_rows;
        EXPECT_EQ(factored_by_polling(a, factors.filled, 0.25), found);
    }
    EXPECT_EQ(with_short_rows, 6);
}

}  // namespace
}  // namespace hyperplane
