// SPDX-License-Identifier: BSD-3-Clause
// The rows of artificial_compressibility.hpp: fluxes through faces, and their sums in a cell.
#pragma once

#include <cmath>

#include "core/matrix/views.hpp"
#include "problems/domain.hpp"

namespace hyperplane {

/// Largest number of sets of 4 unknowns in a cell.
inline constexpr int most_sets = max_dof / 4;

/// f_d(Q) = (u u_d + p e_d, beta u_d).
template <class T>
HYPERPLANE_HD void plain_flux(const T (&q)[4], int axis, double beta, T (&f)[4]) {
    for (int e = 0; e < 3; ++e) f[e] = q[e] * q[axis] + (e == axis ? q[3] : T(0.0));
    f[3] = q[axis] * T(beta);
}

/// A_d(Q) and |A_d(Q)|. Only the columns d and p of B are not zero.
struct FaceMatrices {
    double plain[4][4], absolute[4][4];

    HYPERPLANE_HD FaceMatrices(const double (&q)[4], int axis, double beta) {
        const double along = q[axis], c = std::sqrt(along * along + beta), speed = std::abs(along);
        const double first = along / c, second = (c - speed) / (c * c);
        for (int row = 0; row < 4; ++row)
            for (int col = 0; col < 4; ++col) {
                const double here = row == axis ? 1.0 : 0.0, unit = row == col ? 1.0 : 0.0;
                const double velocity = row == 3 ? 0.0 : q[row];
                double b = 0.0, squared = 0.0;
                if (col == axis) {
                    b = row == 3 ? beta : velocity;
                    squared = row == 3 ? 0.0 : velocity * along + here * beta;
                } else if (col == 3) {
                    b = row == 3 ? -along : here;
                    squared = row == 3 ? beta + along * along : velocity - here * along;
                }
                plain[row][col] = along * unit + b;
                absolute[row][col] = speed * unit + first * b + second * squared;
            }
    }
    /// a = A_d(q).
    HYPERPLANE_HD static void plain_at(const double (&q)[4], int axis, double beta, double (&a)[4][4]) {
        for (int row = 0; row < 4; ++row)
            for (int col = 0; col < 4; ++col) a[row][col] = row == col && row < 3 ? q[axis] : 0.0;
        for (int e = 0; e < 3; ++e) a[e][axis] += q[e];
        a[axis][3] = 1.0;
        a[3][axis] = beta;
    }
};

/// The flow: grid, walls and parameters, with the fluxes and matrices of its sets and scalars.
struct CavityFlow {
    Grid grid;
    double viscosity = 0.01;
    bool third_order = true;
    int lid_axis = 2;  ///< the lid is the last face along it, moving along x
    int sets = 1, scalars = 0;
    double beta[most_sets];         ///< of each set
    double step_factor[most_sets];  ///< each set's time step over that of the deck
    double diffusivity[2];          ///< of each scalar
    bool coupled = false;

    HYPERPLANE_HD int dof() const { return 4 * sets + scalars; }
    HYPERPLANE_HD int extent(int axis) const { return axis == 0 ? grid.nx : axis == 1 ? grid.ny : grid.nz; }
    HYPERPLANE_HD bool flat(int axis) const { return extent(axis) == 1; }
    HYPERPLANE_HD static Int3 step(int axis, int side) {
        return {axis == 0 ? side : 0, axis == 1 ? side : 0, axis == 2 ? side : 0};
    }
    HYPERPLANE_HD bool lid(int axis, int side) const { return axis == lid_axis && side > 0; }
    HYPERPLANE_HD double wall_velocity(int axis, int side, int e) const {
        return lid(axis, side) && e == 0 ? 1.0 : 0.0;
    }
    HYPERPLANE_HD double wall_scalar(int axis, int side) const { return lid(axis, side) ? 1.0 : 0.0; }

    HYPERPLANE_HD static void read(const ConstVectorView& q, int set, Int3 p, double (&state)[4]) {
        const Index slot = q.layout.slot(p);
        for (int c = 0; c < 4; ++c) state[c] = q.at(slot, 4 * set + c);
    }
    /// The state `by` cells from p along an axis, or the ghost state if that is behind a wall.
    HYPERPLANE_HD void read_along(const ConstVectorView& q, int set, Int3 p, int axis, int by,
                                  double (&state)[4]) const {
        const int at = Domain::component(p, axis) + by, n = extent(axis);
        if (at >= 0 && at < n) return read(q, set, p + step(axis, by), state);
        const int side = at < 0 ? -1 : 1,
                  back = side < 0 ? -Domain::component(p, axis) : n - 1 - Domain::component(p, axis);
        double wall[4], inner[4];
        read(q, set, p + step(axis, back), wall);
        read(q, set, p + step(axis, back - side), inner);
        for (int e = 0; e < 3; ++e) state[e] = 2.0 * wall_velocity(axis, side, e) - wall[e];
        state[3] = 2.0 * wall[3] - inner[3];
    }
    /// The flux through the face between p and its neighbour at +1 along an axis; both lie inside the grid.
    HYPERPLANE_HD void face_flux(const ConstVectorView& q, int set, Int3 p, int axis, double (&flux)[4]) const {
        double here[4], there[4], left[4], right[4], mean[4], f_left[4], f_right[4];
        read(q, set, p, here);
        read(q, set, p + step(axis, 1), there);
        for (int c = 0; c < 4; ++c) {
            left[c] = here[c];
            right[c] = there[c];
        }
        if (third_order) {  // kappa = 1/3
            double before[4], after[4];
            read_along(q, set, p, axis, -1, before);
            read_along(q, set, p, axis, 2, after);
            for (int c = 0; c < 4; ++c) {
                const double across = there[c] - here[c];
                left[c] += (here[c] - before[c]) / 6.0 + across / 3.0;
                right[c] -= (after[c] - there[c]) / 6.0 + across / 3.0;
            }
        }
        for (int c = 0; c < 4; ++c) mean[c] = 0.5 * (left[c] + right[c]);
        const FaceMatrices matrices(mean, axis, beta[set]);
        plain_flux(left, axis, beta[set], f_left);
        plain_flux(right, axis, beta[set], f_right);
        for (int row = 0; row < 4; ++row) {
            double sum = f_left[row] + f_right[row];
            for (int c = 0; c < 4; ++c) sum -= matrices.absolute[row][c] * (right[c] - left[c]);
            flux[row] = 0.5 * sum;
            if (row < 3) flux[row] -= viscosity / grid.spacing[axis] * (there[row] - here[row]);
        }
    }
    /// The flux out of p through a wall.
    HYPERPLANE_HD void wall_flux(const ConstVectorView& q, int set, Int3 p, int axis, int side,
                                 double (&flux)[4]) const {
        double wall[4], inner[4];
        read(q, set, p, wall);
        read(q, set, p + step(axis, -side), inner);
        for (int e = 0; e < 3; ++e)
            flux[e] = 2.0 * viscosity / grid.spacing[axis] * (wall[e] - wall_velocity(axis, side, e));
        flux[axis] += side * (1.5 * wall[3] - 0.5 * inner[3]);
        flux[3] = 0.0;
    }
    HYPERPLANE_HD bool is_wall(Int3 p, int axis, int side) const {
        return Domain::component(p, axis) == (side < 0 ? 0 : extent(axis) - 1);
    }
    /// f += the sum of the fluxes of one set out of p, each divided by the spacing.
    HYPERPLANE_HD void add_fluxes(const ConstVectorView& q, int set, Int3 p, double (&f)[4]) const {
        for (int axis = 0; axis < 3; ++axis) {
            if (flat(axis)) continue;
            for (int side = -1; side <= 1; side += 2) {
                double flux[4];
                const bool wall = is_wall(p, axis, side);
                if (wall)
                    wall_flux(q, set, p, axis, side, flux);
                else
                    face_flux(q, set, side > 0 ? p : p + step(axis, -1), axis, flux);
                const double scale = (wall ? 1.0 : side) / grid.spacing[axis];
                for (int c = 0; c < 4; ++c) f[c] += scale * flux[c];
            }
        }
    }
    /// The face of p towards `side` adds `own` to the diagonal block and `other` to the block of the neighbour across
    /// it; at a wall `other` belongs to the neighbour on the opposite side.
    HYPERPLANE_HD void face_blocks(const ConstVectorView& q, int set, Int3 p, int axis, int side, double (&own)[4][4],
                                   double (&other)[4][4]) const {
        const double area = 1.0 / grid.spacing[axis], diffusion = viscosity * area * area;
        for (int row = 0; row < 4; ++row)
            for (int col = 0; col < 4; ++col) own[row][col] = other[row][col] = 0.0;
        if (is_wall(p, axis, side)) {
            for (int e = 0; e < 3; ++e) own[e][e] = 2.0 * diffusion;
            own[axis][3] = 1.5 * side * area;
            other[axis][3] = -0.5 * side * area;
            return;
        }
        double here[4], there[4], mean[4], beside[4][4];
        read(q, set, p, here);
        read(q, set, p + step(axis, side), there);
        for (int c = 0; c < 4; ++c) mean[c] = 0.5 * (here[c] + there[c]);
        const FaceMatrices matrices(mean, axis, beta[set]);
        FaceMatrices::plain_at(here, axis, beta[set], own);
        FaceMatrices::plain_at(there, axis, beta[set], beside);
        for (int row = 0; row < 4; ++row)
            for (int col = 0; col < 4; ++col) {
                const double viscous = row == col && row < 3 ? diffusion : 0.0;
                const double upwind = 0.5 * area * matrices.absolute[row][col];
                own[row][col] = 0.5 * side * area * own[row][col] + upwind + viscous;
                other[row][col] = 0.5 * side * area * beside[row][col] - upwind - viscous;
            }
    }

    /// The upwind terms of a face in the equation of scalar s: the coefficients of its own cell and of the neighbour.
    HYPERPLANE_HD void scalar_terms(const ConstVectorView& q, int s, Int3 p, int axis, int side, double& own,
                                    double& other) const {
        const double area = 1.0 / grid.spacing[axis], diffusion = diffusivity[s] * area * area;
        if (is_wall(p, axis, side)) {
            own = 2.0 * diffusion;
            other = 0.0;
            return;
        }
        const double outward = 0.5 * side * area * (q(p, axis) + q(p + step(axis, side), axis));
        own = std::fmax(outward, 0.0) + diffusion;
        other = std::fmin(outward, 0.0) - diffusion;
    }
    HYPERPLANE_HD double scalar_fluxes(const ConstVectorView& q, int s, Int3 p) const {
        const int c = 4 * sets + s;
        double f = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            for (int side = -1; side <= 1 && !flat(axis); side += 2) {
                double own, other;
                scalar_terms(q, s, p, axis, side, own, other);
                f += own * q(p, c);
                f += is_wall(p, axis, side) ? -own * wall_scalar(axis, side) : other * q(p + step(axis, side), c);
            }
        return f;
    }
    /// Factor of the time derivative in the equation of unknown c: 1 / step_factor of its set.
    HYPERPLANE_HD double slowness(int c) const { return 1.0 / step_factor[c < 4 * sets ? c / 4 : 0]; }

    /// Component c of the vector w in H.
    HYPERPLANE_HD static double reflector(int c) { return 1.0 + c; }
    HYPERPLANE_HD double reflector_scale() const {
        double square = 0.0;
        for (int c = 0; c < dof(); ++c) square += reflector(c) * reflector(c);
        return 2.0 / square;
    }
};

/// A block of the uncoupled matrix, which is diagonal by set: one 4 x 4 block for each set, one number for each scalar.
template <int Sets>
struct DiagonalBlocks {
    double set[Sets][4][4];
    double scalar[2];

    HYPERPLANE_HD void clear(int sets) {
        for (int s = 0; s < sets; ++s)
            for (auto& row : set[s])
                for (double& value : row) value = 0.0;
        scalar[0] = scalar[1] = 0.0;
    }
    HYPERPLANE_HD double at(int sets, int row, int col) const {
        if (row >= 4 * sets || col >= 4 * sets) return row == col ? scalar[row - 4 * sets] : 0.0;
        return row / 4 == col / 4 ? set[row / 4][row % 4][col % 4] : 0.0;
    }
};

}  // namespace hyperplane
