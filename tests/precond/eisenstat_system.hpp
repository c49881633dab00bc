// SPDX-License-Identifier: BSD-3-Clause
// The steps of Eisenstat's form by their definitions, with products and solves of a sparse matrix in natural order.
#pragma once

#include <array>

#include "core/interfaces/eisenstat.hpp"
#include "precond/support.hpp"

namespace hyperplane::testing_support {

/// By points.
using Values = std::vector<double>;
using EisenstatSums = std::array<double, eisenstat_sums>;

/// With these a step has alpha = 1.25 and beta = 0.5.
inline constexpr EisenstatSums some_sums{2.5, 2.0, 4.0, 1.25};

/// The vectors of an iteration and its sums; `next` is the s of the step that follows.
struct EisenstatOutcome {
    Values s, p, y, u, next;
    EisenstatSums sums{};

    friend bool operator==(const EisenstatOutcome&, const EisenstatOutcome&) = default;
};

/// What is done to the random matrix, whose diagonal is otherwise that of (D + L) D^-1 (D + L^T).
struct EisenstatChange {
    double shift = 0.0;  ///< A + shift diag(A) is factored
    bool signs = false;  ///< every fifth coefficient on the diagonal is negative, and so is its pivot
};

/// A system of one unknown a point, with the pivots of its incomplete factorisation.
struct EisenstatSystem {
    reference::StencilMatrix data;
    std::string stencil;
    double shift;
    reference::BlockMatrix a;
    Values pivot;

    EisenstatSystem(const reference::Box& box, const std::string& name, int seed, const EisenstatChange& change = {})
        : data(changed(reference::random_spd_matrix(box, reference::stencil_named(name).offsets, 1, seed), change)),
          stencil(name),
          shift(change.shift),
          a(reference::assembled(data)) {
        reference::BlockMatrix factored = a;
        for (int i = 0; i < int(a.rows.size()); ++i) factored.rows[i][i](0, 0) *= 1.0 + shift;
        const auto ic = reference::block_ic(factored, reference::stencil_pattern(box, data.offsets));
        for (const auto& inverse : ic.diagonal_inverse) pivot.push_back(1.0 / inverse(0, 0));
    }
    static reference::StencilMatrix changed(reference::StencilMatrix data, const EisenstatChange& change) {
        if (change.signs)
            for (std::size_t i = 1; i < data.blocks.size(); i += 5) data.blocks[i][{0, 0, 0}](0, 0) *= -1.0;
        return data;
    }
    int points() const { return int(pivot.size()); }

    /// x with (D + L) x = c, or, if `upper`, (D + L^T) x = c.
    Values solve(bool upper, const Values& c) const {
        Values x(c);
        for (int step = 0; step < points(); ++step) {
            const int i = upper ? points() - 1 - step : step;
            for (const auto& [j, value] : a.rows[i])
                if (upper ? j > i : j < i) x[i] -= value(0, 0) * x[j];
            x[i] /= pivot[i];
        }
        return x;
    }
    Values times_pivots(Values x) const {
        for (int i = 0; i < points(); ++i) x[i] *= pivot[i];
        return x;
    }
    /// |D|^(1/2) x, or |D|^(-1/2) x.
    Values times_roots(Values x, bool divide) const {
        for (int i = 0; i < int(x.size()); ++i) {
            const double root = std::sqrt(std::abs(pivot[i]));
            x[i] = divide ? x[i] / root : x[i] * root;
        }
        return x;
    }
    Values over_pivots(Values x) const {
        for (int i = 0; i < points(); ++i) x[i] /= pivot[i];
        return x;
    }

    StructMatrix matrix(LayoutKind kind, const Context& context = Context::cpu(1)) const {
        return reference::to_struct_matrix(context, layout_for(kind, data, stencil, 0), data, MatrixStorage::lower,
                                           stencil);
    }
    /// Vectors before a step, with some_sums.
    EisenstatOutcome random(int seed) const {
        reference::Random values(seed);
        const auto next = [&] { return values.vector(points()); };
        EisenstatOutcome v{next(), next(), next(), {}, {}, some_sums};
        v.u = times_pivots(solve(true, v.p));  // the lower step relies on that
        return v;
    }

    /// By definition, from the vectors before and with given coefficients.
    EisenstatOutcome after_upper_step(EisenstatOutcome v, double alpha, double beta) const {
        for (int i = 0; i < points(); ++i) {
            v.y[i] += alpha * v.p[i];
            v.p[i] = v.s[i] + beta * v.p[i];
        }
        const Values t = solve(true, v.p);
        v.u = times_pivots(t);
        v.sums[eisenstat_rho] = dot(v.s, over_pivots(v.s));
        v.sums[eisenstat_tat] = dot(t, reference::multiply(a, t).value);
        return v;
    }
    EisenstatOutcome after_lower_step(EisenstatOutcome v, double alpha) const {
        const Values w = times_pivots(solve(false, reference::multiply(a, over_pivots(v.u)).value));
        v.next = v.s;
        for (int i = 0; i < points(); ++i) v.next[i] -= alpha * w[i];
        const Values rhat = over_pivots(v.s);
        Values r = v.s;
        for (int i = 0; i < points(); ++i)
            for (const auto& [j, value] : a.rows[i])
                if (j < i) r[i] += value(0, 0) * rhat[j];
        v.sums[eisenstat_rr] = dot(r, r);
        v.sums[eisenstat_next] = dot(v.next, over_pivots(v.next));
        return v;
    }
    /// Of the terms of a step's sums, for the rounding of those whose terms have both signs.
    double magnitude(const EisenstatOutcome& v) const {
        double sum = 0.0;
        for (const Values* x : {&v.s, &v.p, &v.u, &v.next})
            for (std::size_t i = 0; i < x->size(); ++i) sum += (*x)[i] * (*x)[i] / std::abs(pivot[i]);
        return sum;
    }
};

}  // namespace hyperplane::testing_support
