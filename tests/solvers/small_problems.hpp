// SPDX-License-Identifier: BSD-3-Clause
// Small nonlinear problems with known solutions or known difficulties, and the objects with which Newton's method and
// time stepping solve them.
#pragma once

#include <numbers>

#include "solvers/newton.hpp"
#include "solvers/time_stepping.hpp"
#include "systems.hpp"

namespace hyperplane::test {

/// A problem with one unknown a point, given by functions of the values at a point and at its neighbours; for the host.
class SmallProblem : public Problem {
public:
    SmallProblem(Grid grid, Regime regime) : Problem({.grid = grid, .stencil = Stencil::star7()}) {
        shape_.linear = false;
        shape_.regime = regime;
        shape_.components = {"u"};
    }
    void initial_state(Vector& u) const override { fill(u, 0.0); }
    void residual(const Vector& u, const TimeLevel& level, Vector& f) const override {
        ++residuals;
        each([&](Int3 p) {
            double rate = level.rate[0] * u(p);
            if (level.old) rate += level.rate[1] * (*level.old)(p);
            if (level.older) rate += level.rate[2] * (*level.older)(p);
            f(p) = rate + source(p, u(p), level);
            for (int e = 0; e < 7; ++e)
                if (const Int3 q = p + shape_.stencil[e]; e != 3 && shape_.grid.contains(q)) f(p) += coupling() * u(q);
        });
    }
    void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& matrix) const override {
        StructMatrix& a = structured(matrix);
        each([&](Int3 p) {
            const Index slot = u.layout().slot(p);
            for (int e = 0; e < 7; ++e)
                a.values(e)[slot] = shape_.grid.contains(p + shape_.stencil[e]) ? coupling() : 0.0;
            a.values(3)[slot] = level.rate[0] + slope(p, u(p), level);
        });
    }
    double time_step(const Vector&) const override { return dt; }
    CflRange cfl_range() const override { return cfl; }

    double dt = 0.1;
    CflRange cfl;
    mutable int residuals = 0;

protected:
    virtual double source(Int3 p, double u, const TimeLevel& level) const = 0;
    virtual double slope(Int3 p, double u, const TimeLevel& level) const = 0;
    virtual double coupling() const { return 0.0; }
    template <class Body>
    void each(const Body& body) const {
        for (Index row = 0; row < shape_.grid.points(); ++row) body(shape_.grid.point(row));
    }
};

/// -Laplace(u) = lambda e^u on the unit cube with u = 0 on its boundary, multiplied by h^2 (Bratu; Glowinski, Keller,
/// Reinhart 1985).
class Bratu : public SmallProblem {
public:
    explicit Bratu(double lambda, int n = 9, Regime regime = Regime::steady)
        : SmallProblem({.nx = n, .ny = n, .nz = n}, regime), weight_(lambda / double((n + 1) * (n + 1))) {}

protected:
    double source(Int3, double u, const TimeLevel&) const override { return 6 * u - weight_ * std::exp(u); }
    double slope(Int3, double u, const TimeLevel&) const override { return 6 - weight_ * std::exp(u); }
    double coupling() const override { return -1.0; }

private:
    double weight_;
};

/// u' = u (1 - u) at each point with u_0 between 0.1 and 0.9, whose solution is u = u_0 e^t / (1 - u_0 + u_0 e^t).
class Logistic : public SmallProblem {
public:
    explicit Logistic(double length) : SmallProblem({.nx = 3, .ny = 3, .nz = 3}, Regime::transient) { dt = length; }
    static double start(Int3 p) { return 0.1 + 0.8 * (p.x + 3 * p.y + 9 * p.z) / 26.0; }
    static double exact(Int3 p, double t) {
        const double grown = start(p) * std::exp(t);
        return grown / (1 - start(p) + grown);
    }
    void initial_state(Vector& u) const override {
        each([&](Int3 p) { u(p) = start(p); });
    }
    std::vector<ErrorNorm> errors(const Vector& u, double time) const override {
        double largest = 0.0;
        each([&](Int3 p) { largest = std::max(largest, std::abs(u(p) - exact(p, time))); });
        return {{"max", largest}};
    }

protected:
    double source(Int3, double u, const TimeLevel&) const override { return -u * (1 - u); }
    double slope(Int3, double u, const TimeLevel&) const override { return 2 * u - 1; }
};

/// f(u) = 0 at each point, with f and its derivative given as functions.
class Pointwise : public SmallProblem {
public:
    using Function = std::function<double(double)>;
    Pointwise(Function f, Function slope, double first, Regime regime = Regime::steady)
        : SmallProblem({.nx = 3, .ny = 3, .nz = 3}, regime),
          f_(std::move(f)),
          slope_(std::move(slope)),
          first_(first) {}
    void initial_state(Vector& u) const override { fill(u, first_); }
    double admissible_step(const Vector&, const Vector&) const override { return admissible; }
    double admissible = 1.0;

protected:
    double source(Int3, double u, const TimeLevel&) const override { return f_(u); }
    double slope(Int3, double u, const TimeLevel&) const override { return slope_(u); }

private:
    Function f_, slope_;
    double first_;
};

/// M is the diagonal of the matrix it was set up from. Counts its set-ups, and a test can make it useless.
class CountingDiagonal : public Preconditioner {
public:
    SetupReport setup(const SystemMatrix& matrix) override {
        const StructMatrix& a = structured(matrix);
        ++setups;
        inverse_.assign(a.layout().slots(), 0.0);
        for (Index s = 0; s < a.layout().slots(); ++s) inverse_[s] = 1.0 / a.values(a.stencil().diagonal())[s];
        return {};
    }
    void suggest_shift(double alpha) override { suggested = alpha; }
    void apply(const Vector& x, Vector& y) const override {
        for (Index s = 0; s < x.size(); ++s) y.data()[s] = inverse_[s] * x.data()[s];
    }
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = true}; }
    Index bytes_per_apply() const override { return 0; }

    int setups = 0;
    double suggested = -1.0;

private:
    std::vector<double> inverse_;
};

/// A problem with all objects that Newton's method needs.
struct NewtonRun {
    const SmallProblem& problem;
    Context context = Context::cpu(1);
    Layout layout{LayoutKind::natural, problem.shape().grid, {}};
    TimerTree timers;
    CountingDiagonal m;
    std::unique_ptr<Solver> solver = make_solver("gmres", {{"restart", "60"}, {"max_iterations", "200"}});
    Newton newton;
    Vector u{context, layout, 1, "state"};
    std::vector<NewtonStep> steps;
    std::function<bool()> interrupt;  ///< called once an iteration; true interrupts the solve
    SolverState krylov;               ///< the state of an interrupted solve

    explicit NewtonRun(const SmallProblem& p, const NewtonOptions& options)
        : problem(p), newton(p, options, m, context, layout, timers) {
        problem.initial_state(u);
    }

    SolveReport solve_linear(const Newton::LinearTask& task) {
        solver->set_rtol(task.rtol);
        History history;
        if (interrupt) history.set_interrupt(interrupt);
        const SolverState from = std::exchange(krylov, {});
        return solver->solve(task.a, task.m, task.system.b, task.du, history,
                             {.save = &krylov, .from = from.items().empty() ? nullptr : &from});
    }
    NewtonReason go_on(const TimeLevel& level) {
        while (newton.going())
            steps.push_back(
                newton.step(u, level, [this](const Newton::LinearTask& task) { return solve_linear(task); }));
        return newton.reason();
    }
    NewtonReason solve(const TimeLevel& level = {}) {
        newton.begin(u, level);
        return go_on(level);
    }
};

}  // namespace hyperplane::test
