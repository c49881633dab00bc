// SPDX-License-Identifier: BSD-3-Clause
// Shared by the tests of problems/: problems constructed from a few keys, their matrices and residuals, and simple
// solvers that are independent of solvers/ and precond/.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "problems/registry.hpp"

namespace hyperplane::test {

using Keys = std::vector<std::pair<const char*, const char*>>;  ///< "section.key", value

inline std::unique_ptr<Problem> make_problem(const std::string& name, const Keys& keys, const InputFiles& files = {},
                                             const Context& context = Context::cpu()) {
    const auto& row = find_row(problems(), "problem", name);
    Parameters parameters(common_problem_parameters());
    parameters.add(row.parameters);
    const Provenance deck{Provenance::Source::deck, "test.ini", 1};
    parameters.set("problem", "name", name, deck);
    for (const auto& [key, value] : keys) {
        const std::string text = key;
        const auto dot = text.find('.');
        parameters.set(text.substr(0, dot), text.substr(dot + 1), value, deck);
    }
    return row.create(parameters, context, files);
}

/// The message of the UsageError that constructing the problem throws; "" if it throws none.
inline std::string refusal(const std::string& name, const Keys& keys, const InputFiles& files = {}) {
    try {
        make_problem(name, keys, files);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

/// A problem with vectors and matrices in one layout, in the first time step; a test may change `level`.
struct System {
    const Problem& problem;
    Context context;
    Layout layout;
    TimeLevel level;                ///< matrix() and residual() set its earlier states to their arguments
    const Vector* older = nullptr;  ///< the older state of BDF2; if null, `old` is used

    explicit System(const Problem& p, LayoutKind kind = LayoutKind::natural, const Context& on = Context::cpu())
        : problem(p), context(on), layout(kind, p.shape().grid, p.shape().stencil.level_map()) {
        if (p.shape().regime == Regime::steady) return;
        const double dt = p.time_step(initial());
        level = implicit_euler(1, dt, dt, Vector());
        level.old = nullptr;
    }

    Vector vector() const { return Vector(context, layout, problem.shape().dof, "test"); }
    Vector copy(const Vector& x) const {
        Vector y = vector();
        std::copy_n(x.data(), x.size(), y.data());
        return y;
    }
    Vector initial() const {
        Vector u = vector();
        problem.initial_state(u);
        return u;
    }
    /// The level with `old` as its earlier state. If rate[2] != 0, its older state is `older` if given, then
    /// this->older, then the level's own, then `old`.
    TimeLevel from(const Vector& old, const Vector* older = nullptr) const {
        TimeLevel at = level;
        const bool steady = problem.shape().regime == Regime::steady;
        at.old = steady ? nullptr : &old;
        if (!older) older = this->older;
        if (older || !level.older) at.older = older ? older : &old;
        if (steady || level.rate[2] == 0.0) at.older = nullptr;
        return at;
    }
    /// F'(u) for the step from `old`.
    StructMatrix matrix(const Vector& u, const Vector& old, MatrixStorage storage = MatrixStorage::full) const {
        StructMatrix a(context, layout, problem.shape().stencil, problem.shape().dof, storage);
        problem.jacobian(u, from(old), a);
        return a;
    }
    /// F'(u) at the initial state u.
    StructMatrix matrix(MatrixStorage storage = MatrixStorage::full) const {
        const Vector u = initial();
        return matrix(u, u, storage);
    }
    /// F(u) for the step from `old`.
    Vector residual(const Vector& u, const Vector& old) const {
        Vector f = vector();
        problem.residual(u, from(old), f);
        return f;
    }
    /// A random state, uniform within 1 of 0. For a gas, density is within 1 of 2 and energy within 1 of 4, so that
    /// every state is admissible.
    Vector random(unsigned seed) const {
        std::mt19937 engine(seed);
        std::uniform_real_distribution<double> uniform(-1.0, 1.0);
        Vector u(context.host(), layout, problem.shape().dof, "test");
        for (Index row = 0; row < layout.slots(); ++row)
            for (int c = 0; c < u.dof(); ++c) u(layout.grid().point(row), c) = middle(c) + uniform(engine);
        if (context.backend() == Backend::cpu) return u;
        Vector there = vector();
        transfer(u, there);
        return there;
    }
    double middle(int component) const {
        const std::string& name = problem.shape().components.at(component);
        return name == "density" ? 2.0 : name == "energy" ? 4.0 : 0.0;
    }
};

inline double dot_product(const Vector& x, const Vector& y) {
    double sum = 0.0;
    for (Index at = 0; at < x.size(); ++at) sum += x.data()[at] * y.data()[at];
    return sum;
}

inline double max_difference(const Vector& x, const Vector& y) {
    double largest = 0.0;
    for (Index at = 0; at < x.size(); ++at) largest = std::fmax(largest, std::abs(x.data()[at] - y.data()[at]));
    return largest;
}

/// u - A^-1 F(u) with A = F'(u), by BiCGSTAB with the diagonal as preconditioner, to a relative residual `rtol`.
inline Vector solve_newton_step(const System& system, Vector u, const Vector& old, double rtol = 1e-11) {
    const StructMatrix a = system.matrix(u, old);
    const int m = a.dof();
    Vector r = system.residual(u, old), x = system.vector();
    const auto each = [&](const auto& body) {
        for (Index at = 0; at < x.size(); ++at) body(at);
    };
    Vector inverse = system.vector();
    for (int c = 0; c < m; ++c)
        for (Index s = 0; s < system.layout.slots(); ++s)
            inverse.component(c)[s] = 1.0 / a.values(a.stencil().diagonal(), c, c)[s];
    each([&](Index at) { r.data()[at] = -r.data()[at]; });
    Vector shadow = system.vector(), p = system.vector(), v = system.vector(), y = system.vector(), z = system.vector(),
           t = system.vector();
    each([&](Index at) { shadow.data()[at] = p.data()[at] = r.data()[at]; });
    const double target = rtol * std::sqrt(dot_product(r, r));
    double rho = dot_product(shadow, r);
    for (int iteration = 0; iteration < 5000 && std::sqrt(dot_product(r, r)) > target; ++iteration) {
        each([&](Index at) { y.data()[at] = inverse.data()[at] * p.data()[at]; });
        a.apply(y, v);
        const double alpha = rho / dot_product(shadow, v);
        each([&](Index at) { r.data()[at] -= alpha * v.data()[at]; });
        each([&](Index at) { z.data()[at] = inverse.data()[at] * r.data()[at]; });
        a.apply(z, t);
        const double omega = dot_product(t, r) / std::fmax(dot_product(t, t), 1e-300);
        each([&](Index at) {
            x.data()[at] += alpha * y.data()[at] + omega * z.data()[at];
            r.data()[at] -= omega * t.data()[at];
        });
        const double next = dot_product(shadow, r);
        const double beta = next / rho * (alpha / omega);
        rho = next;
        each([&](Index at) { p.data()[at] = r.data()[at] + beta * (p.data()[at] - omega * v.data()[at]); });
    }
    EXPECT_LE(std::sqrt(dot_product(r, r)), target) << "the test's own solver did not converge";
    each([&](Index at) { u.data()[at] += x.data()[at]; });
    return u;
}

/// The same for a problem whose matrix does not depend on u.
inline Vector solve_linear(const System& system, Vector u, const Vector& old, double rtol = 1e-11) {
    return solve_newton_step(system, std::move(u), old, rtol);
}

/// The error norm `name` of a solved problem.
inline double solved_error(const Problem& problem, const std::string& name = "max") {
    const System system(problem);
    const Vector u = solve_linear(system, system.initial(), system.initial());
    for (const ErrorNorm& norm : problem.errors(u, 0.0))
        if (norm.name == name) return norm.value;
    ADD_FAILURE() << "no error norm " << name;
    return 0.0;
}

}  // namespace hyperplane::test
