// SPDX-License-Identifier: BSD-3-Clause
// The states at the faces of a cell, from slopes of the primitive variables q (MUSCL).
//
// With a = q_i - q_{i-1} and b = q_{i+1} - q_i, the state is q_i + upper / 2 at the cell's upper face and
// q_i - lower / 2 at its lower face, with the slopes
//   van_albada    lower = upper = ((b^2 + e) a + (a^2 + e) b) / (a^2 + b^2 + 2 e)      (van Albada, van Leer, Roberts
//                 1982; e = limiter_epsilon q_ref^2 leaves smooth extrema alone)
//   kappa         upper = ((1 - kappa) a + (1 + kappa) b) / 2, lower with a and b exchanged; no limiter
//   first_order   0
// If density or pressure would not be positive at a face of a cell, the slope of that variable is 0 in the cell.
#pragma once

#include "problems/euler_flux.hpp"

namespace hyperplane {

enum class ReconstructionKind { van_albada, kappa, first_order };

/// The slopes of one variable in a cell.
template <class T>
struct CellSlopes {
    T lower, upper;
};

/// The derivatives of half of one slope with respect to a and b.
struct SlopeDerivatives {
    double by_a, by_b;
};

struct Reconstruction {
    ReconstructionKind kind = ReconstructionKind::van_albada;
    double kappa = 1.0 / 3.0;
    GasState<double> epsilon{};  ///< e of each variable

    /// The slopes of a variable in a cell with value `q`, whose neighbours have `before` and `after`.
    template <class T>
    HYPERPLANE_HD CellSlopes<T> slopes(int variable, const T& before, const T& q, const T& after) const {
        const CellSlopes<T> slopes = free_slopes(variable, q - before, after - q);
        if (stays_positive(variable, q + 0.5 * slopes.upper, q - 0.5 * slopes.lower)) return slopes;
        return {0.0 * q, 0.0 * q};
    }
    /// The derivatives of half the upper slope; both slopes are written to `slopes`.
    HYPERPLANE_HD SlopeDerivatives derivatives(int variable, double before, double q, double after,
                                               CellSlopes<double>& slopes) const {
        const double a = q - before, b = after - q;
        slopes = free_slopes(variable, a, b);
        if (!stays_positive(variable, q + 0.5 * slopes.upper, q - 0.5 * slopes.lower)) {
            slopes = {0.0, 0.0};
            return {0.0, 0.0};
        }
        switch (kind) {
            case ReconstructionKind::van_albada: {
                const double aa = fused(a, a, epsilon[variable]), bb = fused(b, b, epsilon[variable]);
                const double half = quotient(0.5, aa + bb), sigma = slopes.upper;
                return {fused(2 * a, b - sigma, bb) * half, fused(2 * b, a - sigma, aa) * half};
            }
            case ReconstructionKind::kappa: return {0.25 * (1 - kappa), 0.25 * (1 + kappa)};
            case ReconstructionKind::first_order: break;
        }
        return {0.0, 0.0};
    }
    /// The derivatives of half the lower slope, which is the upper one with a and b exchanged.
    HYPERPLANE_HD SlopeDerivatives of_lower(const SlopeDerivatives& upper) const {
        const bool symmetric = kind == ReconstructionKind::van_albada;
        return {symmetric ? upper.by_a : upper.by_b, symmetric ? upper.by_b : upper.by_a};
    }

private:
    template <class T>
    HYPERPLANE_HD CellSlopes<T> free_slopes(int variable, const T& a, const T& b) const {
        switch (kind) {
            case ReconstructionKind::van_albada: {
                const T e = epsilon[variable], aa = fused(a, a, e), bb = fused(b, b, e);
                const T sigma = quotient(fused(bb, a, aa * b), aa + bb);
                return {sigma, sigma};
            }
            case ReconstructionKind::kappa:
                return {0.5 * ((1 - kappa) * b + (1 + kappa) * a), 0.5 * ((1 - kappa) * a + (1 + kappa) * b)};
            case ReconstructionKind::first_order: break;
        }
        return {0.0 * a, 0.0 * a};
    }
    /// Whether a variable, if it is density or pressure, is positive at both faces of a cell.
    template <class T>
    HYPERPLANE_HD static bool stays_positive(int variable, const T& upper, const T& lower) {
        return (variable > 0 && variable < 4) || (upper > 0.0 && lower > 0.0);
    }
};

/// The flux through the face between cells 1 and 2 of four consecutive cells.
template <FluxKind kind, class T>
HYPERPLANE_HD GasState<T> face_flux(const Gas& gas, const Reconstruction& reconstruction, const GasState<T>& q0,
                                    const GasState<T>& q1, const GasState<T>& q2, const GasState<T>& q3) {
    GasState<T> L, R;
    for (int c = 0; c < 5; ++c) {
        L[c] = q1[c] + 0.5 * reconstruction.slopes(c, q0[c], q1[c], q2[c]).upper;
        R[c] = q2[c] - 0.5 * reconstruction.slopes(c, q1[c], q2[c], q3[c]).lower;
    }
    return numerical_flux<kind>(gas, L, R);
}

}  // namespace hyperplane
