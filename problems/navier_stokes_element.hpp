// SPDX-License-Identifier: BSD-3-Clause
// One trilinear (Q1) box element of navier_stokes.hpp: fields at its Gauss points, its residual, its Jacobian.
//
// Corners and the 2 x 2 x 2 Gauss points are numbered by bits, x + 2 y + 4 z. Along an axis the shape functions of
// a Gauss point's near and far corner are (1 +- 1/sqrt 3) / 2, their derivatives +-1/h. Sums over Gauss points
// factorise by axis. Since the matrix N_b(q) is symmetric, `blend` is both the interpolation from corners to Gauss
// points and the sum of N_b f over Gauss points.
//
// T is the number type of the unknowns: double on a device, Pack on the host, dual numbers in tests. G is the number
// type of geometry and of earlier states.
#pragma once

#include "problems/pack.hpp"
#include "problems/unrolled.hpp"

namespace hyperplane::q1 {

inline constexpr double near_value = 0.78867513459481287, far_value = 0.21132486540518713;

/// The shape function of a corner at a Gauss point, along one axis.
HYPERPLANE_HD constexpr double shape(int corner, int point) {
    return corner == point ? near_value : far_value;
}
/// The sum of N_a N_b over the two Gauss points of an axis.
HYPERPLANE_HD constexpr double overlap(int a, int b) {
    return a == b ? 2.0 / 3.0 : 1.0 / 3.0;
}
HYPERPLANE_HD constexpr int bit(int corner, int axis) {
    return corner >> axis & 1;
}
/// The number q without the bit of `axis`, in 0..3.
HYPERPLANE_HD constexpr int without(int axis, int q) {
    return axis == 0 ? q >> 1 : axis == 1 ? (q & 1) | (q >> 2 << 1) : q & 3;
}
/// The inverse of `without`: inserts `side` as the bit of `axis`.
HYPERPLANE_HD constexpr int with(int axis, int r, int side) {
    return axis == 0 ? r << 1 | side : axis == 1 ? (r & 1) | side << 1 | r >> 1 << 2 : r | side << 2;
}

/// Interpolates along one axis from corners to Gauss points, or sums N_b f over the Gauss points.
template <int axis, class T>
HYPERPLANE_HD void blend(T (&f)[8]) {
    for (int r = 0; r < 4; ++r) {
        T &low = f[with(axis, r, 0)], &high = f[with(axis, r, 1)];
        const T first = low, difference = high - low;
        low = fused(far_value, difference, first);
        high = fused(near_value, difference, first);
    }
}
template <class T>
HYPERPLANE_HD void blend_all(T (&f)[8]) {
    blend<2>(f);
    blend<1>(f);
    blend<0>(f);
}

/// sums[b] += the sums of dN_b f over the Gauss points along one axis; the sums along the other axes follow.
template <int axis, class T, class G>
HYPERPLANE_HD void add_slope(T (&sums)[8], const T (&f)[8], const G& inverse_h) {
    for (int r = 0; r < 4; ++r) {
        T &low = sums[with(axis, r, 0)], &high = sums[with(axis, r, 1)];
        const T s = f[with(axis, r, 0)] + f[with(axis, r, 1)];
        low = fused(-inverse_h, s, low);
        high = fused(inverse_h, s, high);
    }
}

/// The same as blend_all, over two axes.
template <class T>
HYPERPLANE_HD void blend_places(T (&s)[4]) {
    const auto blend_pair = [](T& low, T& high) {
        const T first = low, difference = high - low;
        low = fused(far_value, difference, first);
        high = fused(near_value, difference, first);
    };
    blend_pair(s[0], s[2]);
    blend_pair(s[1], s[3]);
    blend_pair(s[0], s[1]);
    blend_pair(s[2], s[3]);
}
/// The derivative along `axis` of a field given at the corners. It is constant along the axis, so s has 4 values.
template <int axis, class T, class G>
HYPERPLANE_HD void slope_along(const T (&f)[8], const G& inverse_h, T (&s)[4]) {
    for (int r = 0; r < 4; ++r) s[r] = (f[with(axis, r, 1)] - f[with(axis, r, 0)]) * inverse_h;
    blend_places(s);
}

/// The data of an element except its states, in axes that lead from one of its corners, which has number 0, to the
/// others. An Element also has
///     T value(int k, int c) const;   u, v, w or p at corner c; velocity components are along the grid's axes
///     T rate(int k, int c) const;    the time derivative of that
template <class G>
struct ElementTerms {
    G inverse_h[3];  ///< 1 / h along each axis, negative if the axis leads to smaller coordinates
    G weight;        ///< weight of a Gauss point, an eighth of the volume; 0 if there is no element
    G tau;           ///< the stabilisation parameter
    G scale;         ///< this element's part of s in a row that prescribes a velocity
    double mass;     ///< coefficient of u in the time derivative
    double viscosity;
    double compliance;  ///< 1 / beta

    /// dN_0 / dx_axis at Gauss point r (0..3) of the other two axes.
    HYPERPLANE_HD G gradient(int axis, int r) const {
        return inverse_h[axis] * G(-(shape(0, r & 1) * shape(0, r >> 1)));
    }
};

/// N_0 at a Gauss point.
HYPERPLANE_HD constexpr double shape_of_0(int q) {
    return shape(0, bit(q, 0)) * shape(0, bit(q, 1)) * shape(0, bit(q, 2));
}

template <class Element, class T>
HYPERPLANE_HD void values_at_corners(const Element& element, int k, T (&f)[8]) {
    for (int c = 0; c < 8; ++c) f[c] = element.value(k, c);
}
template <class Element, class T>
HYPERPLANE_HD void velocity_at_points(const Element& element, T (&u)[3][8]) {
    for (int d = 0; d < 3; ++d) {
        values_at_corners(element, d, u[d]);
        blend_all(u[d]);
    }
}
/// The time derivative of unknown k at the Gauss points.
template <class Element, class T>
HYPERPLANE_HD void rate_at_points(const Element& element, int k, T (&rate)[8]) {
    for (int c = 0; c < 8; ++c) rate[c] = element.rate(k, c);
    blend_all(rate);
}

/// The derivatives of u_i, and R_i = u_t + u . grad u_i + dp/dx_i, at the Gauss points.
template <int i, class Element, class T>
HYPERPLANE_HD void momentum_at_points(const Element& element, const T (&u)[3][8], T (&slope)[3][4], T (&r)[8]) {
    T corners[8], pressure[4];
    values_at_corners(element, 3, corners);
    slope_along<i>(corners, element.inverse_h[i], pressure);
    values_at_corners(element, i, corners);
    slope_along<0>(corners, element.inverse_h[0], slope[0]);
    slope_along<1>(corners, element.inverse_h[1], slope[1]);
    slope_along<2>(corners, element.inverse_h[2], slope[2]);
    rate_at_points(element, i, r);
    for (int q = 0; q < 8; ++q) {
        T sum = r[q] + pressure[without(i, q)];
        for (int j = 0; j < 3; ++j) sum = fused(u[j][q], slope[j][without(j, q)], sum);
        r[q] = sum;
    }
}

/// w tau u . grad N_0 at the Gauss points.
template <class Element, class T>
HYPERPLANE_HD void streamline_weight(const Element& element, const T (&u)[3][8], T (&advection)[8]) {
    const auto scale = element.weight * element.tau;
    for (int q = 0; q < 8; ++q) {
        T sum = u[0][q] * element.gradient(0, without(0, q));
        for (int d = 1; d < 3; ++d) sum = fused(u[d][q], T(element.gradient(d, without(d, q))), sum);
        advection[q] = sum * scale;
    }
}

/// The element's contribution to corner 0's row of momentum i; adds the terms of div u and grad N_0 . R that belong to
/// axis i to pressure_row.
template <int i, class Element, class T>
HYPERPLANE_HD T momentum_residual(const Element& element, const T (&u)[3][8], const T (&advection)[8], const T (&p)[8],
                                  T& pressure_row) {
    T slope[3][4], r[8], corners[8], pressure[4];
    momentum_at_points<i>(element, u, slope, r);
    values_at_corners(element, 3, corners);
    slope_along<i>(corners, element.inverse_h[i], pressure);
    T sum = T(0.0), tested = T(0.0), divergence = T(0.0), stabilised = T(0.0);
    for (int q = 0; q < 8; ++q) {
        T plain = -(p[q] * element.gradient(i, without(i, q)));
        for (int d = 0; d < 3; ++d) {
            plain = fused(slope[d][without(d, q)], T(element.viscosity * element.gradient(d, without(d, q))), plain);
        }
        plain = fused(T(shape_of_0(q)), r[q] - pressure[without(i, q)], plain);
        sum += plain;
        tested = fused(advection[q], r[q], tested);
        divergence = fused(T(shape_of_0(q)), slope[i][without(i, q)], divergence);
        stabilised = fused(r[q], T(element.gradient(i, without(i, q))), stabilised);
    }
    pressure_row += (divergence + stabilised * element.tau) * element.weight;
    return fused(sum, T(element.weight), tested);
}

/// f += the element's contribution to the residual in corner 0's four rows, with N = N_0:
///   F_i = sum w {N (R_i - dp/dx_i) + nu grad N . grad u_i - dN/dx_i p + tau (u . grad N) R_i}
///   F_p = sum w {N [p_t / beta + div u] + tau grad N . R}
template <class Element, class T>
HYPERPLANE_HD void add_residual(const Element& element, T (&f)[4]) {
    T u[3][8], advection[8], p[8], rate[8];
    velocity_at_points(element, u);
    streamline_weight(element, u, advection);
    values_at_corners(element, 3, p);
    blend_all(p);
    f[0] += momentum_residual<0>(element, u, advection, p, f[3]);
    f[1] += momentum_residual<1>(element, u, advection, p, f[3]);
    f[2] += momentum_residual<2>(element, u, advection, p, f[3]);
    rate_at_points(element, 3, rate);
    T sum = T(0.0);
    for (int q = 0; q < 8; ++q) sum = fused(T(shape_of_0(q)), rate[q], sum);
    f[3] += sum * (element.compliance * element.weight);
}

}  // namespace hyperplane::q1
