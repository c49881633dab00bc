// SPDX-License-Identifier: BSD-3-Clause
// The matrix rows of cahn_hilliard.hpp: formulas at a point for host and device.
#pragma once

#include "core/grid/neighbour_slot.hpp"
#include "core/matrix/views.hpp"
#include "problems/cahn_hilliard_mixture.hpp"
#include "problems/linear_rows.hpp"

namespace hyperplane {

/// The seven-point Laplacian L on cells, without neighbours beyond the boundary, and its square.
struct CellLaplacian {
    Grid grid;
    std::array<double, 3> weight{};  ///< 1 / h^2; 0 along flat axes

    CellLaplacian() = default;
    explicit CellLaplacian(const Domain& domain) : grid(domain.grid) {
        for (int axis = 0; axis < 3; ++axis)
            weight[axis] = domain.flat(axis) ? 0.0 : 1.0 / (grid.spacing[axis] * grid.spacing[axis]);
    }

    HYPERPLANE_HD static Int3 step(int axis, int side) {
        return {axis == 0 ? side : 0, axis == 1 ? side : 0, axis == 2 ? side : 0};
    }
    /// Calls body(neighbour, weight) for each neighbour of p.
    template <class Body>
    HYPERPLANE_HD void for_neighbours(Int3 p, const Body& body) const {
        for (int axis = 0; axis < 3; ++axis) {
            if (weight[axis] == 0.0) continue;
            for (int side = -1; side <= 1; side += 2) {
                const Int3 q = grid.wrapped(p + step(axis, side));
                if (grid.contains(q)) body(q, weight[axis]);
            }
        }
    }
    /// Number of neighbours along an axis that is not flat, for a cell with index `at` of `extent`.
    HYPERPLANE_HD int neighbours(int axis, int at, int extent) const {
        return grid.periodic[axis] ? 2 : (at > 0 ? 1 : 0) + (at < extent - 1 ? 1 : 0);
    }
    /// The diagonal of -L: L(p, p) = -degree(p).
    HYPERPLANE_HD double degree(Int3 p) const {
        return weight[0] * neighbours(0, p.x, grid.nx) + weight[1] * neighbours(1, p.y, grid.ny) +
               weight[2] * neighbours(2, p.z, grid.nz);
    }
    /// L(p, p + o) for |o| <= 1 and p + o inside the grid.
    HYPERPLANE_HD double first(Int3 p, Int3 o) const {
        return o == Int3{0, 0, 0} ? -degree(p) : weight[o.x != 0 ? 0 : o.y != 0 ? 1 : 2];
    }
    /// L^2(p, q) = sum_s L(p, s) L(s, q) for q = p + o inside the grid, |o| <= 2.
    HYPERPLANE_HD double second(Int3 p, Int3 o, Int3 q) const {
        const int x = o.x < 0 ? -o.x : o.x, y = o.y < 0 ? -o.y : o.y, z = o.z < 0 ? -o.z : o.z;
        if (x + y + z == 0) {
            const double here = degree(p);
            return here * here + weight[0] * weight[0] * neighbours(0, p.x, grid.nx) +
                   weight[1] * weight[1] * neighbours(1, p.y, grid.ny) +
                   weight[2] * weight[2] * neighbours(2, p.z, grid.nz);
        }
        const double product = (x ? weight[0] : 1.0) * (y ? weight[1] : 1.0) * (z ? weight[2] : 1.0);
        if (x + y + z == 1) return -product * (degree(p) + degree(q));
        return x == 2 || y == 2 || z == 2 ? product * product : 2 * product;
    }
};

/// The two Gauss points in [0, 1], from the beginning to the end of a step.
inline constexpr double first_place = 0.21132486540518713, second_place = 0.78867513459481287;

/// The data and terms of a row, with `fields` unknowns a cell.
template <int fields>
struct MixtureRows {
    CellLaplacian laplacian;
    Mixture mixture;
    std::array<double, 3> rate{};  ///< u_t = rate[0] u + rate[1] old + rate[2] older
    bool averaged = false;         ///< avf, otherwise implicit
    ConstVectorView u, old{}, older{};

    HYPERPLANE_HD double theta() const { return averaged ? 0.5 : 1.0; }
    /// u_theta of a field.
    HYPERPLANE_HD double value(Index slot, int c) const {
        return averaged ? 0.5 * (u.at(slot, c) + old.at(slot, c)) : u.at(slot, c);
    }
    /// The fields at `place` in [0, 1] between the beginning and the end of the step.
    HYPERPLANE_HD void between(Index slot, double place, double* w) const {
        for (int c = 0; c < fields; ++c) {
            const double begin = old.at(slot, c);
            w[c] = begin + place * (u.at(slot, c) - begin);
        }
    }
    /// mu = g - eps^2 L u_theta at a cell.
    HYPERPLANE_HD void chemical_potential(Int3 p, double* mu) const {
        const Index slot = slot_of_neighbour(u.layout, p);
        double w[fields];
        if (averaged) {
            double other[fields];
            between(slot, first_place, w);
            mixture.template potential<fields>(w, mu);
            between(slot, second_place, w);
            mixture.template potential<fields>(w, other);
            for (int c = 0; c < fields; ++c) mu[c] = 0.5 * (mu[c] + other[c]);
        } else {
            for (int c = 0; c < fields; ++c) w[c] = u.at(slot, c);
            mixture.template potential<fields>(w, mu);
        }
        double here[fields], sum[fields] = {};
        for (int c = 0; c < fields; ++c) here[c] = value(slot, c);
        laplacian.for_neighbours(p, [&](Int3 q, double weight) {
            const Index there = slot_of_neighbour(u.layout, q);
            for (int c = 0; c < fields; ++c) sum[c] += weight * (value(there, c) - here[c]);
        });
        for (int c = 0; c < fields; ++c) mu[c] -= mixture.eps[c] * mixture.eps[c] * sum[c];
    }
    /// g' at a cell: the derivatives of g with respect to u at the end of the step.
    HYPERPLANE_HD Curvature curvature(Index slot) const {
        double w[fields];
        if (!averaged) {
            for (int c = 0; c < fields; ++c) w[c] = u.at(slot, c);
            return mixture.template curvature<fields>(w);
        }
        between(slot, first_place, w);
        const Curvature a = mixture.template curvature<fields>(w);
        between(slot, second_place, w);
        const Curvature b = mixture.template curvature<fields>(w);
        const double s = 0.5 * first_place, t = 0.5 * second_place;
        return {s * a.uu + t * b.uu, s * a.uv + t * b.uv, s * a.vv + t * b.vv};
    }
};

template <int fields>
struct MixtureResidual {
    MixtureRows<fields> rows;
    MixtureState source;  ///< the manufactured solution, which defines the source
    bool has_source = false;
    double source_time = 0.0;
    VectorView f;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const Mixture& mixture = rows.mixture;
        double here[fields], there[fields], sum[fields] = {}, s[2] = {};
        rows.chemical_potential(p, here);
        rows.laplacian.for_neighbours(p, [&](Int3 q, double weight) {
            rows.chemical_potential(q, there);
            for (int c = 0; c < fields; ++c) sum[c] += weight * (there[c] - here[c]);
        });
        if (has_source) source.source<fields>(p, source_time, s);
        for (int c = 0; c < fields; ++c) {
            double change = rows.rate[0] * rows.u.at(slot, c);
            if (rows.rate[1] != 0.0) change += rows.rate[1] * rows.old.at(slot, c);
            if (rows.rate[2] != 0.0) change += rows.rate[2] * rows.older.at(slot, c);
            double value = mixture.tau[c] * change - sum[c] - s[c];
            if (c == fields - 1) value += mixture.sigma * (rows.value(slot, c) - mixture.mean[c]);
            f.at(slot, c) = value;
        }
    }
};

/// A row of the Jacobian: rate[0] tau + theta (eps^2 L^2 + sigma) - L g'.
template <int fields>
struct MixtureMatrix {
    MixtureRows<fields> rows;
    std::array<Int3, 25> offsets;
    MatrixView a;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const Grid& grid = rows.laplacian.grid;
        for (int e = 0; e < a.stored_entries; ++e) {
            const Int3 o = offsets[e], q = grid.wrapped(p + o);
            double block[fields][fields] = {};
            if (grid.contains(q)) fill(p, o, q, block);
            for (int r = 0; r < fields; ++r)
                for (int c = 0; c < fields; ++c) a.at(e, r, c, slot) = block[r][c];
        }
    }

private:
    HYPERPLANE_HD void fill(Int3 p, Int3 o, Int3 q, double (&block)[fields][fields]) const {
        const Mixture& mixture = rows.mixture;
        const double squared = rows.theta() * rows.laplacian.second(p, o, q);
        for (int c = 0; c < fields; ++c) block[c][c] = mixture.eps[c] * mixture.eps[c] * squared;
        const int distance = (o.x < 0 ? -o.x : o.x) + (o.y < 0 ? -o.y : o.y) + (o.z < 0 ? -o.z : o.z);
        if (distance == 2) return;
        const double l = rows.laplacian.first(p, o);
        const Curvature g = rows.curvature(slot_of_neighbour(rows.u.layout, q));
        block[0][0] -= l * g.uu;
        if constexpr (fields == 2) {
            block[0][1] = block[1][0] = -l * g.uv;
            block[1][1] -= l * g.vv;
        }
        if (distance == 1) return;
        for (int c = 0; c < fields; ++c) block[c][c] += rows.rate[0] * mixture.tau[c];
        block[fields - 1][fields - 1] += rows.theta() * mixture.sigma;
    }
};

/// The initial fields.
template <int fields>
struct MixtureBegin {
    MixtureState state;
    VectorView u;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        for (int c = 0; c < fields; ++c) u.at(slot, c) = state.field(c, p, 0.0);
    }
};

/// One initial field, whose mean is computed.
struct MixtureField {
    MixtureState state;
    int component;
    VectorView value;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const { value.at(slot) = state.field(component, p, 0.0); }
};

/// A cell's share of the energy without the term of sigma: W, and eps^2 / 2 times the squared differences to the next
/// cell along each axis.
template <int fields>
struct MixtureEnergy {
    CellLaplacian laplacian;
    Mixture mixture;
    ConstVectorView u;
    VectorView value;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double w[fields];
        for (int c = 0; c < fields; ++c) w[c] = u.at(slot, c);
        double sum = mixture.template energy<fields>(w);
        for (int axis = 0; axis < 3; ++axis) {
            const Int3 q = laplacian.grid.wrapped(p + CellLaplacian::step(axis, 1));
            if (laplacian.weight[axis] == 0.0 || !laplacian.grid.contains(q)) continue;
            const Index there = slot_of_neighbour(u.layout, q);
            for (int c = 0; c < fields; ++c) {
                const double difference = mixture.eps[c] * (u.at(there, c) - w[c]);
                sum += 0.5 * laplacian.weight[axis] * difference * difference;
            }
        }
        value.at(slot) = sum;
    }
};

/// Calls body(point, slot) at every point of the layout; instantiated in cahn_hilliard_loops.cpp.
template <class Body>
void visit_mixture(const Context& context, const Layout& layout, const char* name, const Body& body);

}  // namespace hyperplane
