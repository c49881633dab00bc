// SPDX-License-Identifier: BSD-3-Clause
// The published variants of sync_free_ilu (precond/reproductions/sync_free_rows.cuh), their text compiled for the host
// (emulated_threads.hpp): the factors are those of the host.
#include "precond/emulated_waiting.cuh"
#include "precond/factors/gauss_jordan.hpp"
#include "precond/general/orders/levels.hpp"
#include "precond/general_cases.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace published_names {
using emulated::wait_for, emulated::publish;
using ::hyperplane::GeneralFactorArguments, ::hyperplane::PivotJudge, ::hyperplane::PivotRatio,
    ::hyperplane::largest_of_row, ::hyperplane::eliminated, ::hyperplane::scaled_by_pivot;
using polled_text::hyperplane::write_smallest, search_text::hyperplane::find;
using waiting_text::hyperplane::take_ticket, waiting_text::hyperplane::end_part, waiting_text::hyperplane::u64;
}  // namespace published_names

// NOLINTBEGIN(clang-diagnostic-reserved-*): names that the text asks for
#define BY_ROW 1
#define DOF 1
#define WARPS 1
// A kernel's name has no namespace.
#define LANES 32
#define SEARCHES 0
#define SYMMETRIC 0
#define sync_free_rows shared_rows
namespace published_shared {
namespace hyperplane {
using namespace published_names;
}
#include "precond/reproductions/sync_free_rows.cuh"
#undef HYPERPLANE_ELIMINATED_ROW
}  // namespace published_shared
#undef sync_free_rows
#undef SEARCHES
#define SEARCHES 1
#define sync_free_rows vect_rows
namespace published_vect {
namespace hyperplane {
using namespace published_names;
}
#include "precond/reproductions/sync_free_rows.cuh"
#undef HYPERPLANE_ELIMINATED_ROW
}  // namespace published_vect
#undef sync_free_rows
#undef LANES
#define LANES 4
#define sync_free_rows adapt_rows
namespace published_adapt {
namespace hyperplane {
using namespace published_names;
}
#include "precond/reproductions/sync_free_rows.cuh"
#undef HYPERPLANE_ELIMINATED_ROW
}  // namespace published_adapt
#undef sync_free_rows
#undef SYMMETRIC
#define SYMMETRIC 1
#define sync_free_rows symmetric_adapt_rows
namespace published_symmetric_adapt {
namespace hyperplane {
using namespace published_names;
}
#include "precond/reproductions/sync_free_rows.cuh"
#undef HYPERPLANE_ELIMINATED_ROW
}  // namespace published_symmetric_adapt
#undef sync_free_rows
#undef LANES
#define LANES 32
#define sync_free_rows symmetric_vect_rows
namespace published_symmetric_vect {
namespace hyperplane {
using namespace published_names;
}
#include "precond/reproductions/sync_free_rows.cuh"
#undef HYPERPLANE_ELIMINATED_ROW
}  // namespace published_symmetric_vect
#undef sync_free_rows
// NOLINTEND(clang-diagnostic-reserved-*)

namespace hyperplane {
namespace {

using namespace testing_support;

void run(FactorVariant variant, const GeneralFactorArguments& arguments) {
    const bool symmetric = arguments.rule.definite != 0, adapt = variant == FactorVariant::adapt;
    if (adapt && symmetric) return published_symmetric_adapt::hyperplane::symmetric_adapt_rows(arguments);
    if (symmetric) return published_symmetric_vect::hyperplane::symmetric_vect_rows(arguments);
    if (adapt) return published_adapt::hyperplane::adapt_rows(arguments);
    if (variant == FactorVariant::shared) return published_shared::hyperplane::shared_rows(arguments);
    published_vect::hyperplane::vect_rows(arguments);
}

/// What a variant finds and logs, with rows in natural order or by level.
HostFactorisation factored(FactorVariant variant, const BsrMatrix& a, const FilledPattern& filled, double shift,
                           int launches = 1) {
    const Index of_block = variant == FactorVariant::adapt ? published_adapt::hyperplane::rows_of_block
                                                           : published_shared::hyperplane::rows_of_block;
    const BothLevels levels = levels_of_both(Context::cpu(1), *filled.pattern, "test");
    HostFactorisation made(a, filled, (filled.pattern->rows() + of_block - 1) / of_block);
    const GeneralFactorArguments arguments =
        made.arguments(variant == FactorVariant::levs ? levels.lower.rows.data() : nullptr, shift);
    for (int launch = 0; launch < launches; ++launch) {
        made.log = empty_pivot_log();
        emulated::launch({0}, published_shared::hyperplane::threads, [&] { run(variant, arguments); });
    }
    EXPECT_EQ(made.state.epoch, 1U + unsigned(launches));  // the state is ready for the next launch
    EXPECT_EQ(made.state.ticket, 0U);
    return made;
}

/// Short rows, rows of more than 32 entries and pairs of rows of more than 128, which vect searches.
TEST(PublishedIluText, HasTheFactorsOfTheHost) {
    using enum FactorVariant;
    const Context host = Context::cpu(1);
    bool searched = false;
    for (const auto& [name, rows, fill_level, symmetric] : {std::tuple("random", 45, 0, false),
                                                            {"random", 25, 2, false},
                                                            {"dense_row", 45, 0, false},
                                                            {"arrow", 131, 0, false},
                                                            {"empty_rows", 20, 1, false},
                                                            {"symmetric", 25, 1, true},
                                                            {"arrow", 131, 0, true},
                                                            {"dense", 1, 0, false}}) {
        SCOPED_TRACE(std::string(name) + " " + std::to_string(rows) + " " + std::to_string(fill_level));
        const GeneralCase c{name, rows, 1, fill_level, symmetric};
        const BsrMatrix a = reference::to_bsr_matrix(host, data_of(c), symmetric);
        SyncFreeOptions options;
        options.fill_level = fill_level;
        options.pivots.shift = 0.25;
        SyncFreeIlu expected(host, options);
        const SetupReport report = expected.setup(a);
        const GeneralFactors& factors = expected.factors();
        double largest = 0.0;
        for (Index at = 0; at < factors.values.size(); ++at) largest = std::max(largest, std::abs(factors.values[at]));
        EXPECT_GT(largest, 0.0);
        std::vector<double> first;
        for (const FactorVariant variant : {shared, vect, adapt, levs}) {
            const HostFactorisation made = factored(variant, a, factors.filled, 0.25);
            const std::vector<double>& found = made.values;
            EXPECT_EQ(made.log.failures, 0U);
            EXPECT_NEAR(made.ratios[0].value, report.smallest_pivot_ratio, 1e-12);
            for (std::size_t at = 0; at < found.size(); ++at)
                ASSERT_NEAR(found[at], factors.values[Index(at)], 1e-13 * largest) << at;
            if (first.empty()) first = found;
            EXPECT_EQ(found, first) << int(variant);
        }
        searched = searched || row_counts(factors.filled, symmetric).most > 128;
    }
    EXPECT_TRUE(searched);
}

/// A pivot of zero is logged with its row, and later rows are finished all the same.
TEST(PublishedIluText, LogsPivotsThatCannotBeUsed) {
    const Context host = Context::cpu(1);
    reference::BlockMatrix data = data_of({"empty_rows", 12, 1, 0});
    data.rows[4].clear();
    data.rows[4][4] = reference::Dense(1, 1);
    const BsrMatrix a = reference::to_bsr_matrix(host, data);
    const FilledPattern filled = filled_pattern(host, a.pattern(), 0, "test");
    for (const FactorVariant variant :
         {FactorVariant::shared, FactorVariant::vect, FactorVariant::adapt, FactorVariant::levs}) {
        const HostFactorisation made = factored(variant, a, filled, 0.0, 2);
        EXPECT_EQ(made.log.failures, 1U);
        EXPECT_EQ(made.log.failed[0], 4U);
        const std::vector<double>& found = made.values;
        EXPECT_EQ(found[std::size_t(filled.diagonal[4])], 0.0);
        for (Index row = 5; row < 12; ++row) EXPECT_NE(found[std::size_t(filled.diagonal[row])], 0.0) << row;
    }
}

}  // namespace
}  // namespace hyperplane
