// SPDX-License-Identifier: BSD-3-Clause
// Shared by the tests of solvers/: small operators on a line of points, solvers constructed from the keys of a deck,
// and a function that solves and returns everything that tests check.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/matrix/struct_matrix.hpp"
#include "core/vector/blas1.hpp"
#include "reference/dense.hpp"
#include "solver_names.hpp"
#include "solvers/registry.hpp"

namespace hyperplane::test {

using Keys = std::vector<std::pair<std::string, std::string>>;  ///< key of [solver], value

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Constructs a solver; keys that it does not have are ignored.
inline std::unique_ptr<Solver> make_solver(const std::string& name, const Keys& keys = {},
                                           const Context& context = Context::cpu()) {
    const auto& row = find_row(solvers(), "solver", name);
    Parameters parameters(common_solver_parameters());
    parameters.add(row.parameters);
    for (const auto& [key, value] : keys)
        if (parameters.has("solver", key)) parameters.set("solver", key, value);
    return row.create(parameters, context);
}

inline Layout line(int points) {
    return Layout(LayoutKind::natural, Grid{.nx = points}, {});
}

inline Vector vector_of(const std::vector<double>& values) {
    Vector result(Context::cpu(), line(int(values.size())), 1, "test");
    std::copy(values.begin(), values.end(), result.data());
    return result;
}

inline std::vector<double> random_values(int count, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<double> values(count);
    for (double& value : values) value = uniform(generator);
    return values;
}

/// The operator y = f(x) of a function.
class FunctionOperator : public LinearOperator {
public:
    using Function = std::function<void(const Vector&, Vector&)>;
    explicit FunctionOperator(Function function) : function_(std::move(function)) {}
    void apply(const Vector& x, Vector& y) const override { function_(x, y); }
    Index bytes_per_apply() const override { return 0; }

private:
    Function function_;
};

inline FunctionOperator identity() {
    return FunctionOperator([](const Vector& x, Vector& y) { copy(x, y); });
}

inline FunctionOperator diagonal(std::vector<double> values) {
    return FunctionOperator([values = std::move(values)](const Vector& x, Vector& y) {
        for (Index at = 0; at < x.size(); ++at) y.data()[at] = values[at] * x.data()[at];
    });
}

inline FunctionOperator dense(reference::Dense a) {
    return FunctionOperator([a = std::move(a)](const Vector& x, Vector& y) {
        for (int i = 0; i < a.rows; ++i) {
            double total = 0.0;
            for (int j = 0; j < a.cols; ++j) total += a(i, j) * x.data()[j];
            y.data()[i] = total;
        }
    });
}

/// `inner`, but from its `call`-th apply on (the first is 1) `spoil` modifies the result.
inline FunctionOperator spoiled(const LinearOperator& inner, int call, std::function<void(Vector&)> spoil) {
    auto calls = std::make_shared<int>(0);
    return FunctionOperator([&inner, call, calls, spoil = std::move(spoil)](const Vector& x, Vector& y) {
        inner.apply(x, y);
        if (++*calls >= call) spoil(y);
    });
}

/// `inner`, but from its `call`-th apply on one entry of the result is NaN.
inline FunctionOperator nan_from(const LinearOperator& inner, int call) {
    return spoiled(inner, call, [](Vector& y) { y.data()[y.size() / 2] = nan; });
}

/// A random symmetric positive definite matrix with eigenvalues between about 1 and n.
inline reference::Dense spd_matrix(int n, unsigned seed) {
    reference::Dense half(n, n);
    half.values = random_values(n * n, seed);
    reference::Dense a = reference::product(half, reference::transpose(half));
    for (int i = 0; i < n; ++i) a(i, i) += 1.0;
    return a;
}

/// A random nonsymmetric matrix whose symmetric part is positive definite.
inline reference::Dense nonsymmetric_matrix(int n, unsigned seed) {
    reference::Dense a(n, n);
    a.values = random_values(n * n, seed);
    for (int i = 0; i < n; ++i) a(i, i) += 0.8 * n;
    return a;
}

/// -(1, -2, 1) plus `wind` (-1, 1, 0) on a line: tridiagonal, and nonsymmetric if wind != 0.
inline FunctionOperator line_laplacian(double wind = 0.0) {
    return FunctionOperator([wind](const Vector& x, Vector& y) {
        const Index n = x.size();
        const double* u = x.data();
        for (Index i = 0; i < n; ++i)
            y.data()[i] = (2.0 + wind) * u[i] - (i > 0 ? (1.0 + wind) * u[i - 1] : 0.0) - (i + 1 < n ? u[i + 1] : 0.0);
    });
}

/// The 7-point Laplacian on an n^3 grid, with 6 on the diagonal.
inline StructMatrix cube_laplacian(int n, const Context& context = Context::cpu()) {
    const Grid grid{.nx = n, .ny = n, .nz = n};
    const Stencil stencil = Stencil::star7();
    StructMatrix a(context, Layout(LayoutKind::natural, grid, stencil.level_map()), stencil, 1);
    for (int entry = 0; entry < stencil.size(); ++entry)
        for (Index row = 0; row < grid.points(); ++row)
            if (grid.contains(grid.point(row) + stencil[entry]))
                a.values(entry)[row] = entry == stencil.diagonal() ? 6.0 : -1.0;
    return a;
}

struct Outcome {
    SolveReport report;
    std::vector<double> x;
    std::vector<HistoryEntry> history;

    StopReason reason() const { return report.reason; }
    bool finite() const {
        for (double value : x)
            if (!std::isfinite(value)) return false;
        return true;
    }
};

/// Solves from `x0` (empty: zero), optionally with an interrupt and with a state to save or to continue from.
inline Outcome solve(Solver& solver, const LinearOperator& a, const LinearOperator& m, const Vector& b,
                     const std::vector<double>& x0 = {}, std::function<bool()> interrupted = {},
                     const Continuation& continuation = {}) {
    Vector x(b.context(), b.space(), b.dof(), "test");
    std::copy(x0.begin(), x0.end(), x.data());
    History history;
    if (interrupted) history.set_interrupt(std::move(interrupted));
    Outcome outcome;
    outcome.report = solver.solve(a, m, b, x, history, continuation);
    outcome.x.assign(x.data(), x.data() + x.size());
    outcome.history = history.entries();
    return outcome;
}

/// ||b - A x||
inline double residual_norm(const LinearOperator& a, const Vector& b, const std::vector<double>& x) {
    Vector at(Context::cpu(), b.space(), b.dof(), "test"), r(Context::cpu(), b.space(), b.dof(), "test");
    std::copy(x.begin(), x.end(), at.data());
    a.apply(at, r);
    xpby(b, -1.0, r);
    return norm2(r);
}

inline double max_difference(const std::vector<double>& x, const std::vector<double>& y) {
    double largest = 0.0;
    for (std::size_t at = 0; at < x.size(); ++at) largest = std::max(largest, std::abs(x[at] - y[at]));
    return largest;
}

/// The name of a parameterised test is the name of its solver.
inline std::string solver_name(const ::testing::TestParamInfo<std::string>& info) {
    return info.param;
}

}  // namespace hyperplane::test
