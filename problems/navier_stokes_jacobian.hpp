// The Jacobian of navier_stokes_element.hpp by rows of the matrix, in two stages that share little arithmetic twice.
//
// Differentiating F with tau frozen gives, with c the rate of the time derivative, D_b = c N_b + u . grad N_b and
// S_a = N_a + tau u . grad N_a, at each Gauss point of weight w,
//   K(u_i, u_j) = w {S_a (delta_ij D_b + N_b du_i/dx_j) + nu delta_ij grad N_a . grad N_b + tau N_b dN_a/dx_j R_i}
//   K(u_i, p)   = w {-dN_a/dx_i N_b + tau (u . grad N_a) dN_b/dx_i}
//   K(p, u_j)   = w {N_a dN_b/dx_j + tau [dN_a/dx_j D_b + N_b grad N_a . du/dx_j]}
//   K(p, p)     = w {N_a N_b c / beta + tau grad N_a . grad N_b}
//
// Stage 1 takes an element and one of its corners a, and stores what rows and columns of the 4 x 4 blocks have in
// common (CornerTerms). Stage 2 makes for one point a row of the three momentum equations, or a column of the
// pressure's, in the 9 blocks of one layer of neighbours in z: few enough sums for registers.
#pragma once

#include "problems/navier_stokes_element.hpp"

namespace hyperplane::q1 {

/// Where stage 1 leaves its results: number k at values[k * stride].
template <class T>
struct CornerTerms {
    static constexpr int count = 102;
    T* values;
    int stride;

    HYPERPLANE_HD T& at(int k) const { return values[k * stride]; }
    HYPERPLANE_HD T& test(int q) const { return at(q); }                          ///< w S_a
    HYPERPLANE_HD T& transport(int b) const { return at(8 + b); }                 ///< delta_ij's part of K(u_i, u_j)
    HYPERPLANE_HD T& momentum(int i, int q) const { return at(16 + 8 * i + q); }  ///< w tau R_i
    HYPERPLANE_HD T& slope(int i, int j, int r) const { return at(40 + 12 * i + 4 * j + r); }  ///< du_i/dx_j
    HYPERPLANE_HD T& velocity(int d, int q) const { return at(76 + 8 * d + q); }
    HYPERPLANE_HD T& stabilisation() const { return at(100); }  ///< w tau
    HYPERPLANE_HD T& scale() const { return at(101); }          ///< Element::scale
};

template <int i, class Element, class T>
HYPERPLANE_HD void store_momentum(const Element& element, const T (&u)[3][8], const CornerTerms<T>& terms) {
    T slope[3][4], r[8];
    momentum_at_points<i>(element, u, slope, r);
    const T scale = element.weight * element.tau;
    for (int q = 0; q < 8; ++q) terms.momentum(i, q) = scale * r[q];
    for (int j = 0; j < 3; ++j)
        for (int at = 0; at < 4; ++at) terms.slope(i, j, at) = slope[j][at];
}

/// Stage 1, for corner a of an element.
template <class Element, class T>
HYPERPLANE_HD void store_corner_terms(const Element& element, int a, const CornerTerms<T>& terms) {
    const Corner<T> corner(a, element.inverse_h);
    T u[3][8], advection[8];
    velocity_at_points(element, u);
    streamline_weight(element, corner, u, advection);
    const T diffusion = element.weight * T(element.viscosity);
    T sums[8], along[3][8];
    for (int q = 0; q < 8; ++q) {
        const T test = fused(T(corner.at(q)), element.weight, advection[q]);
        terms.test(q) = test;
        sums[q] = test * T(element.mass);
        for (int d = 0; d < 3; ++d) {
            terms.velocity(d, q) = u[d][q];
            along[d][q] = fused(test, u[d][q], diffusion * corner.gradient(d, without(d, q)));
        }
    }
    blend<2>(sums);
    add_slope<2>(sums, along[2], element.inverse_h[2]);
    blend<2>(along[0]);
    blend<2>(along[1]);
    blend<1>(sums);
    add_slope<1>(sums, along[1], element.inverse_h[1]);
    blend<1>(along[0]);
    blend<0>(sums);
    add_slope<0>(sums, along[0], element.inverse_h[0]);
    for (int b = 0; b < 8; ++b) terms.transport(b) = sums[b];
    terms.stabilisation() = element.weight * element.tau;
    terms.scale() = element.scale;
    store_momentum<0>(element, u, terms);
    store_momentum<1>(element, u, terms);
    store_momentum<2>(element, u, terms);
}

/// Sums over the Gauss points for the 4 corners b of one layer in z, by axes z, y, x in place: f[q] goes to the 4
/// places q = 0..3, corner x + 2 y.
template <class T>
HYPERPLANE_HD void blend_layer(int bz, T (&f)[8]) {
    const double first = shape(bz, 0), second = shape(bz, 1);
    for (int q = 0; q < 4; ++q) f[q] = fused(second, f[q + 4], f[q] * T(first));
}
template <int axis, class T>
HYPERPLANE_HD void blend_plane(T (&f)[8]) {
    for (int r = 0; r < 2; ++r) {
        T &low = f[axis == 0 ? 2 * r : r], &high = f[axis == 0 ? 2 * r + 1 : r + 2];
        const T first = low, difference = high - low;
        low = fused(far_value, difference, first);
        high = fused(near_value, difference, first);
    }
}
template <int axis, class T>
HYPERPLANE_HD void add_plane_slope(T (&sums)[8], const T (&f)[8], const T& inverse_h) {
    for (int r = 0; r < 2; ++r) {
        const int low = axis == 0 ? 2 * r : r, high = axis == 0 ? 2 * r + 1 : r + 2;
        const T s = (f[low] + f[high]) * inverse_h;
        sums[low] -= s;
        sums[high] += s;
    }
}

/// The sums of N_b f[3] and of dN_b/dx_d f[d], in sums[0..3].
template <class T>
HYPERPLANE_HD void layer_sums(int bz, T (&along)[3][8], T (&sums)[8], const T (&inverse_h)[3]) {
    blend_layer(bz, sums);
    const T outward = bz ? inverse_h[2] : -inverse_h[2];
    for (int q = 0; q < 4; ++q) sums[q] += (along[2][q] + along[2][q + 4]) * outward;
    blend_layer(bz, along[0]);
    blend_layer(bz, along[1]);
    blend_plane<1>(sums);
    add_plane_slope<1>(sums, along[1], inverse_h[1]);
    blend_plane<1>(along[0]);
    blend_plane<0>(sums);
    add_plane_slope<0>(sums, along[0], inverse_h[0]);
}

/// The sums of f dN_b/dx_axis over the Gauss points, corners of layer bz: `axis` is known at run time only.
template <class T>
HYPERPLANE_HD void derivative_sums(int axis, int bz, T (&f)[8], const T& inverse_h) {
    const auto weight = [axis](int along, int corner, int point) {
        return along == axis ? (corner ? 1.0 : -1.0) : shape(corner, point);
    };
    const T z0 = inverse_h * T(weight(2, bz, 0)), z1 = inverse_h * T(weight(2, bz, 1));
    for (int q = 0; q < 4; ++q) f[q] = fused(z1, f[q + 4], f[q] * z0);
    for (int along = 1; along >= 0; --along)
        for (int r = 0; r < 2; ++r) {
            T &low = f[along == 0 ? 2 * r : r], &high = f[along == 0 ? 2 * r + 1 : r + 2];
            const T first = low, second = high;
            low = fused(weight(along, 0, 1), second, first * T(weight(along, 0, 0)));
            high = fused(weight(along, 1, 1), second, first * T(weight(along, 1, 0)));
        }
}

/// Sum of dN_a/dx_axis N_b over the Gauss points of weight 1.
template <class T>
HYPERPLANE_HD T slope_overlap(int axis, int a, int b, const T (&inverse_h)[3]) {
    const int d = axis == 0 ? 1 : 0, e = axis == 2 ? 1 : 2;
    const double across = overlap(bit(a, d), bit(b, d)) * overlap(bit(a, e), bit(b, e));
    return one_of(inverse_h, axis) * T(bit(a, axis) ? across : -across);
}
/// Sum of grad N_a . grad N_b over the Gauss points of weight 1.
template <class T>
HYPERPLANE_HD T stiffness(int a, int b, const T (&inverse_h)[3]) {
    T sum = T(0.0);
    for (int axis = 0; axis < 3; ++axis) {
        const int d = axis == 0 ? 1 : 0, e = axis == 2 ? 1 : 2;
        const double across = 2.0 * overlap(bit(a, d), bit(b, d)) * overlap(bit(a, e), bit(b, e));
        const T squared = inverse_h[axis] * inverse_h[axis];
        sum = fused(squared, T(bit(a, axis) == bit(b, axis) ? across : -across), sum);
    }
    return sum;
}

/// Geometry of an element that stage 2 needs.
template <class T>
struct Box {
    T inverse_h[3];
    T weight;
};

/// Row i of momentum, corner a, the corners b = 0..3 (x + 2 y) of layer bz: add(b, column, value).
template <class T, class Add>
HYPERPLANE_HD void add_momentum(const Box<T>& box, const CornerTerms<T>& terms, int i, int a, int bz, const Add& add) {
    const Corner<T> corner(a, box.inverse_h);
    T f[8];
    for_constants<3>([&](auto j) {
        for (int q = 0; q < 8; ++q)
            f[q] = fused(terms.test(q), terms.slope(i, j, without(j, q)),
                         terms.momentum(i, q) * corner.gradient(j, without(j, q)));
        blend_layer(bz, f);
        blend_plane<1>(f);
        blend_plane<0>(f);
        for_constants<4>([&](auto b) { add(b, j, i == j ? f[b] + terms.transport(b + 4 * bz) : f[b]); });
    });
    // tau (u . grad N_a) = S_a - N_a
    for (int q = 0; q < 8; ++q) f[q] = terms.test(q);
    derivative_sums(i, bz, f, one_of(box.inverse_h, i));
    for_constants<4>([&](auto b) {
        const int corner = b + 4 * bz;
        const T plain = slope_overlap(i, a, corner, box.inverse_h) + slope_overlap(i, corner, a, box.inverse_h);
        add(b, std::integral_constant<int, 3>{}, f[b] - box.weight * plain);
    });
}

/// Column j of the pressure's row, as add_momentum: add(b, value).
template <class T, class Add>
HYPERPLANE_HD void add_continuity(const Box<T>& box, const CornerTerms<T>& terms, double mass, int j, int a, int bz,
                                  const Add& add) {
    const Corner<T> corner(a, box.inverse_h);
    T factor[3][2], f[8], along[3][8];  // the derivative of N_a along j, axis by axis
    for (int axis = 0; axis < 3; ++axis)
        for (int q = 0; q < 2; ++q) factor[axis][q] = axis == j ? corner.slope[axis] : T(corner.value[axis][q]);
    for (int q = 0; q < 8; ++q) {
        const T gradient = factor[0][bit(q, 0)] * (factor[1][bit(q, 1)] * factor[2][bit(q, 2)]);
        T sum = gradient * T(mass);
        for (int i = 0; i < 3; ++i) {
            sum = fused(corner.gradient(i, without(i, q)), terms.slope(i, j, without(j, q)), sum);
            along[i][q] = gradient * terms.velocity(i, q);
        }
        f[q] = sum;
    }
    layer_sums(bz, along, f, box.inverse_h);
    for_constants<4>([&](auto b) {
        add(b, fused(terms.stabilisation(), f[b], box.weight * slope_overlap(j, b + 4 * bz, a, box.inverse_h)));
    });
}

/// The pressure's own column, as add_continuity; `compliance` is c / beta.
template <class T, class Add>
HYPERPLANE_HD void add_pressure(const Box<T>& box, const CornerTerms<T>& terms, double compliance, int a, int bz,
                                const Add& add) {
    for_constants<4>([&](auto b) {
        const int corner = b + 4 * bz;
        const double both =
            overlap(bit(a, 0), bit(corner, 0)) * overlap(bit(a, 1), bit(corner, 1)) * overlap(bit(a, 2), bz);
        add(b, fused(terms.stabilisation(), stiffness(a, corner, box.inverse_h), box.weight * T(compliance * both)));
    });
}

}  // namespace hyperplane::q1
