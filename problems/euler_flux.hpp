// SPDX-License-Identifier: BSD-3-Clause
// Fluxes of the Euler equations through one face, and their derivatives.
//
// In the frame of a face, q = (rho, u, v, w, p) with u normal to the face and v, w along it; fluxes and conserved
// variables U = (rho, rho u, rho v, rho w, E) have the same order. Formulas are templates over the number type, so that
// dual numbers can check the derivatives. The derivatives are written out by hand, since each row of the Jacobian needs
// those of its faces.
//
//   hllc      F = (phi, phi s + p*, phi v, phi w, s B / d)            with the values of side K, x = S_K,
//             m = rho (x - u), d = x - s, phi = s m / d, p* = p + m (s - u), B = (x - u) E - p u + p* x
//             S_L = min(u_L - c_L, u^ - c^), S_R = max(u_R + c_R, u^ + c^) with Roe's averages (Einfeldt 1988),
//             s = (p_R - p_L + m_L u_L - m_R u_R) / (m_L - m_R), K = L where s >= 0 (Toro, Spruce, Speares 1994).
//             If S_L >= 0 or S_R <= 0, K is the upwind side and s = u_K, so that the formula gives F(U_K).
//   rusanov   F = (F(U_L) + F(U_R) - lambda (U_R - U_L)) / 2, lambda = max(|u_L| + c_L, |u_R| + c_R)
#pragma once

#include <array>
#include <cmath>

#include "problems/pack.hpp"

namespace hyperplane {

enum class FluxKind { hllc, rusanov };

template <class T>
using GasState = std::array<T, 5>;

/// An ideal gas.
struct Gas {
    double gamma = 1.4;                    ///< ratio of the heat capacities
    double less_one = gamma - 1;           ///< gamma - 1
    double over_less_one = 1 / less_one;   ///< 1 / (gamma - 1), stored because divisions are slow
    double ratio = gamma * over_less_one;  ///< gamma / (gamma - 1)

    template <class T>
    HYPERPLANE_HD T kinetic(const GasState<T>& q) const {
        return 0.5 * fused(q[1], q[1], fused(q[2], q[2], q[3] * q[3]));
    }
    /// E = p / (gamma - 1) + rho |u|^2 / 2
    template <class T>
    HYPERPLANE_HD T energy(const GasState<T>& q) const {
        return fused(q[0], kinetic(q), over_less_one * q[4]);
    }
    template <class T>
    HYPERPLANE_HD GasState<T> conserved(const GasState<T>& q) const {
        return {q[0], q[0] * q[1], q[0] * q[2], q[0] * q[3], energy(q)};
    }
    template <class T>
    HYPERPLANE_HD GasState<T> primitive(const GasState<T>& U) const {
        const T inverse = quotient(T(1.0), U[0]);
        const GasState<T> q{U[0], U[1] * inverse, U[2] * inverse, U[3] * inverse, U[4]};
        return {q[0], q[1], q[2], q[3], less_one * fused(-U[0], kinetic(q), U[4])};
    }
    template <class T>
    HYPERPLANE_HD T sound(const GasState<T>& q) const {
        return root(quotient(gamma * q[4], q[0]));
    }
    /// Enthalpy H = (E + p) / rho
    template <class T>
    HYPERPLANE_HD T enthalpy(const GasState<T>& q) const {
        return ratio * quotient(q[4], q[0]) + kinetic(q);
    }
    template <class T>
    HYPERPLANE_HD GasState<T> flux(const GasState<T>& q) const {
        const T mass = q[0] * q[1];
        return {mass, mass * q[1] + q[4], mass * q[2], mass * q[3], q[1] * (energy(q) + q[4])};
    }
};

/// a if `first`, otherwise b, chosen component by component: a choice between two addresses would make a GPU keep both
/// arrays in local memory instead of registers.
template <class T>
HYPERPLANE_HD GasState<T> either(bool first, const GasState<T>& a, const GasState<T>& b) {
    GasState<T> q;
    for (int c = 0; c < 5; ++c) q[c] = first ? a[c] : b[c];
    return q;
}

/// Roe's averages of the states on both sides of a face.
template <class T>
struct RoeAverage {
    T left, right;  ///< weights of the two sides; their sum is 1
    T u, v, w, H, c;
};

template <class T>
HYPERPLANE_HD RoeAverage<T> roe_average(const Gas& gas, const GasState<T>& L, const GasState<T>& R) {
    const T a = root(L[0]), b = root(R[0]), inverse = quotient(T(1.0), a + b);
    RoeAverage<T> roe;
    roe.left = a * inverse;
    roe.right = b * inverse;
    roe.u = roe.left * L[1] + roe.right * R[1];
    roe.v = roe.left * L[2] + roe.right * R[2];
    roe.w = roe.left * L[3] + roe.right * R[3];
    roe.H = roe.left * gas.enthalpy(L) + roe.right * gas.enthalpy(R);
    roe.c = root(gas.less_one * (roe.H - 0.5 * (roe.u * roe.u + roe.v * roe.v + roe.w * roe.w)));
    return roe;
}

/// The side K whose state (or star state) is at the face, the speed x = S_K of its outer wave, and the speed s of the
/// contact.
template <class T>
struct ContactWave {
    bool left;
    T x, s;
};

template <class T>
HYPERPLANE_HD ContactWave<T> contact_wave(const GasState<T>& L, const GasState<T>& R, const T& S_L, const T& S_R) {
    if (S_L >= 0.0) return {true, S_L, L[1]};
    if (S_R <= 0.0) return {false, S_R, R[1]};
    const T m_L = L[0] * (S_L - L[1]), m_R = R[0] * (S_R - R[1]);
    const T s = quotient(R[4] - L[4] + (m_L * L[1] - m_R * R[1]), m_L - m_R);
    return {s >= 0.0, s >= 0.0 ? S_L : S_R, s};
}

template <class T>
HYPERPLANE_HD GasState<T> hllc_flux(const Gas& gas, const GasState<T>& L, const GasState<T>& R) {
    const RoeAverage<T> roe = roe_average(gas, L, R);
    const T own_L = L[1] - gas.sound(L), roe_L = roe.u - roe.c, own_R = R[1] + gas.sound(R), roe_R = roe.u + roe.c;
    const ContactWave<T> wave = contact_wave(L, R, own_L < roe_L ? own_L : roe_L, own_R > roe_R ? own_R : roe_R);
    const GasState<T> q = either(wave.left, L, R);
    const T x = wave.x, s = wave.s;
    const T m = q[0] * (x - q[1]), pressure = q[4] + m * (s - q[1]), over_d = quotient(T(1.0), x - s),
            mass = s * m * over_d;
    const T B = (x - q[1]) * gas.energy(q) - q[4] * q[1] + pressure * x;
    return {mass, mass * s + pressure, mass * q[2], mass * q[3], s * B * over_d};
}

template <class T>
HYPERPLANE_HD GasState<T> rusanov_flux(const Gas& gas, const GasState<T>& L, const GasState<T>& R) {
    using std::abs;
    const T left = abs(L[1]) + gas.sound(L), right = abs(R[1]) + gas.sound(R), speed = left > right ? left : right;
    const GasState<T> f = gas.flux(L), g = gas.flux(R), U = gas.conserved(L), V = gas.conserved(R);
    GasState<T> flux;
    for (int r = 0; r < 5; ++r) flux[r] = 0.5 * (f[r] + g[r] - speed * (V[r] - U[r]));
    return flux;
}

template <FluxKind kind, class T>
HYPERPLANE_HD GasState<T> numerical_flux(const Gas& gas, const GasState<T>& L, const GasState<T>& R) {
    if constexpr (kind == FluxKind::hllc) return hllc_flux(gas, L, R);
    return rusanov_flux(gas, L, R);
}

/// Derivatives of a scalar or of a row of the flux with respect to q_L and q_R.
struct FaceGradient {
    GasState<double> left{}, right{};
};

/// The derivatives of u^ + sign c^, with Roe's averages u^ and c^.
HYPERPLANE_HD inline FaceGradient roe_gradient(const Gas& gas, const GasState<double>& L, const GasState<double>& R,
                                               const RoeAverage<double>& roe, double sign) {
    const double g = gas.ratio, k = quotient(sign * gas.less_one, 2 * roe.c);
    const double turn = roe.u * (L[1] - R[1]) + roe.v * (L[2] - R[2]) + roe.w * (L[3] - R[3]);
    const double T = L[1] - R[1] + k * (gas.enthalpy(L) - gas.enthalpy(R) - turn);
    const double shift =
        0.5 * roe.left * roe.right * T;  // d(left) = left right (d rho_L / rho_L - d rho_R / rho_R) / 2
    const auto side = [&](const GasState<double>& q, double weight, double moved) {
        const double kw = k * weight, over_rho = quotient(1.0, q[0]);
        return GasState<double>{fused(-kw * g, q[4] * over_rho, moved) * over_rho, fused(kw, q[1] - roe.u, weight),
                                kw * (q[2] - roe.v), kw * (q[3] - roe.w), kw * g * over_rho};
    };
    return {side(L, roe.left, shift), side(R, roe.right, -shift)};
}

/// The derivatives of the HLLC flux: those at fixed x and s, with respect to side K only, plus those through x and s.
class HllcDerivative {
public:
    HllcDerivative() = default;
    HYPERPLANE_HD HllcDerivative(const Gas& gas, const GasState<double>& L, const GasState<double>& R) {
        const RoeAverage<double> roe = roe_average(gas, L, R);
        const double c_L = gas.sound(L), c_R = gas.sound(R);
        const bool own_L = L[1] - c_L<roe.u - roe.c, own_R = R[1] + c_R> roe.u + roe.c;
        const double S_L = own_L ? L[1] - c_L : roe.u - roe.c, S_R = own_R ? R[1] + c_R : roe.u + roe.c;
        const ContactWave<double> wave = contact_wave(L, R, S_L, S_R);
        left_ = wave.left;
        q_ = either(left_, L, R);
        x_ = wave.x;
        s_ = wave.s;
        if (S_L >= 0.0 || S_R <= 0.0) {
            ds_.left[1] = left_ ? 1.0 : 0.0;
            ds_.right[1] = left_ ? 0.0 : 1.0;
        } else {
            FaceGradient dS_L, dS_R;
            if (own_L)
                dS_L.left = {quotient(0.5 * c_L, L[0]), 1.0, 0.0, 0.0, quotient(-0.5 * c_L, L[4])};
            else
                dS_L = roe_gradient(gas, L, R, roe, -1.0);
            if (own_R)
                dS_R.right = {quotient(-0.5 * c_R, R[0]), 1.0, 0.0, 0.0, quotient(0.5 * c_R, R[4])};
            else
                dS_R = roe_gradient(gas, L, R, roe, 1.0);
            contact_gradient(L, R, S_L, S_R, dS_L, dS_R);
            dx_ = {either(left_, dS_L.left, dS_R.left), either(left_, dS_L.right, dS_R.right)};
        }
        energy_ = gas.energy(q_);
        m_ = q_[0] * (x_ - q_[1]);
        pressure_ = q_[4] + m_ * (s_ - q_[1]);
        over_d_ = quotient(1.0, x_ - s_);
    }

    /// Derivatives of row `row` of the flux.
    template <int row>
    HYPERPLANE_HD FaceGradient gradient(const Gas& gas) const {
        GasState<double> direct{};
        double by_x, by_s;
        partial<row>(gas, direct, by_x, by_s);
        FaceGradient d;
        for (int c = 0; c < 5; ++c) {
            d.left[c] = fused(by_x, dx_.left[c], fused(by_s, ds_.left[c], left_ ? direct[c] : 0.0));
            d.right[c] = fused(by_x, dx_.right[c], fused(by_s, ds_.right[c], left_ ? 0.0 : direct[c]));
        }
        return d;
    }

private:
    /// ds = (dp_R - dp_L + (u_L - s) dm_L + m_L du_L - (u_R - s) dm_R - m_R du_R) / (m_L - m_R)
    HYPERPLANE_HD void contact_gradient(const GasState<double>& L, const GasState<double>& R, double S_L, double S_R,
                                        const FaceGradient& dS_L, const FaceGradient& dS_R) {
        const double m_L = L[0] * (S_L - L[1]), m_R = R[0] * (S_R - R[1]), inverse = quotient(1.0, m_L - m_R);
        const double a = (L[1] - s_) * inverse, b = (R[1] - s_) * inverse;
        for (int c = 0; c < 5; ++c) {
            ds_.left[c] = fused(a * L[0], dS_L.left[c], -b * R[0] * dS_R.left[c]);
            ds_.right[c] = fused(a * L[0], dS_L.right[c], -b * R[0] * dS_R.right[c]);
        }
        ds_.left[0] += a * (S_L - L[1]);
        ds_.left[1] += m_L * inverse - a * L[0];
        ds_.left[4] -= inverse;
        ds_.right[0] -= b * (S_R - R[1]);
        ds_.right[1] -= m_R * inverse - b * R[0];
        ds_.right[4] += inverse;
    }

    /// The partial derivatives of row `row` of the flux: with respect to q_K (`direct`), to x and to s.
    template <int row>
    HYPERPLANE_HD void partial([[maybe_unused]] const Gas& gas, GasState<double>& direct, double& by_x,
                               double& by_s) const {
        const auto& [rho, u, v, w, p] = q_;
        const double x_u = x_ - u, s_u = s_ - u, mass = s_ * m_ * over_d_;
        const double mass_rho = s_ * x_u * over_d_, mass_u = -s_ * rho * over_d_;
        const double mass_x = fused(s_, rho, -mass) * over_d_, mass_s = (m_ + mass) * over_d_;
        const double p_rho = x_u * s_u, p_x = rho * s_u, p_u = -p_x - m_;
        if constexpr (row == 0) {
            direct = {mass_rho, mass_u, 0.0, 0.0, 0.0};
            by_x = mass_x;
            by_s = mass_s;
        } else if constexpr (row == 1) {
            direct = {fused(mass_rho, s_, p_rho), fused(mass_u, s_, p_u), 0.0, 0.0, 1.0};
            by_x = fused(mass_x, s_, p_x);
            by_s = fused(mass_s, s_, mass + m_);
        } else if constexpr (row < 4) {
            const double along = row == 2 ? v : w;
            direct = {mass_rho * along, mass_u * along, 0.0, 0.0, 0.0};
            direct[row] = mass;
            by_x = mass_x * along;
            by_s = mass_s * along;
        } else {
            const double r = s_ * over_d_, B = fused(x_u, energy_, fused(pressure_, x_, -p * u));
            direct = {r * fused(x_u, gas.kinetic(q_), x_ * p_rho), r * fused(m_, u, fused(x_, p_u, -energy_ - p)),
                      r * m_ * v, r * m_ * w, r * x_u * gas.ratio};
            by_x = r * fused(x_, p_x, fused(-B, over_d_, energy_ + pressure_));
            by_s = fused(s_ * x_, m_, fused(r, B, B)) * over_d_;
        }
    }

    bool left_;
    GasState<double> q_;
    double x_, s_, energy_, m_, pressure_, over_d_;
    FaceGradient dx_, ds_;
};

/// The derivatives of Rusanov's flux; with `frozen`, lambda is treated as a constant.
class RusanovDerivative {
public:
    RusanovDerivative() = default;
    HYPERPLANE_HD RusanovDerivative(const Gas& gas, const GasState<double>& L, const GasState<double>& R, bool frozen)
        : L_(L), R_(R) {
        const double c_L = gas.sound(L), c_R = gas.sound(R);
        const double left = std::abs(L[1]) + c_L, right = std::abs(R[1]) + c_R;
        speed_ = left > right ? left : right;
        if (frozen) return;
        if (left > right)
            dspeed_.left = {quotient(-0.5 * c_L, L[0]), L[1] < 0.0 ? -1.0 : 1.0, 0.0, 0.0, quotient(0.5 * c_L, L[4])};
        else
            dspeed_.right = {quotient(-0.5 * c_R, R[0]), R[1] < 0.0 ? -1.0 : 1.0, 0.0, 0.0, quotient(0.5 * c_R, R[4])};
    }

    template <int row>
    HYPERPLANE_HD FaceGradient gradient(const Gas& gas) const {
        const double jump = gas.conserved(R_)[row] - gas.conserved(L_)[row];
        const GasState<double> a = side<row>(gas, L_, speed_), b = side<row>(gas, R_, -speed_);
        FaceGradient d;
        for (int c = 0; c < 5; ++c) {
            d.left[c] = 0.5 * fused(-jump, dspeed_.left[c], a[c]);
            d.right[c] = 0.5 * fused(-jump, dspeed_.right[c], b[c]);
        }
        return d;
    }

private:
    /// Row `row` of d(F(U) + speed U) / dq.
    template <int row>
    HYPERPLANE_HD static GasState<double> side([[maybe_unused]] const Gas& gas, const GasState<double>& q,
                                               double speed) {
        const auto& [rho, u, v, w, p] = q;
        const double moved = u + speed;
        if constexpr (row == 0) return {moved, rho, 0.0, 0.0, 0.0};
        if constexpr (row == 1) return {u * moved, rho * (u + moved), 0.0, 0.0, 1.0};
        if constexpr (row == 2) return {v * moved, rho * v, rho * moved, 0.0, 0.0};
        if constexpr (row == 3) return {w * moved, rho * w, 0.0, rho * moved, 0.0};
        if constexpr (row == 4)
            return {gas.kinetic(q) * moved, gas.energy(q) + p + rho * u * moved, rho * v * moved, rho * w * moved,
                    u + gas.over_less_one * moved};
    }

    GasState<double> L_, R_;
    double speed_;
    FaceGradient dspeed_;
};

/// With `frozen`, the speed lambda of rusanov is treated as a constant; hllc always differentiates its speeds.
template <FluxKind kind>
HYPERPLANE_HD auto flux_derivative(const Gas& gas, const GasState<double>& L, const GasState<double>& R, bool frozen) {
    if constexpr (kind == FluxKind::hllc)
        return HllcDerivative(gas, L, R);
    else
        return RusanovDerivative(gas, L, R, frozen);
}

}  // namespace hyperplane
