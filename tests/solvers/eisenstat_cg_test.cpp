// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients in Eisenstat's form: the iterates of cg with the same M, for a form that is computed with dense
// matrices.
#include "solvers/eisenstat_cg.hpp"

#include <utility>

#include "core/interfaces/eisenstat.hpp"
#include "reference/conjugate_gradients.hpp"
#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

using reference::Dense;

/// M = (D + L) D^-1 (D + L^T) of a dense matrix, as its definition says.
class DenseForm : public LinearOperator, public EisenstatForm {
public:
    DenseForm(Dense a, std::vector<double> pivot) : a_(std::move(a)), pivot_(std::move(pivot)) {}

    void apply(const Vector& r, Vector& z) const override {
        ++applies;
        auto y = solve(false, read(r));
        for (int i = 0; i < n(); ++i) y[i] *= pivot_[i];
        write(solve(true, y), z);
    }
    Index bytes_per_apply() const override { return 0; }
    const EisenstatForm* eisenstat() const override { return this; }

    bool by_roots() const override { return roots; }
    void times_roots(bool divide, Vector& x) const override {
        for (int i = 0; i < n(); ++i) {
            const double root = std::sqrt(std::abs(pivot_[i]));
            x.data()[i] = divide ? x.data()[i] / root : x.data()[i] * root;
        }
    }
    void begin(const Vector& r, Vector& s) const override {
        write(times_pivots(solve(false, read(r))), s);
        if (roots) times_roots(true, s);
    }
    void upper_step(const double* before, const EisenstatBounds& bounds, const EisenstatVectors& v,
                    double* sums) const override {
        ++steps;
        EXPECT_NE(&v.s, &v.u);
        const Unscaled unscaled(*this, {&v.s, &v.p, &v.y, &v.u});
        const EisenstatCoefficients with(before, bounds);
        for (int i = 0; i < n(); ++i) {
            double &s = v.s.data()[i], &p = v.p.data()[i];
            if (with.alpha != 0.0) v.y.data()[i] += with.alpha * p;
            p = with.beta != 0.0 ? s + with.beta * p : s;
        }
        const auto t = solve(true, read(v.p));
        write(times_pivots(t), v.u);
        const auto product = times_a(t);
        sums[eisenstat_rho] = sums[eisenstat_tat] = 0.0;
        for (int i = 0; i < n(); ++i) {
            sums[eisenstat_rho] += v.s.data()[i] * v.s.data()[i] / pivot_[i];
            sums[eisenstat_tat] += t[i] * product[i];
        }
        if (spoil) spoil(steps, true, sums);
    }
    void lower_step(const EisenstatVectors& v, double* sums) const override {
        const Unscaled unscaled(*this, {&v.s, &v.p, &v.y, &v.u});
        auto t = read(v.u), rhat = read(v.s), r = rhat;
        for (int i = 0; i < n(); ++i) t[i] /= pivot_[i], rhat[i] /= pivot_[i];
        for (int i = 0; i < n(); ++i)
            for (int j = 0; j < i; ++j) r[i] += a_(i, j) * rhat[j];
        const auto w = times_pivots(solve(false, times_a(t)));
        const double alpha = eisenstat_alpha(sums);
        sums[eisenstat_rr] = sums[eisenstat_next] = 0.0;
        for (int i = 0; i < n(); ++i) {
            const double next = alpha != 0.0 ? v.s.data()[i] - alpha * w[i] : v.s.data()[i];
            v.u.data()[i] = next;
            v.work.data()[i] = nan;  // it keeps nothing from step to step
            sums[eisenstat_rr] += r[i] * r[i];
            sums[eisenstat_next] += next * next / pivot_[i];
        }
        if (spoil) spoil(steps, false, sums);
    }
    void finish(Vector& y, Vector& x) const override {
        if (roots) times_roots(false, y);
        const auto change = solve(true, read(y));
        for (int i = 0; i < n(); ++i) x.data()[i] += change[i];
        for (int i = 0; i < n(); ++i) y.data()[i] = nan;  // it is overwritten
    }

    mutable int applies = 0, steps = 0;
    bool roots = false;                             ///< whether vectors are held divided by |D|^(1/2)
    std::function<void(int, bool, double*)> spoil;  ///< changes the sums of a step, after its upper half, or the other

private:
    /// Vectors that are multiplied by |D|^(1/2) while it lives.
    struct Unscaled {
        const DenseForm& form;
        std::vector<Vector*> vectors;

        Unscaled(const DenseForm& of, std::vector<Vector*> all) : form(of), vectors(std::move(all)) { scale(false); }
        ~Unscaled() { scale(true); }
        void scale(bool divide) const {
            if (!form.roots) return;
            for (Vector* x : vectors) form.times_roots(divide, *x);
        }
    };

    int n() const { return a_.rows; }
    static std::vector<double> read(const Vector& x) { return {x.data(), x.data() + x.size()}; }
    static void write(const std::vector<double>& from, Vector& x) { std::copy(from.begin(), from.end(), x.data()); }
    std::vector<double> times_a(const std::vector<double>& x) const {
        std::vector<double> product(n());
        for (int i = 0; i < n(); ++i)
            for (int j = 0; j < n(); ++j) product[i] += a_(i, j) * x[j];
        return product;
    }
    std::vector<double> times_pivots(std::vector<double> x) const {
        for (int i = 0; i < n(); ++i) x[i] *= pivot_[i];
        return x;
    }
    std::vector<double> solve(bool upper, std::vector<double> x) const {
        for (int step = 0; step < n(); ++step) {
            const int i = upper ? n() - 1 - step : step;
            for (int j = 0; j < n(); ++j)
                if (upper ? j > i : j < i) x[i] -= a_(i, j) * x[j];
            x[i] /= pivot_[i];
        }
        return x;
    }

    Dense a_;
    std::vector<double> pivot_;
};

/// A symmetric positive definite matrix, and pivots that are not its diagonal.
struct DenseSystem {
    Dense matrix;
    FunctionOperator a;
    DenseForm m;
    std::vector<double> right;
    Vector b;

    explicit DenseSystem(int n, unsigned seed = 1, double pivots = 1.3)
        : DenseSystem(spd_matrix(n, seed), std::vector<double>(n, pivots)) {}
    DenseSystem(const Dense& of, std::vector<double> factors)
        : matrix(of),
          a(dense(of)),
          m(of, times_diagonal(of, std::move(factors))),
          right(random_values(of.rows, 77)),
          b(vector_of(right)) {}

    static std::vector<double> times_diagonal(const Dense& of, std::vector<double> factors) {
        for (int i = 0; i < of.rows; ++i) factors[i] *= of(i, i);
        return factors;
    }
    Outcome solve_with(const Keys& keys = {}, const std::vector<double>& x0 = {},
                       std::function<bool()> interrupted = {}, const Continuation& continuation = {}) {
        Keys all{{"eisenstat", "true"}};
        all.insert(all.end(), keys.begin(), keys.end());
        return solve(*make_solver("cg", all), a, m, b, x0, std::move(interrupted), continuation);
    }
    /// ||b - A x|| for the matrix itself.
    double residual_of(const std::vector<double>& x) const { return residual_norm(a, b, x); }
};

reference::BlockMatrix blocks_of(const Dense& a) {
    reference::BlockMatrix result{1, std::vector<std::map<int, Dense>>(a.rows)};
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < a.cols; ++j) {
            result.rows[i][j] = Dense(1, 1);
            result.rows[i][j](0, 0) = a(i, j);
        }
    return result;
}

TEST(EisenstatCg, HasTheResidualsOfConjugateGradients) {
    for (const int n : {1, 2, 3, 40}) {
        SCOPED_TRACE(n);
        DenseSystem system(n);
        const auto apply = [&](const std::vector<double>& r) {
            Vector z = vector_of(r);
            system.m.apply(vector_of(r), z);
            return std::vector<double>(z.data(), z.data() + z.size());
        };
        const auto expected = reference::conjugate_gradients(blocks_of(system.matrix), apply, system.right, 1e-9, 200);
        const Outcome actual = system.solve_with({{"rtol", "1e-9"}});
        EXPECT_EQ(actual.reason(), StopReason::converged_rtol);
        EXPECT_EQ(actual.report.iterations, Index(expected.residuals.size()) - 1);
        ASSERT_EQ(actual.history.size(), expected.residuals.size());
        for (std::size_t at = 0; at < actual.history.size(); ++at)
            EXPECT_NEAR(actual.history[at].recurrence, expected.residuals[at] / expected.residuals[0],
                        1e-8 * expected.residuals[at] / expected.residuals[0] + 1e-14)
                << at;
        EXPECT_LT(max_difference(actual.x, expected.x), 1e-8);
        EXPECT_NEAR(actual.report.true_residual, system.residual_of(actual.x), 1e-14 * norm2(system.b));
    }
}

/// A step more than iterations, and no application of M.
TEST(EisenstatCg, TakesOneStepMoreThanIterations) {
    DenseSystem system(30);
    const Outcome outcome = system.solve_with();
    EXPECT_EQ(system.m.steps, outcome.report.iterations + 1);
    EXPECT_EQ(system.m.applies, 0);
}

/// M = A up to rounding in one step where A is tridiagonal and D its exact pivots: beta is nothing but rounding then.
TEST(EisenstatCg, EndsAfterOneStepIfMIsA) {
    const int n = 25;
    Dense a(n, n);
    std::vector<double> factors(n);
    double pivot = 0.0;
    for (int i = 0; i < n; ++i) {
        a(i, i) = 2.0 + 0.01 * i;
        if (i > 0) a(i, i - 1) = a(i - 1, i) = -1.0;
        pivot = a(i, i) - (i > 0 ? 1.0 / pivot : 0.0);
        factors[i] = pivot / a(i, i);
    }
    DenseSystem system(a, factors);
    const Outcome outcome = system.solve_with({{"rtol", "1e-12"}});
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_EQ(outcome.report.iterations, 1);
}

TEST(EisenstatCg, StartsFromTheGivenX) {
    DenseSystem system(20);
    const auto exact = reference::solve(system.matrix, system.right);
    auto near = exact;
    near[3] += 1e-3;
    const Outcome outcome = system.solve_with({{"rtol", "1e-10"}}, near);
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_LT(max_difference(outcome.x, exact), 1e-9);
    const Outcome at_once = system.solve_with({{"rtol", "1e-10"}}, exact);
    EXPECT_EQ(at_once.report.iterations, 0);
    EXPECT_EQ(at_once.x, exact);
}

TEST(EisenstatCg, ZeroRightHandSideHasTheSolutionZero) {
    DenseSystem system(10);
    set_zero(system.b);
    const Outcome outcome = system.solve_with({}, random_values(10, 3));
    EXPECT_TRUE(converged(outcome.reason()));
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_EQ(outcome.x, std::vector<double>(10, 0.0));
}

TEST(EisenstatCg, TellsAnIndefiniteOperatorWhereCgDoes) {
    Dense matrix = spd_matrix(12, 4);
    matrix(5, 5) = -30.0;
    std::vector<double> factors(12, 1.0);
    factors[5] = -1.0;  // M stays definite
    DenseSystem system(matrix, factors);
    const Outcome outcome = system.solve_with();
    const Outcome plain = solve(*make_solver("cg"), system.a, system.m, system.b);
    EXPECT_EQ(outcome.reason(), StopReason::indefinite_operator);
    EXPECT_EQ(plain.reason(), StopReason::indefinite_operator);
    EXPECT_EQ(outcome.report.iterations, plain.report.iterations);
    EXPECT_TRUE(outcome.finite());
    EXPECT_LT(max_difference(outcome.x, plain.x), 1e-10);
}

TEST(EisenstatCg, TellsAnIndefinitePreconditioner) {
    DenseSystem system(spd_matrix(12, 4), std::vector<double>(12, -1.0));
    const Outcome outcome = system.solve_with({}, random_values(12, 5));
    EXPECT_EQ(outcome.reason(), StopReason::indefinite_preconditioner);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_EQ(outcome.x, random_values(12, 5));
}

TEST(EisenstatCg, WhatIsNotANumberNeverReachesX) {
    for (int sum = 0; sum < eisenstat_sums; ++sum)
        for (int step : {1, 4}) {
            SCOPED_TRACE(std::to_string(sum) + " in step " + std::to_string(step));
            DenseSystem system(30);
            system.m.spoil = [&](int at, bool upper, double* sums) {
                if (at >= step && upper == (sum < eisenstat_upper_sums)) sums[sum] = nan;
            };
            const Outcome outcome = system.solve_with();
            EXPECT_TRUE(outcome.finite());
            if (sum == eisenstat_next) continue;             // beta is 0 then
            if (sum == eisenstat_rr && step == 1) continue;  // ||r|| of the first step is known
            EXPECT_EQ(outcome.reason(), StopReason::not_finite);
            EXPECT_LE(outcome.report.iterations, step - 1);
        }
}

TEST(EisenstatCg, StopsAtTheIterationItNames) {
    DenseSystem system(40);
    const Outcome whole = system.solve_with({{"true_residual_every", "1"}});
    for (Index limit = 0; limit < 10; ++limit) {
        const Outcome outcome = system.solve_with({{"max_iterations", std::to_string(limit)}});
        EXPECT_EQ(outcome.reason(), StopReason::max_iterations);
        EXPECT_EQ(outcome.report.iterations, limit);
        EXPECT_EQ(Index(outcome.history.size()), limit + 1);
        EXPECT_NEAR(outcome.report.true_residual / outcome.report.b_norm / whole.history[limit].truth, 1.0, 1e-9);
    }
}

TEST(EisenstatCg, TrueResidualsInTheHistoryDoNotChangeTheSolve) {
    DenseSystem system(40);
    const Outcome plain = system.solve_with(), shown = system.solve_with({{"true_residual_every", "3"}});
    EXPECT_EQ(shown.x, plain.x);
    ASSERT_EQ(shown.history.size(), plain.history.size());
    for (std::size_t at = 0; at < plain.history.size(); ++at)
        EXPECT_EQ(shown.history[at].recurrence, plain.history[at].recurrence);
    EXPECT_NEAR(shown.history[6].truth / shown.history[6].recurrence, 1.0, 1e-9);
}

TEST(EisenstatCg, EndsWhenItDivergesWhereCgDoes) {
    Dense a(40, 40);
    std::vector<double> factors(40);
    for (int i = 0; i < 40; ++i) {
        a(i, i) = std::pow(1e5, i / 39.0);
        factors[i] = 1.0 / a(i, i);  // M = 1
        if (i > 0) a(i, i - 1) = a(i - 1, i) = 1e-3;
    }
    DenseSystem system(a, factors);
    const Keys keys{{"divergence_tolerance", "1.5"}};
    const Outcome plain = solve(*make_solver("cg", keys), system.a, system.m, system.b);
    const Outcome outcome = system.solve_with(keys);
    EXPECT_EQ(plain.reason(), StopReason::diverged) << "the 2-norm of the residual may rise";
    EXPECT_EQ(outcome.reason(), StopReason::diverged);
    EXPECT_EQ(outcome.report.iterations, plain.report.iterations);
    EXPECT_NEAR(outcome.report.true_residual / plain.report.true_residual, 1.0, 1e-9);
}

/// Tolerances that no method meets: it begins anew from the true residual, and ends where cg does.
TEST(EisenstatCg, EndsWhereCgEnds) {
    DenseSystem system(40);
    const Keys keys{{"rtol", "1e-17"}, {"max_iterations", "500"}};
    const Outcome plain = solve(*make_solver("cg", keys), system.a, system.m, system.b);
    const Outcome outcome = system.solve_with(keys);
    EXPECT_EQ(plain.reason(), StopReason::false_convergence);
    EXPECT_EQ(outcome.reason(), StopReason::false_convergence);
    EXPECT_GT(outcome.report.restarts_from_true, 0);
    EXPECT_LT(outcome.report.true_residual, 10.0 * plain.report.true_residual);
}

TEST(EisenstatCg, GoesOnBitForBitFromAnyIteration) {
    DenseSystem system(40);
    for (const Keys& keys : {Keys{{"true_residual_every", "4"}}, Keys{{"rtol", "1e-17"}, {"max_iterations", "100"}}}) {
        const Outcome whole = system.solve_with(keys);
        for (Index stop = 0; stop < whole.report.iterations; ++stop) {
            SCOPED_TRACE(stop);
            SolverState state;
            Index asked = 0;
            const Outcome first =
                system.solve_with(keys, {}, [&] { return asked++ >= stop; }, {.save = &state, .from = nullptr});
            if (first.reason() != StopReason::interrupted) continue;  // it ended where it was asked to stop
            EXPECT_NEAR(first.report.true_residual, system.residual_of(first.x), 1e-13 * norm2(system.b));
            const Outcome rest = system.solve_with(keys, random_values(40, 99), {}, {.save = nullptr, .from = &state});
            EXPECT_EQ(rest.reason(), whole.reason());
            EXPECT_EQ(rest.x, whole.x);
            EXPECT_EQ(rest.report.iterations, whole.report.iterations);
            EXPECT_EQ(rest.report.restarts_from_true, whole.report.restarts_from_true);
            ASSERT_EQ(rest.history.size(), whole.history.size());
            for (std::size_t at = 0; at < whole.history.size(); ++at)
                EXPECT_EQ(rest.history[at].recurrence, whole.history[at].recurrence);
        }
    }
}

/// As from a GPU to a CPU, whose forms hold their vectors differently.
TEST(EisenstatCg, GoesOnWithAFormThatHoldsItsVectorsDifferently) {
    for (const bool roots : {false, true}) {
        DenseSystem system(40);
        const Keys keys{{"rtol", "1e-10"}};
        const Outcome whole = system.solve_with(keys);
        SolverState state;
        Index asked = 0;
        system.m.roots = roots;
        const Outcome first =
            system.solve_with(keys, {}, [&] { return asked++ >= 5; }, {.save = &state, .from = nullptr});
        ASSERT_EQ(first.reason(), StopReason::interrupted);
        system.m.roots = !roots;
        const Outcome rest = system.solve_with(keys, {}, {}, {.save = nullptr, .from = &state});
        EXPECT_EQ(rest.reason(), whole.reason());
        EXPECT_EQ(rest.report.iterations, whole.report.iterations);
        EXPECT_LT(max_difference(rest.x, whole.x), 1e-9);
    }
}

TEST(EisenstatCg, RefusesWhatHasNoSuchForm) {
    DenseSystem system(5);
    const auto solver = make_solver("cg", {{"eisenstat", "true"}});
    EXPECT_THROW(solve(*solver, system.a, identity(), system.b), UsageError);
    EXPECT_THROW(solver->check("jacobi", {.symmetric = true}), UsageError);
    EXPECT_NO_THROW(solver->check("struct_ilu", {.symmetric = true, .eisenstat = true}));
    EXPECT_THROW(solver->check_operator("a problem", false), UsageError);
}

TEST(EisenstatCg, HoldsFiveVectorsOnACpu) {
    EXPECT_EQ(make_solver("cg", {{"eisenstat", "true"}})->work_vectors(), 5);
    EXPECT_EQ(make_solver("cg", {{"eisenstat", "true"}, {"true_residual_every", "2"}})->work_vectors(), 7);
}

}  // namespace
}  // namespace hyperplane::test
