// SPDX-License-Identifier: BSD-3-Clause
// The energy of a long-range attraction, |(-L)^(-1/2) (f - mean)|^2 / 2, with the seven-point Laplacian L on cells.
//
// The eigenvectors of L are products of cosines along each axis, or of cosines and sines along a periodic axis:
//   q_m(i) ~ cos(pi m (i + 1/2) / n),  lambda_m = 2 (1 - cos(pi m / n)) / h^2       no flux
//   q_m(i) ~ cos, sin (2 pi k i / n),  lambda_m = 2 (1 - cos(2 pi k / n)) / h^2     periodic, m = 2k - 1 and 2k
// With orthonormal q, the energy is volume / 2 times the sum of f_m^2 / lambda_m over all modes but the constant one.
// The transform along an axis is a dense matrix, 2 (nx + ny + nz) operations a cell in all: little compared with a
// solve.
//
// Ranks have whole planes, and for the transform along z they need whole lines. So they exchange values: a rank gives
// its planes away and receives all planes of some rows of lines, transforms, and receives its planes back.
#pragma once

#include <array>

#include "core/vector/point_values.hpp"
#include "problems/domain.hpp"

namespace hyperplane {

/// Which rank transforms which lines along z: those of rows of consecutive y. A rank orders the values of its own
/// planes by the ranks that transform them.
struct RowsOfRanks {
    int nx = 0, ny = 0, ranks = 1;
    int begin_plane = 0, planes = 0;  ///< of this rank

    HYPERPLANE_HD int first(int rank) const { return int(Index(ny) * rank / ranks); }
    HYPERPLANE_HD Index place_of_rank(int rank) const { return Index(nx) * first(rank) * planes; }
    HYPERPLANE_HD Index place(Int3 p) const {
        const int rank = int((Index(p.y + 1) * ranks - 1) / ny), rows = first(rank + 1) - first(rank);
        return place_of_rank(rank) + (Index(p.z - begin_plane) * rows + p.y - first(rank)) * nx + p.x;
    }
};

class LongRangeEnergy {
public:
    /// Allocates two values a cell, five on ranks, and n^2 values for each axis of n cells.
    LongRangeEnergy(const Context& context, const Domain& domain);

    /// The energy of one component of u minus `mean`. The Cahn-Hilliard energy contains it sigma times.
    double of(const Vector& u, int component, double mean);

private:
    /// Transforms along z what `from` has in this rank's planes, to `to`.
    void transform_lines(const Context& context, const VectorView& from, const VectorView& to);

    Domain domain_;
    std::array<Buffer<double>, 3> basis_, eigenvalues_;  ///< q_m(i) at m n + i; lambda_m
    PointValues values_, others_;
    Layout lines_;                              ///< on ranks: all planes of this rank's rows of lines
    Buffer<double> of_lines_, modes_of_lines_;  ///< on ranks: values and coefficients there
    RowsOfRanks rows_;
    Buffer<double> by_rank_;  ///< on ranks: values of this rank's planes, ordered by rows_
};

// The bodies of the loops over points, which long_range_energy_loops.cpp instantiates.

struct CentredField {
    ConstVectorView u;
    int component;
    double mean;
    VectorView value;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const { value.at(slot) = u(p, component) - mean; }
};

/// Transforms along an axis: the coefficients of its modes replace the values at its points.
struct AxisTransform {
    int axis, n;
    Index stride;  ///< distance of neighbouring points along the axis
    const double* basis;
    const double* from;
    VectorView to;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const int m = Domain::component(p, axis);
        const double* const line = from + (slot - m * stride);
        const double* const mode = basis + Index(m) * n;
        double sum[4] = {};  // four independent chains of additions
        int i = 0;
        for (; i + 4 <= n; i += 4)
            for (int k = 0; k < 4; ++k) sum[k] += mode[i + k] * line[(i + k) * stride];
        for (; i < n; ++i) sum[0] += mode[i] * line[i * stride];
        to.at(slot) = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
};

/// f_m^2 / (2 lambda_m) of a mode.
struct ModeEnergy {
    std::array<const double*, 3> eigenvalues;
    const double* coefficients;
    VectorView value;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const double lambda = eigenvalues[0][p.x] + eigenvalues[1][p.y] + eigenvalues[2][p.z];
        const bool constant = p == Int3{0, 0, 0};
        value.at(slot) = constant ? 0.0 : 0.5 * coefficients[slot] * coefficients[slot] / lambda;
    }
};

/// Orders values by the ranks that transform them, and orders coefficients by points again.
struct ToRanks {
    RowsOfRanks rows;
    const double* from;
    double* to;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const { to[rows.place(p)] = from[slot]; }
};
struct FromRanks {
    RowsOfRanks rows;
    const double* from;
    double* to;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const { to[slot] = from[rows.place(p)]; }
};

template <class Body>
void visit_modes(const Context& context, const Layout& layout, const char* name, const Body& body);

}  // namespace hyperplane
