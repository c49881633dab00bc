// SPDX-License-Identifier: BSD-3-Clause
// Pipelined conjugate gradients: the iterates of cg, and its accuracy, because the estimate of drift sees in time how
// far rounding has carried the vectors apart.
#include <algorithm>

#include "core/vector/pipelined_step.hpp"
#include "solvers/drift.hpp"
#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

Vector on_cube(const StructMatrix& a, unsigned seed) {
    Vector b(a.context(), a.layout(), 1, "test");
    const auto values = random_values(int(b.size()), seed);
    std::copy(values.begin(), values.end(), b.data());
    return b;
}

/// Eigenvalues from 1 to `condition`, evenly spread on a logarithmic scale.
std::vector<double> spread(int n, double condition) {
    std::vector<double> values(n);
    for (int i = 0; i < n; ++i) values[i] = std::pow(condition, double(i) / (n - 1));
    return values;
}

/// The inverse diagonal of a Laplacian, each entry off by up to 30 %.
FunctionOperator rough_jacobi(int n) {
    std::vector<double> values = random_values(n, 1);
    for (double& value : values) value = (1.0 + 0.3 * value) / 6.0;
    return diagonal(values);
}

/// Products of A are counted.
FunctionOperator counted(const LinearOperator& a, int& products) {
    return FunctionOperator([&a, &products](const Vector& x, Vector& y) {
        ++products;
        a.apply(x, y);
    });
}

TEST(PipelinedCg, FirstStepByHand) {
    const auto outcome =
        solve(*make_solver("pipelined_cg", {{"max_iterations", "1"}}), diagonal({1, 2}), identity(), vector_of({1, 1}));
    EXPECT_EQ(outcome.reason(), StopReason::max_iterations);
    EXPECT_DOUBLE_EQ(outcome.x[0], 2.0 / 3.0);  // alpha = 2/3
    EXPECT_DOUBLE_EQ(outcome.x[1], 2.0 / 3.0);
    EXPECT_NEAR(outcome.report.true_residual, std::sqrt(2.0) / 3.0, 1e-15);
}

TEST(PipelinedCg, EndsAfterAsManyStepsAsThereAreEigenvalues) {
    for (int k = 1; k <= 7; ++k) {
        std::vector<double> values(40);
        for (int i = 0; i < 40; ++i) values[i] = 1.0 + 3.0 * (i % k);
        const auto outcome = solve(*make_solver("pipelined_cg", {{"rtol", "1e-10"}}), diagonal(values), identity(),
                                   vector_of(random_values(40, 12)));
        EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
        EXPECT_EQ(outcome.report.iterations, k);
    }
}

TEST(PipelinedCg, HasTheResidualsOfCg) {
    const auto a = cube_laplacian(9);
    const auto m = rough_jacobi(9 * 9 * 9);
    const auto b = on_cube(a, 2);
    const auto expected = solve(*make_solver("cg"), a, m, b), actual = solve(*make_solver("pipelined_cg"), a, m, b);
    EXPECT_EQ(actual.reason(), StopReason::converged_rtol);
    EXPECT_EQ(actual.report.iterations, expected.report.iterations);
    for (std::size_t at = 0; at < expected.history.size(); ++at)
        EXPECT_NEAR(actual.history[at].recurrence / expected.history[at].recurrence, 1.0, 1e-6) << at;
}

/// A well conditioned system needs one product an iteration, one before the first and one for the truth at the end.
TEST(PipelinedCg, TakesOneProductAnIteration) {
    int products = 0;
    const auto a = diagonal(spread(60, 10.0));
    const auto outcome = solve(*make_solver("pipelined_cg", {{"rtol", "1e-3"}}), counted(a, products), identity(),
                               vector_of(random_values(60, 3)));
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_EQ(products, outcome.report.iterations + 2) << "b - A x at the end, w = A u";
}

/// Close to the limit of rounding: the true residual that cg reaches, in about as many iterations.
TEST(PipelinedCg, IsAsAccurateAsCg) {
    for (const auto& [condition, rtol] : {std::pair(1e4, "1e-12"), std::pair(1e6, "1e-11"), std::pair(1e8, "1e-9")}) {
        SCOPED_TRACE(condition);
        int products = 0;
        const auto a = diagonal(spread(80, condition));
        const auto b = vector_of(random_values(80, 4));
        const Keys keys{{"rtol", rtol}, {"max_iterations", "6000"}};
        const auto expected = solve(*make_solver("cg", keys), a, identity(), b);
        const auto actual = solve(*make_solver("pipelined_cg", keys), counted(a, products), identity(), b);
        EXPECT_EQ(expected.reason(), StopReason::converged_rtol);
        EXPECT_EQ(actual.reason(), StopReason::converged_rtol);
        EXPECT_LE(actual.report.restarts_from_true, expected.report.restarts_from_true + 1);
        EXPECT_LE(double(actual.report.iterations), 1.8 * double(expected.report.iterations));
        EXPECT_GT(products, actual.report.iterations + 2) << "some vectors were made anew";
        EXPECT_LT(products, 1.5 * double(actual.report.iterations)) << "but not often";
    }
}

/// Tolerances that no method meets: what is left is what is left by cg.
TEST(PipelinedCg, EndsWhereCgEnds) {
    const auto a = cube_laplacian(12);
    const auto m = diagonal(std::vector<double>(12 * 12 * 12, 1.0 / 6.0));
    const auto b = on_cube(a, 5);
    const Keys keys{{"rtol", "1e-17"}};
    const auto expected = solve(*make_solver("cg", keys), a, m, b),
               actual = solve(*make_solver("pipelined_cg", keys), a, m, b);
    EXPECT_EQ(actual.reason(), StopReason::false_convergence);
    EXPECT_LT(actual.report.true_residual, 4.0 * expected.report.true_residual);
}

TEST(PipelinedCg, TellsAnIndefiniteOperator) {
    const auto outcome =
        solve(*make_solver("pipelined_cg"), diagonal({1, 2, -3, 4}), identity(), vector_of({1, 1, 1, 1}));
    EXPECT_EQ(outcome.reason(), StopReason::indefinite_operator);
    EXPECT_TRUE(outcome.finite());
    const auto negative = solve(*make_solver("pipelined_cg"), diagonal({-1, -2}), identity(), vector_of({1, 1}));
    EXPECT_EQ(negative.reason(), StopReason::indefinite_operator);
    EXPECT_EQ(negative.report.iterations, 0);
}

TEST(PipelinedCg, TellsAnIndefinitePreconditioner) {
    const auto outcome =
        solve(*make_solver("pipelined_cg"), diagonal({1, 2, 3}), diagonal({1, -2, 1}), vector_of({1, 1, 1}));
    EXPECT_EQ(outcome.reason(), StopReason::indefinite_preconditioner);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_DOUBLE_EQ(outcome.report.true_residual, std::sqrt(3.0));
}

TEST(PipelinedCg, EndsWhenItDiverges) {
    const auto outcome = solve(*make_solver("pipelined_cg", {{"divergence_tolerance", "1.5"}}),
                               diagonal(spread(40, 1e5)), identity(), vector_of(random_values(40, 11)));
    EXPECT_EQ(outcome.reason(), StopReason::diverged) << "the 2-norm of the residual may rise";
}

TEST(PipelinedCg, ASolutionThatOverflowsIsNoticed) {
    const auto outcome = solve(*make_solver("pipelined_cg"), diagonal({1e-160, 2e-160, 3e-160}), identity(),
                               vector_of({1e150, -1e150, 2e150}));
    EXPECT_FALSE(converged(outcome.reason())) << to_string(outcome.reason());
}

/// One product with the wrong sign makes w^T u negative later on, where p^T A p of cg would be at once. That is no
/// proof of an indefinite matrix, since w came from updates: the method begins anew.
TEST(PipelinedCg, BeginsAnewWhereDriftMayBeTheReason) {
    for (int wrong = 3; wrong <= 6; ++wrong) {
        SCOPED_TRACE(wrong);
        const auto sound = diagonal(spread(50, 20.0));
        int calls = 0;
        const FunctionOperator a([&](const Vector& x, Vector& y) {
            sound.apply(x, y);
            if (++calls == wrong) scale(-30.0, y);
        });
        const auto b = vector_of(random_values(50, 6));
        const auto outcome = solve(*make_solver("pipelined_cg"), a, identity(), b);
        EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
        EXPECT_LE(residual_norm(sound, b, outcome.x), 1e-8 * norm2(b) * (1 + 1e-12));
    }
}

TEST(PipelinedCg, HoldsNineVectors) {
    EXPECT_EQ(make_solver("pipelined_cg")->work_vectors(), 9);
}

/// ||y|| in the norm of the estimates, sqrt(y^T M^-1 y).
double norm_of(const LinearOperator& m, const Vector& y) {
    Vector z(Context::cpu(), y.layout(), y.dof(), "test");
    m.apply(y, z);
    return std::sqrt(std::abs(dot(y, z)));
}

/// ||A x - y|| in that norm.
double gap(const LinearOperator& a, const LinearOperator& m, const Vector& x, const Vector& y) {
    Vector product(Context::cpu(), y.layout(), y.dof(), "test");
    a.apply(x, product);
    axpy(-1.0, y, product);
    return norm_of(m, product);
}

/// The method without anything made anew: the estimates lie above the true distances, and not far above.
TEST(DriftOfPipelinedCg, IsEstimatedFromAbove) {
    const auto a = cube_laplacian(9);
    const auto m = rough_jacobi(9 * 9 * 9);
    const auto fresh = [&] { return Vector(a.context(), a.layout(), 1, "test"); };
    const Vector b = on_cube(a, 7);
    Vector x = fresh(), r = fresh(), u = fresh(), w = fresh(), p = fresh(), s = fresh(), q = fresh(), z = fresh(),
           v = fresh(), n = fresh(), truth = fresh();
    copy(b, r);
    m.apply(r, u);
    a.apply(u, w);
    double known[2][pipelined_scalars] = {};
    known[1][sum_ru] = dot(r, u);
    known[1][sum_wu] = dot(w, u);
    known[1][used_ru] = std::numeric_limits<double>::infinity();
    Drift drift;
    drift.begin(known[1]);
    for (int step = 0; step < 35; ++step) {
        double *now = known[step % 2], *before = known[1 - step % 2];
        m.apply(w, v);
        a.apply(v, n);
        pipelined_step(before, now, {v, n, x, r, u, w, p, s, q, z});
        drift.step(now);
        axpy(now[used_alpha], p, x);
        now[used_alpha] = 0.0;
        a.residual(b, x, truth);
        axpy(-1.0, r, truth);
        const std::vector<double> state = drift.state();
        const double f = norm_of(m, truth), g = gap(a, m, p, s), h = gap(a, m, u, w);
        if (step < 5) continue;  // before, these are the roundings of single operations
        EXPECT_LT(f, state[4] + 1e-15 * norm_of(m, b)) << step;
        EXPECT_LT(g, state[5]) << step;
        EXPECT_LT(h, state[6]) << step;
        EXPECT_GT(f, state[4] / 30.0) << step;
        EXPECT_GT(h, state[6] / 30.0) << step;
    }
    EXPECT_TRUE(drift.too_large());
}

}  // namespace
}  // namespace hyperplane::test
