// SPDX-License-Identifier: BSD-3-Clause
// The matrix rows of poisson.hpp: formulas in the sense of linear_rows.hpp.
#pragma once

#include "problems/coefficient_field.hpp"
#include "problems/linear_rows.hpp"
#include "problems/poisson.hpp"

namespace hyperplane {

/// On nodes: the same row at every interior node.
template <int N>
struct InteriorRow {
    static constexpr int entries = N;
    std::array<double, N> row;
    PoissonData data;
    Domain domain;
    double source_scale;  ///< factor of f in the right-hand side
    double correction;    ///< factor of Laplace(f), which makes mehr fourth order

    HYPERPLANE_HD void coefficients(Int3, double* c) const {
        for (int e = 0; e < N; ++e) c[e] = row[e];
    }
    HYPERPLANE_HD double source(Int3 p) const {
        if (data.source != SourceKind::exact)
            return source_scale * plain_source(data.source, data.seed, domain.grid, p);
        const Position at = domain.position(p);
        double f = -data.exact.laplacian(at, data.k);
        if (correction != 0.0) f -= correction * data.k[0] * data.exact.bilaplacian(at);
        return source_scale * f;
    }
    HYPERPLANE_HD double boundary_value(const Position& at) const { return data.exact.value(at); }
};

template <int N>
using NodeRows = DirichletNodes<InteriorRow<N>>;

/// On cells: two-point fluxes.
struct FluxRows {
    static constexpr int entries = 7, dof = 1;
    std::array<Int3, entries> offsets;
    Grid grid;
    Domain domain;
    CoefficientView k;
    PoissonData data;
    std::array<bool, 3> dirichlet;     ///< by axis: whether u = g on its two boundary faces
    double volume;                     ///< of one cell
    std::array<double, 3> face_scale;  ///< volume / h_d^2

    FluxRows(const Stencil& stencil, const Domain& on, const PoissonData& what, const std::array<bool, 3>& walls)
        : offsets(offsets_of<entries>(stencil)), grid(on.grid), domain(on), data(what), dirichlet(walls) {
        const auto& h = grid.spacing;
        volume = h[0] * h[1] * h[2];
        for (int axis = 0; axis < 3; ++axis) face_scale[axis] = volume / (h[axis] * h[axis]);
    }

    /// Entry of the neighbour at `side` = +-1 along `axis`: natural order is -z -y -x 0 +x +y +z.
    HYPERPLANE_HD static int entry(int axis, int side) { return 3 + side * (axis + 1); }
    HYPERPLANE_HD double wall(int axis, Int3 p) const { return 2.0 * k.at(axis, grid.row(p)) * face_scale[axis]; }

    HYPERPLANE_HD void coefficients(Int3 p, double* c) const {
        for (int e = 0; e < entries; ++e) c[e] = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            if (domain.flat(axis)) continue;
            const double here = k.at(axis, grid.row(p));
            for (int side = -1; side <= 1; side += 2) {
                const int e = entry(axis, side);
                const Int3 q = grid.wrapped(p + offsets[e]);
                if (grid.contains(q)) {
                    const double there = k.at(axis, grid.row(q));
                    const double t = face_scale[axis] * (2.0 * (here * there) / (here + there));
                    c[e] = -t;
                    c[3] += t;
                } else if (dirichlet[axis]) {
                    c[3] += wall(axis, p);
                }
            }
        }
    }
    HYPERPLANE_HD double right_hand_side(Int3 p, int = 0) const {
        if (data.source == SourceKind::row_sum) return row_sum(*this, p);
        if (data.source != SourceKind::exact) return volume * plain_source(data.source, data.seed, grid, p);
        const Position at = domain.position(p);
        double b = -volume * data.exact.laplacian(at, data.k);
        for (int axis = 0; axis < 3; ++axis)
            for (int side = -1; side <= 1 && !domain.flat(axis); side += 2) {
                if (grid.contains(p + offsets[entry(axis, side)])) continue;
                Position face = at;
                face[axis] += side * grid.spacing[axis] / 2;
                b += wall(axis, p) * data.exact.value(face);
            }
        return b;
    }
};

}  // namespace hyperplane
