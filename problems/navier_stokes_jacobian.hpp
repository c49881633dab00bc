// SPDX-License-Identifier: BSD-3-Clause
// The Jacobian of navier_stokes_element.hpp, for the matrix rows of the element's corner 0.
//
// Differentiating F with tau frozen gives, with c the rate of the time derivative, D_b = c N_b + u . grad N_b and
// S = N + tau u . grad N, N = N_0, at each Gauss point of weight w,
//   K(u_i, u_j) = w {S (delta_ij D_b + N_b du_i/dx_j) + nu delta_ij grad N . grad N_b + tau N_b dN/dx_j R_i}
//   K(u_i, p)   = w {-dN/dx_i N_b + tau (u . grad N) dN_b/dx_i}
//   K(p, u_j)   = w {N dN_b/dx_j + tau [dN/dx_j D_b + N_b grad N . du/dx_j]}
//   K(p, p)     = w {N N_b c / beta + tau grad N . grad N_b}
//
// Rows are computed one after the other, so that the values that a GPU's thread needs stay in its registers: first the
// terms that all rows share, then the three rows of momentum, then the pressure's row by columns. Each coefficient is
// passed to put(b, column, value), where b is a corner.
#pragma once

#include "problems/navier_stokes_element.hpp"

namespace hyperplane::q1 {

/// The terms that the rows of a corner share.
template <class T>
struct CornerTerms {
    T velocity[3][8];  ///< at the Gauss points
    T test[8];         ///< w S
};

/// On entry `sums` holds f at the Gauss points; on return sums[b] is the sum over the Gauss points of
/// N_b f + sum_d dN_b/dx_d along[d].
template <class T, class G>
HYPERPLANE_HD void sum_by_corner(T (&along)[3][8], T (&sums)[8], const G (&inverse_h)[3]) {
    blend<2>(sums);
    add_slope<2>(sums, along[2], inverse_h[2]);
    blend<2>(along[0]);
    blend<2>(along[1]);
    blend<1>(sums);
    add_slope<1>(sums, along[1], inverse_h[1]);
    blend<1>(along[0]);
    blend<0>(sums);
    add_slope<0>(sums, along[0], inverse_h[0]);
}

/// Computes `terms`, and in transport[b] the part of K(u_i, u_j) for corner b that delta_ij multiplies.
template <class Element, class T, class Transport>
HYPERPLANE_HD void make_corner_terms(const Element& element, CornerTerms<T>& terms, const Transport& transport) {
    T advection[8], along[3][8], sums[8];
    velocity_at_points(element, terms.velocity);
    streamline_weight(element, terms.velocity, advection);
    const T diffusion = element.weight * T(element.viscosity);
    for_constants<8>([&](auto q) {
        const T test = fused(T(shape_of_0(q)), element.weight, advection[q]);
        terms.test[q] = test;
        sums[q] = test * T(element.mass);
        for_constants<3>([&](auto d) {
            along[d][q] = fused(test, terms.velocity[d][q], diffusion * element.gradient(d, without(d, q)));
        });
    });
    sum_by_corner(along, sums, element.inverse_h);
    for_constants<8>([&](auto b) { transport[b] = sums[b]; });
}

/// The overlap of N_0 and N_b along the two axes other than `axis`.
HYPERPLANE_HD constexpr double overlap_across(int axis, int b) {
    const int r = without(axis, b);
    return overlap(0, r & 1) * overlap(0, r >> 1);
}

/// Replaces f at the Gauss points by the sums of dN_b/dx_i f over the Gauss points, in f[b].
template <int i, class T, class G>
HYPERPLANE_HD void sum_slopes(T (&f)[8], const G& inverse_h) {
    T sums[4];
    for_constants<4>([&](auto r) { sums[r] = (f[with(i, r, 0)] + f[with(i, r, 1)]) * inverse_h; });
    blend_places(sums);
    for_constants<4>([&](auto r) {
        f[with(i, r, 0)] = -sums[r];
        f[with(i, r, 1)] = sums[r];
    });
}

/// Row i of momentum.
template <int i, class Element, class T, class Transport, class Put>
HYPERPLANE_HD void momentum_row(const Element& element, const CornerTerms<T>& terms, const Transport& transport,
                                const Put& put) {
    T slope[3][4], r[8], f[8];
    momentum_at_points<i>(element, terms.velocity, slope, r);
    const T scale = element.weight * element.tau;
    for (int q = 0; q < 8; ++q) r[q] = r[q] * scale;
    for_constants<3>([&](auto j) {
        for_constants<8>([&](auto q) {
            f[q] = fused(terms.test[q], slope[j][without(j, q)], r[q] * element.gradient(j, without(j, q)));
        });
        blend_all(f);
        for_constants<8>([&](auto b) { put(b, j, i == j ? f[b] + transport[b] : f[b]); });
    });
    // tau u . grad N = S - N; the terms N dN_b/dx_i and dN/dx_i N_b cancel if b is at the other end along i
    for (int q = 0; q < 8; ++q) f[q] = terms.test[q];
    sum_slopes<i>(f, element.inverse_h[i]);
    const T both = (element.weight + element.weight) * element.inverse_h[i];
    for_constants<8>([&](auto b) { put(b, 3, bit(b, i) ? f[b] : fused(both, T(overlap_across(i, b)), f[b])); });
}

/// Column j of the pressure's row.
template <int j, class Element, class T, class Put>
HYPERPLANE_HD void continuity_column(const Element& element, const CornerTerms<T>& terms, const Put& put) {
    T sums[8], along[3][8], slope[3][4];
    for (int i = 0; i < 3; ++i) {
        values_at_corners(element, i, sums);
        slope_along<j>(sums, element.inverse_h[j], slope[i]);
    }
    for_constants<8>([&](auto q) {
        const T gradient = element.gradient(j, without(j, q));
        T sum = gradient * T(element.mass);
        for_constants<3>([&](auto i) {
            sum = fused(T(element.gradient(i, without(i, q))), slope[i][without(j, q)], sum);
            along[i][q] = gradient * terms.velocity[i][q];
        });
        sums[q] = sum;
    });
    sum_by_corner(along, sums, element.inverse_h);
    const T scale = element.weight * element.tau, flux = element.weight * element.inverse_h[j];
    for_constants<8>([&](auto b) {
        put(b, j, fused(scale, sums[b], flux * T(bit(b, j) ? overlap_across(j, b) : -overlap_across(j, b))));
    });
}

/// The pressure's own column of its row.
template <class Element, class Put>
HYPERPLANE_HD void pressure_column(const Element& element, const Put& put) {
    using T = std::remove_cvref_t<decltype(element.weight)>;
    const T scale = element.weight * element.tau, mass = element.weight * T(element.mass * element.compliance);
    T squared[3];
    for (int axis = 0; axis < 3; ++axis) squared[axis] = element.inverse_h[axis] * element.inverse_h[axis] * scale;
    for_constants<8>([&](auto b) {
        T sum = mass * T(overlap(0, bit(b, 0)) * overlap(0, bit(b, 1)) * overlap(0, bit(b, 2)));
        for_constants<3>([&](auto axis) {
            const double across = 2.0 * overlap_across(axis, b);
            sum = fused(squared[axis], T(bit(b, axis) ? -across : across), sum);
        });
        put(b, 3, sum);
    });
}

/// Row `row`: 0, 1, 2 are those of momentum, 3 is the pressure's.
template <int row, class Element, class T, class Transport, class Put>
HYPERPLANE_HD void make_row(const Element& element, const CornerTerms<T>& terms, const Transport& transport,
                            const Put& put) {
    if constexpr (row < 3) {
        momentum_row<row>(element, terms, transport, put);
    } else {
        for_constants<3>([&](auto j) { continuity_column<j>(element, terms, put); });
        pressure_column(element, put);
    }
}

}  // namespace hyperplane::q1
