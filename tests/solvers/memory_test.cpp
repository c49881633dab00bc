// SPDX-License-Identifier: BSD-3-Clause
// Solvers hold as many work vectors as they say and release them when an allocation fails, and their results do not
// depend on the number of threads.
#include "core/error.hpp"
#include "several_threads.hpp"
#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

class Memory : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Solvers, Memory, ::testing::ValuesIn(testing_support::solver_names()), solver_name);

TEST_P(Memory, HoldsAsManyVectorsAsItSays) {
    for (const char* every : {"0", "3"}) {
        const Context context = Context::cpu();
        {
            const auto solver = make_solver(GetParam(), {{"restart", "12"}, {"true_residual_every", every}}, context);
            EXPECT_EQ(context.ledger().held(), 0) << "nothing before the first solve";
            for (int repeat = 0; repeat < 2; ++repeat) {
                solve(*solver, diagonal(std::vector<double>(100, 2.0)), identity(), vector_of(random_values(100, 1)));
                EXPECT_EQ(context.ledger().held(), solver->work_vectors() * 100 * Index(sizeof(double)));
                const Index scalars = solver->work_scalars() * Index(sizeof(double));
                const Index held = context.ledger().peak() - context.ledger().held();
                EXPECT_LE(held, scalars);
                EXPECT_LE(scalars, 1024) << "a few scalars";
                EXPECT_GE(held, scalars * 3 / 4) << "of y gmres holds as much as a cycle had steps";
            }
        }
        EXPECT_EQ(context.ledger().held(), 0);
    }
}

TEST(WorkVectors, AreFew) {
    EXPECT_EQ(make_solver("cg")->work_vectors(), 3);
    EXPECT_EQ(make_solver("richardson")->work_vectors(), 3);
    EXPECT_EQ(make_solver("bicgstab")->work_vectors(), 6);
    EXPECT_EQ(make_solver("gmres", {{"restart", "30"}})->work_vectors(), 32);
    EXPECT_EQ(make_solver("fgmres", {{"restart", "30"}})->work_vectors(), 61);
    EXPECT_EQ(make_solver("gmres", {{"restart", "2000"}, {"max_iterations", "10"}})->work_vectors(), 12)
        << "a cycle cannot be longer than the solve";
}

TEST_P(Memory, FailedAllocationGivesEverythingBack) {
    const Context context = Context::cpu();
    const auto solver = make_solver(GetParam(), {{"restart", "5"}}, context);
    const auto b = vector_of(random_values(100, 2));
    for (Index failing = 1; failing <= solver->work_vectors(); ++failing) {
        Index calls = 0;
        context.set_allocation_gate([&](const std::string&, Index) { return ++calls != failing; });
        EXPECT_THROW(solve(*solver, identity(), identity(), b), OutOfMemory) << failing;
        EXPECT_EQ(context.ledger().held(), 0) << failing;
    }
    context.set_allocation_gate({});
    EXPECT_EQ(solve(*solver, identity(), identity(), b).reason(), StopReason::converged_rtol) << "and works again";
}

TEST_P(Memory, SameBitsForAnyNumberOfThreads) {
    std::vector<Outcome> outcomes;
    for (int threads : {1, 2, 3}) {
        const Context context = Context::cpu();
        const SeveralThreads several(context, threads);
        const auto a = cube_laplacian(17, context);
        Vector b(context, a.layout(), 1, "test");
        const auto values = random_values(int(b.size()), 3);
        std::copy(values.begin(), values.end(), b.data());
        const auto m = diagonal(std::vector<double>(b.size(), 1.0 / 6.0));
        outcomes.push_back(
            solve(*make_solver(GetParam(), {{"max_iterations", "9"}, {"restart", "6"}}, context), a, m, b));
    }
    for (const Outcome& outcome : outcomes) {
        EXPECT_EQ(outcome.x, outcomes[0].x);
        ASSERT_EQ(outcome.history.size(), outcomes[0].history.size());
        for (std::size_t at = 0; at < outcome.history.size(); ++at)
            EXPECT_EQ(outcome.history[at].recurrence, outcomes[0].history[at].recurrence);
    }
}

}  // namespace
}  // namespace hyperplane::test
