// SPDX-License-Identifier: BSD-3-Clause
// The symbolic part that a plan keeps: the first set-up takes it over, later set-ups of the same pattern repeat nothing
// of it, and nobody takes one of another matrix.
#include "precond/sync_free_ilu/symbolic.hpp"

#include "core/graph/orderings.hpp"
#include "precond/general_cases.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;

/// Fill, so that the symbolic part has a pattern of its own.
const GeneralCase filled_case{"random", 80, 2, 1}, another_case{"arrow", 80, 2, 1};
const Settings with_fill{{"fill_level", "1"}};

PreconditionerPlan plan_of(const BsrMatrix& a, const std::string& name = "sync_free_ilu",
                           const Settings& settings = with_fill) {
    return find_preconditioner(name).plan(parameters_of(name, settings), setting_of(a));
}
const KeptSymbolic& kept_by(const PreconditionerPlan& plan) {
    return dynamic_cast<const KeptSymbolic&>(*plan.kept);
}
const BlockPattern* pattern_of_factors(const Preconditioner& m) {
    return &dynamic_cast<const SyncFreeIlu&>(m).factors().pattern();
}
void expect_equals_reference(const Preconditioner& m, const BsrMatrix& a, const BlockMatrix& data,
                             const GeneralCase& c) {
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    EXPECT_LT(
        reference::relative_difference(apply_general(m, a, r), reference::apply_inverse(reference_of(data, c), r)),
        1e-12);
}
void scale(BlockMatrix& data, BsrMatrix& a, double factor) {
    for (auto& row : data.rows)
        for (auto& [column, block] : row)
            for (double& value : block.values) value *= factor;
    for (Index at = 0; at < a.nonzeros(); ++at) a.values()[at] *= factor;
}

TEST(KeptSymbolic, IsTakenOverByTheFirstSetupAndKeptForNewValues) {
    const Context context = Context::cpu(1);
    BlockMatrix data = data_of(filled_case);
    BsrMatrix a = reference::to_bsr_matrix(context, data);
    const PreconditionerPlan plan = plan_of(a);
    const BlockPattern* const planned = kept_by(plan).symbolic->filled.pattern.get();
    const auto m = make_general("sync_free_ilu", a, with_fill);
    const double planned_seconds = kept_by(plan).symbolic->planned_seconds;
    EXPECT_GT(planned_seconds, 0.0);
    const SetupReport first = m->setup(a);
    EXPECT_EQ(first.planned_seconds, planned_seconds);
    EXPECT_GT(first.symbolic_seconds, planned_seconds);
    EXPECT_EQ(pattern_of_factors(*m), planned);
    EXPECT_FALSE(kept_by(plan).symbolic.has_value());
    EXPECT_EQ(plan.kept->bytes(), 0);
    expect_equals_reference(*m, a, data, filled_case);

    scale(data, a, 1.5);
    const SetupReport again = m->setup(a);
    EXPECT_EQ(again.symbolic_seconds, 0.0);
    EXPECT_EQ(again.planned_seconds, 0.0);
    EXPECT_EQ(pattern_of_factors(*m), planned);
    expect_equals_reference(*m, a, data, filled_case);
}

TEST(KeptSymbolic, IsMadeAnewForAnotherPattern) {
    const Context context = Context::cpu(1);
    const BlockMatrix data = data_of(filled_case), other_data = data_of(another_case);
    const BsrMatrix a = reference::to_bsr_matrix(context, data), other = reference::to_bsr_matrix(context, other_data);
    const PreconditionerPlan plan = plan_of(a);
    const BlockPattern* const planned = kept_by(plan).symbolic->filled.pattern.get();
    const auto m = make_general("sync_free_ilu", other, with_fill);
    m->setup(other);
    EXPECT_NE(pattern_of_factors(*m), planned);
    expect_equals_reference(*m, other, other_data, another_case);
    EXPECT_TRUE(kept_by(plan).symbolic.has_value()) << "it waits for the matrix that it was planned for";
    // The same object turns to the planned matrix, and back.
    m->setup(a);
    EXPECT_EQ(pattern_of_factors(*m), planned);
    expect_equals_reference(*m, a, data, filled_case);
    m->setup(other);
    expect_equals_reference(*m, other, other_data, another_case);
}

/// Each of the properties that the symbolic part depends on is compared.
TEST(KeptSymbolic, IsMadeAnewForOtherOptions) {
    const Context context = Context::cpu(1);
    const BlockMatrix data = data_of({"symmetric", 60, 1, 0, true});
    const BsrMatrix a = reference::to_bsr_matrix(context, data, true);
    const SymbolicKey key{a.pattern(), 1, 1, PartOptions{16, true}, true};
    const auto kept = kept_symbolic(context, key, "test");
    EXPECT_EQ(kept_symbolic(context, key, "test"), kept) << "two plans share one";
    std::vector<SymbolicKey> others(6, key);
    others[0].dof = 3;
    others[1].fill_level = 0;
    others[2].parts.reset();
    others[3].parts->most_rows = 8;
    others[4].parts->consecutive = false;
    others[5].symmetric = false;
    for (const SymbolicKey& other : others) {
        if (!metis_built() && other.parts && !other.parts->consecutive) continue;
        EXPECT_NE(kept_symbolic(context, other, "test"), kept);
    }
    const BsrMatrix same_entries = reference::to_bsr_matrix(context, data, true);
    SymbolicKey of_another = key;
    of_another.pattern = same_entries.pattern();
    EXPECT_NE(kept_symbolic(context, of_another, "test"), kept) << "entries are not compared";
}

TEST(KeptSymbolic, IsSharedByPlansUntilASetupTakesIt) {
    const Context context = Context::cpu(1);
    const BlockMatrix data = data_of(filled_case);
    const BsrMatrix a = reference::to_bsr_matrix(context, data);
    const PreconditionerPlan plan = plan_of(a), second = plan_of(a);
    EXPECT_EQ(plan.kept, second.kept);
    EXPECT_EQ(plan.bytes, second.bytes);
    const auto m = make_general("sync_free_ilu", a, with_fill), n = make_general("sync_free_ilu", a, with_fill);
    m->setup(a);
    n->setup(a);
    EXPECT_NE(pattern_of_factors(*m), pattern_of_factors(*n));
    expect_equals_reference(*m, a, data, filled_case);
    expect_equals_reference(*n, a, data, filled_case);
    EXPECT_NE(plan_of(a).kept, plan.kept) << "a plan after the set-up makes one again";
}

/// Nothing refers to a matrix that is gone, and nobody takes what was planned for it, also where the next pattern lies
/// at the same address.
TEST(KeptSymbolic, OutlivesItsMatrixAndServesNoOther) {
    const Context context = Context::cpu(1);
    for (const int fill_level : {0, 1}) {
        SCOPED_TRACE(fill_level);
        const Settings settings{{"fill_level", std::to_string(fill_level)}};
        auto a = std::make_unique<BsrMatrix>(reference::to_bsr_matrix(context, data_of(filled_case)));
        const std::weak_ptr<const BlockPattern> pattern = a->pattern();
        PreconditionerPlan plan = plan_of(*a, "sync_free_ilu", settings);
        const auto m = make_general("sync_free_ilu", *a, settings);
        a.reset();
        // Without fill the pattern of the factors is the matrix's, which is kept then; with fill it is gone.
        EXPECT_EQ(pattern.expired(), fill_level == 1);
        EXPECT_EQ(kept_by(plan).symbolic->filled.pattern->rows(), filled_case.rows);
        GeneralCase c = another_case;
        c.fill_level = fill_level;
        for (int repeat = 0; repeat < 20; ++repeat) {
            const BlockMatrix data = data_of(c);
            const BsrMatrix next = reference::to_bsr_matrix(context, data);
            m->setup(next);
            expect_equals_reference(*m, next, data, c);
        }
        EXPECT_TRUE(kept_by(plan).symbolic.has_value());
        plan = {};
        EXPECT_TRUE(pattern.expired());
        const BlockMatrix data = data_of(c);
        const BsrMatrix next = reference::to_bsr_matrix(context, data);
        EXPECT_NO_THROW(plan_of(next, "sync_free_ilu", settings));
    }
    EXPECT_EQ(context.ledger().held(), 0) << "plans, matrices and set-ups are gone";
}

}  // namespace
}  // namespace hyperplane
