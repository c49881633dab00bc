// SPDX-License-Identifier: BSD-3-Clause
// The matrix rows of convection_diffusion.hpp: formulas in the sense of linear_rows.hpp.
#pragma once

#include <cmath>

#include "core/matrix/views.hpp"
#include "problems/convection_diffusion_keys.hpp"
#include "problems/linear_rows.hpp"
#include "problems/source_term.hpp"

namespace hyperplane {

/// The row of an interior node.
struct TransportRow {
    static constexpr int entries = 7;
    TransportKeys keys;
    Scheme scheme;
    double h;                         ///< mean spacing
    double mass = 0.0;                ///< h^2 times the rate of u, 0 if steady
    std::array<double, 3> diffusion;  ///< D along each axis
    std::array<double, 3> area;       ///< h^2 / h_d

    explicit TransportRow(const TransportKeys& of) : keys(of), scheme(of.scheme), h(of.domain.mean_spacing()) {
        for (int axis = 0; axis < 3; ++axis) {
            const double spacing = keys.domain.grid.spacing[axis];
            diffusion[axis] = keys.viscosity * (h * h / (spacing * spacing));
            area[axis] = h * h / spacing;
        }
    }

    HYPERPLANE_HD void coefficients(Int3 p, double* c) const {
        for (int e = 0; e < entries; ++e) c[e] = 0.0;
        c[3] = mass;
        const Domain& domain = keys.domain;
        for (int axis = 0; axis < 3; ++axis) {
            if (domain.flat(axis)) continue;
            for (int side = -1; side <= 1; side += 2) {
                Position face = domain.position(p);
                face[axis] += side * domain.grid.spacing[axis] / 2;
                const double B = side * keys.wind.component(axis, face) * area[axis];
                const FaceTerms terms = face_terms(scheme, diffusion[axis], B);
                c[3 + side * (axis + 1)] = terms.neighbour;  // natural order is -z -y -x 0 +x +y +z
                c[3] += terms.centre;
            }
        }
    }
    /// h^2 f, without the terms of earlier states. For a manufactured solution f = b . grad(u) - nu Laplace(u).
    HYPERPLANE_HD double source(Int3 p) const {
        if (keys.source != SourceKind::exact) return h * h * plain_source(keys.source, keys.seed, keys.domain.grid, p);
        const Position at = keys.domain.position(p);
        const Position slope = keys.exact.gradient(at);
        double f = -keys.viscosity * keys.exact.laplacian(at, {1.0, 1.0, 1.0});
        for (int axis = 0; axis < 3; ++axis) f += keys.wind.component(axis, at) * slope[axis];
        return h * h * f;
    }
    HYPERPLANE_HD double boundary_value(const Position& at) const {
        if (keys.source == SourceKind::exact) return keys.exact.value(at);
        const double edge = keys.domain.lengths[0] - keys.domain.grid.spacing[0] / 2;
        return keys.hot_wall && at[0] > edge ? 1.0 : 0.0;
    }
};

using TransportRows = DirichletNodes<TransportRow>;

/// The rows of an implicit time step from earlier states.
struct TransportStep : TransportRows {
    std::array<ConstVectorView, 2> before;  ///< old and older
    std::array<double, 2> weight;           ///< their weights in the right-hand side; 0 for a state that does not exist

    HYPERPLANE_HD double right_hand_side(Int3 p, int = 0) const {
        double b = TransportRows::right_hand_side(p);
        if (domain.on_boundary(p)) return b;
        for (int k = 0; k < 2; ++k)
            if (weight[k] != 0.0) b += weight[k] * before[k](p);
        return b;
    }
};

/// The initial u: g on the boundary, inside as the deck's initial condition says.
struct TransportStart {
    TransportRows rows;

    HYPERPLANE_HD double operator()(Int3 p) const {
        const TransportKeys& keys = rows.interior.keys;
        if (rows.domain.on_boundary(p)) return rows.boundary_value(p);
        if (keys.initial == InitialKind::zero) return 0.0;
        if (keys.initial == InitialKind::random) return plain_source(SourceKind::random, keys.seed, rows.grid, p);
        const Position at = rows.domain.position(p);
        double distance = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            const double d = at[axis] - keys.gaussian_centre[axis];
            if (!rows.domain.flat(axis)) distance += d * d;
        }
        return std::exp(-keys.gaussian_sharpness * distance);
    }
};

}  // namespace hyperplane
