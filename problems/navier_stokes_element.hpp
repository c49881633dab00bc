// One trilinear (Q1) box element of navier_stokes.hpp: fields at its Gauss points, its residual, its Jacobian.
//
// Corners and the 2 x 2 x 2 Gauss points are numbered by bits, x + 2 y + 4 z. Along an axis the shape functions of
// a Gauss point's near and far corner are (1 +- 1/sqrt 3) / 2, their derivatives +-1/h. Sums over Gauss points
// factorise by axis: `blend` is both the interpolation from corners and the sum of N_b f over Gauss points, as it is
// symmetric.
//
// T is the number of the unknowns: double on a device, Pack on the host, dual numbers in tests; G that of geometry
// and of earlier states.
#pragma once

#include "problems/pack.hpp"
#include "problems/unrolled.hpp"

namespace hyperplane::q1 {

inline constexpr double near_value = 0.78867513459481287, far_value = 0.21132486540518713;

/// N of a corner at a Gauss point, along one axis.
HYPERPLANE_HD constexpr double shape(int corner, int point) {
    return corner == point ? near_value : far_value;
}
/// Sum of N_a N_b over the two Gauss points of an axis.
HYPERPLANE_HD constexpr double overlap(int a, int b) {
    return a == b ? 2.0 / 3.0 : 1.0 / 3.0;
}
HYPERPLANE_HD constexpr int bit(int corner, int axis) {
    return corner >> axis & 1;
}
/// The number without the bit of `axis`, in 0..3.
HYPERPLANE_HD constexpr int without(int axis, int q) {
    return axis == 0 ? q >> 1 : axis == 1 ? (q & 1) | (q >> 2 << 1) : q & 3;
}
/// The inverse: `side` becomes the bit of `axis`.
HYPERPLANE_HD constexpr int with(int axis, int r, int side) {
    return axis == 0 ? r << 1 | side : axis == 1 ? (r & 1) | side << 1 | r >> 1 << 2 : r | side << 2;
}

/// Along one axis, corners to Gauss points, or the sums of N_b f.
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

/// sums += the sums of dN_b f along one axis, the other axes still to be summed.
template <int axis, class T, class G>
HYPERPLANE_HD void add_slope(T (&sums)[8], const T (&f)[8], const G& inverse_h) {
    for (int r = 0; r < 4; ++r) {
        const T s = (f[with(axis, r, 0)] + f[with(axis, r, 1)]) * inverse_h;
        sums[with(axis, r, 0)] -= s;
        sums[with(axis, r, 1)] += s;
    }
}

/// The derivative along `axis` of a field given at the corners, at the 4 places where it differs.
template <int axis, class T, class G>
HYPERPLANE_HD void slope_along(const T (&f)[8], const G& inverse_h, T (&s)[4]) {
    for (int r = 0; r < 4; ++r) s[r] = (f[with(axis, r, 1)] - f[with(axis, r, 0)]) * inverse_h;
    for (int step = 2; step >= 1; --step)
        for (int at = 0; at < 4; ++at) {
            if (at & step) continue;
            const T first = s[at], difference = s[at | step] - first;
            s[at] = fused(far_value, difference, first);
            s[at | step] = fused(near_value, difference, first);
        }
}

/// What an element is computed from, but for its states. An Element has further
///     T value(int k, int c) const;   u, v, w or p at corner c
///     G known(int k, int c) const;   what its time derivative takes from earlier states
template <class G>
struct ElementTerms {
    G inverse_h[3];  ///< 1 / h along each axis
    G weight;        ///< of a Gauss point, an eighth of the volume; 0 where there is no element
    G tau;           ///< of the stabilisation
    G scale;         ///< of this element's part in a row that prescribes a velocity
    double mass;     ///< rate of the time derivative
    double viscosity;
    double compliance;  ///< 1 / beta
};

/// Shape function N_a of one corner.
template <class G>
struct Corner {
    double value[3][2];  ///< along each axis, at its two Gauss points
    G slope[3];          ///< along each axis

    HYPERPLANE_HD Corner(int a, const G (&inverse_h)[3]) {
        for (int axis = 0; axis < 3; ++axis) {
            for (int q = 0; q < 2; ++q) value[axis][q] = shape(bit(a, axis), q);
            slope[axis] = bit(a, axis) ? inverse_h[axis] : -inverse_h[axis];
        }
    }
    HYPERPLANE_HD double at(int q) const { return value[0][bit(q, 0)] * value[1][bit(q, 1)] * value[2][bit(q, 2)]; }
    /// The derivative along `axis` at place r of the other two axes.
    HYPERPLANE_HD G gradient(int axis, int r) const {
        const int q = with(axis, r, 0), d = axis == 0 ? 1 : 0, e = axis == 2 ? 1 : 2;
        return slope[axis] * G(value[d][bit(q, d)] * value[e][bit(q, e)]);
    }
};

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
/// What the time derivative of unknown k is at the Gauss points.
template <class Element, class T>
HYPERPLANE_HD void rate_at_points(const Element& element, int k, T (&rate)[8]) {
    for (int c = 0; c < 8; ++c) rate[c] = fused(T(element.mass), element.value(k, c), T(element.known(k, c)));
    blend_all(rate);
}

/// Slopes of u_i, and R_i = u_t + u . grad u_i + dp/dx_i at the Gauss points.
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

/// w tau u . grad N_a at the Gauss points.
template <class Element, class G, class T>
HYPERPLANE_HD void streamline_weight(const Element& element, const Corner<G>& corner, const T (&u)[3][8],
                                     T (&advection)[8]) {
    const G scale = element.weight * element.tau;
    for (int q = 0; q < 8; ++q) {
        T sum = u[0][q] * corner.gradient(0, without(0, q));
        for (int d = 1; d < 3; ++d) sum = fused(u[d][q], T(corner.gradient(d, without(d, q))), sum);
        advection[q] = sum * scale;
    }
}

/// What corner a's row of momentum i gets; pressure_row += the part of div u and grad N_a . R that is along i.
template <int i, class Element, class G, class T>
HYPERPLANE_HD T momentum_residual(const Element& element, const Corner<G>& corner, const T (&u)[3][8],
                                  const T (&advection)[8], const T (&p)[8], T& pressure_row) {
    T slope[3][4], r[8], corners[8], pressure[4];
    momentum_at_points<i>(element, u, slope, r);
    values_at_corners(element, 3, corners);
    slope_along<i>(corners, element.inverse_h[i], pressure);
    T sum = T(0.0), tested = T(0.0), divergence = T(0.0), stabilised = T(0.0);
    for (int q = 0; q < 8; ++q) {
        T plain = -(p[q] * corner.gradient(i, without(i, q)));
        for (int d = 0; d < 3; ++d)
            plain = fused(slope[d][without(d, q)], T(element.viscosity * corner.gradient(d, without(d, q))), plain);
        plain = fused(T(corner.at(q)), r[q] - pressure[without(i, q)], plain);
        sum += plain;
        tested = fused(advection[q], r[q], tested);
        divergence = fused(T(corner.at(q)), slope[i][without(i, q)], divergence);
        stabilised = fused(r[q], T(corner.gradient(i, without(i, q))), stabilised);
    }
    pressure_row += (divergence + stabilised * element.tau) * element.weight;
    return fused(sum, T(element.weight), tested);
}

/// f += the residual of corner a's four rows:
///   F_i = sum w {N_a (R_i - dp/dx_i) + nu grad N_a . grad u_i - dN_a/dx_i p + tau (u . grad N_a) R_i}
///   F_p = sum w {N_a [p_t / beta + div u] + tau grad N_a . R}
template <class Element, class T>
HYPERPLANE_HD void add_residual(const Element& element, int a, T (&f)[4]) {
    const Corner corner(a, element.inverse_h);
    T u[3][8], advection[8], p[8], rate[8];
    velocity_at_points(element, u);
    streamline_weight(element, corner, u, advection);
    values_at_corners(element, 3, p);
    blend_all(p);
    f[0] += momentum_residual<0>(element, corner, u, advection, p, f[3]);
    f[1] += momentum_residual<1>(element, corner, u, advection, p, f[3]);
    f[2] += momentum_residual<2>(element, corner, u, advection, p, f[3]);
    rate_at_points(element, 3, rate);
    T sum = T(0.0);
    for (int q = 0; q < 8; ++q) sum = fused(T(corner.at(q)), rate[q], sum);
    f[3] += sum * (element.compliance * element.weight);
}

}  // namespace hyperplane::q1
