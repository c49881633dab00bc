// SPDX-License-Identifier: BSD-3-Clause
// The rows of euler.hpp: formulas at a point for host and device.
//
// A row depends on cells that are up to two away along each axis. For each axis, everything is written in the frame of
// its faces (euler_flux.hpp): component r in that frame is component face_component(axis, r) in the grid's frame.
#pragma once

#include "core/grid/neighbour_slot.hpp"
#include "core/grid/stencil.hpp"
#include "core/matrix/views.hpp"
#include "problems/euler_flow.hpp"
#include "problems/euler_reconstruction.hpp"
#include "problems/unrolled.hpp"

namespace hyperplane {

enum class GasBoundary { outflow, wall, farfield, exact };

/// The matrix. exact: the Jacobian of the residual; upwind2: the derivatives of the fluxes at the reconstructed states,
/// which are differentiated as if they were q_i + (q_i - q_{i-1}) / 2 and its mirror image; first: the Jacobian of the
/// first-order scheme.
enum class GasJacobian { exact, upwind2, first };

/// The component in the grid's frame of component r in an axis' frame. For the three axes, rho, the velocity normal to
/// the face, those along it and p are (0, 1, 2, 3, 4), (0, 2, 3, 1, 4) and (0, 3, 1, 2, 4).
HYPERPLANE_HD constexpr int face_component(int axis, int r) {
    return r == 0 || r == 4 ? r : axis + r > 3 ? axis + r - 3 : axis + r;
}

/// The inverse: the component in an axis' frame of component g in the grid's frame.
HYPERPLANE_HD constexpr int frame_component(int axis, int g) {
    return g == 0 || g == 4 ? g : g > axis ? g - axis : g - axis + 3;
}

/// Permutes components from an axis' frame to that of the next axis; three turns are the identity.
template <class T>
HYPERPLANE_HD void turn(std::array<T, 5>& x) {
    const T first = x[1];
    x[1] = x[2];
    x[2] = x[3];
    x[3] = first;
}

/// The values that define dq/dU at a state q.
struct PrimitiveDerivative {
    double over_rho, velocity[3], kinetic;

    HYPERPLANE_HD static PrimitiveDerivative at(const Gas& gas, const GasState<double>& q) {
        return {quotient(1.0, q[0]), {q[1], q[2], q[3]}, gas.kinetic(q)};
    }
};
/// Converts a row of dF/dq to one of dF/dU, by multiplication with dq/dU.
HYPERPLANE_HD inline GasState<double> by_conserved(const Gas& gas, const GasState<double>& row,
                                                   const PrimitiveDerivative& at) {
    const auto& [over_rho, u, kinetic] = at;
    const double p = gas.less_one * row[4];
    const double along = fused(row[1], u[0], fused(row[2], u[1], row[3] * u[2]));
    return {fused(p, kinetic, fused(-over_rho, along, row[0])), fused(-p, u[0], over_rho * row[1]),
            fused(-p, u[1], over_rho * row[2]), fused(-p, u[2], over_rho * row[3]), p};
}

/// The states of consecutive cells along an axis, in the frame of its faces.
template <int count>
using GasCells = std::array<GasState<double>, count>;

/// The data from which a row is computed.
struct GasRows {
    GasFlow flow;
    Reconstruction reconstruction;
    std::array<GasBoundary, 3> boundary{};
    std::array<std::array<int, 5>, 3> entry{};  ///< stencil entry by axis and offset + 2; -1 if there is none
    double time = 0.0;                          ///< the time for prescribed states beyond the boundary
    std::array<double, 3> rate{};               ///< u_t = rate[0] u + rate[1] old + rate[2] older
    ConstVectorView u, old{}, older{};

    void set_entries(const Stencil& stencil) {
        for (int o = -2; o <= 2; ++o) {
            entry[0][o + 2] = stencil.find({o, 0, 0});
            entry[1][o + 2] = stencil.find({0, o, 0});
            entry[2][o + 2] = stencil.find({0, 0, o});
        }
    }

    HYPERPLANE_HD static Int3 moved(Int3 p, int axis, int offset) {
        return {p.x + (axis == 0 ? offset : 0), p.y + (axis == 1 ? offset : 0), p.z + (axis == 2 ? offset : 0)};
    }
    /// q in a cell of the grid.
    HYPERPLANE_HD GasState<double> inside(Int3 p, int axis) const {
        const Index slot = slot_of_neighbour(u.layout, p);
        return flow.gas.primitive(GasState<double>{u.at(slot, 0), u.at(slot, face_component(axis, 1)),
                                                   u.at(slot, face_component(axis, 2)),
                                                   u.at(slot, face_component(axis, 3)), u.at(slot, 4)});
    }
    /// q in the cell `offset` away from p. Beyond a boundary, it is that of the nearest cell or a mirror image.
    HYPERPLANE_HD GasState<double> cell(Int3 p, int axis, int offset) const {
        const Domain& domain = flow.domain;
        const int here = Domain::component(p, axis), last = domain.extent(axis) - 1;
        int at = here + offset;
        const bool outside = domain.bounded(axis) && (at < 0 || at > last);
        const bool mirrored = outside && boundary[axis] == GasBoundary::wall;
        if (mirrored) at = at < 0 ? -1 - at : 2 * last + 1 - at;
        if (outside && !mirrored) at = at < 0 ? 0 : last;
        GasState<double> q = inside(domain.grid.wrapped(moved(p, axis, at - here)), axis);
        if (mirrored) q[1] = -q[1];
        return q;
    }
    /// The states of cells along an axis, the first of which is `first` away from p.
    template <int count>
    HYPERPLANE_HD GasCells<count> cells(Int3 p, int axis, int first) const {
        GasCells<count> q;
        for_constants<count>([&](auto k) { q[k] = cell(p, axis, first + k); });
        if (boundary[axis] == GasBoundary::farfield || boundary[axis] == GasBoundary::exact)
            prescribe(p, axis, first, q);
        return q;
    }
    /// Sets the states beyond the boundary to the prescribed ones.
    template <std::size_t count>
    HYPERPLANE_HD void prescribe(Int3 p, int axis, int first, std::array<GasState<double>, count>& cells) const {
        const Domain& domain = flow.domain;
        for (int k = 0; k < int(count); ++k) {
            const int at = Domain::component(p, axis) + first + k;
            if (!domain.bounded(axis) || (at >= 0 && at < domain.extent(axis))) continue;
            const Position position = domain.position(moved(p, axis, first + k));
            GasState<double> q = boundary[axis] == GasBoundary::exact ? flow.state(position, time) : flow.far(position);
            for (int turns = 0; turns < axis; ++turns) turn(q);
            for_constants<count>([&](auto which) {
                if (which == k) cells[which] = q;
            });
        }
    }
};

/// F at a point: the rate of change, and the difference of the fluxes over the spacing along each axis.
template <FluxKind flux>
struct GasResidual {
    using few_points = void;
    GasRows rows;
    VectorView f;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        GasState<double> sum;
        for (int c = 0; c < 5; ++c) {
            sum[c] = rows.rate[0] * rows.u.at(slot, c);
            if (rows.rate[1] != 0.0) sum[c] += rows.rate[1] * rows.old.at(slot, c);
            if (rows.rate[2] != 0.0) sum[c] += rows.rate[2] * rows.older.at(slot, c);
        }
        for (int axis = 0; axis < 3; ++axis, turn(sum))
            if (!rows.flow.domain.flat(axis)) add_axis(p, axis, sum);
        for (int c = 0; c < 5; ++c) f.at(slot, c) = sum[c];
    }

private:
    HYPERPLANE_HD void add_axis(Int3 p, int axis, GasState<double>& sum) const {
        const GasCells<5> q = rows.template cells<5>(p, axis, -2);
        const double over_h = 1.0 / rows.flow.domain.grid.spacing[axis];
        const GasState<double> lower = face_flux<flux>(rows.flow.gas, rows.reconstruction, q[0], q[1], q[2], q[3]);
        const GasState<double> upper = face_flux<flux>(rows.flow.gas, rows.reconstruction, q[1], q[2], q[3], q[4]);
        for (int r = 0; r < 5; ++r) sum[r] += (upper[r] - lower[r]) * over_h;
    }
};

/// Chain rule for the state q_0 + upper / 2 at the upper face of a cell 0: adds to b[0], b[1] and b[2] the derivatives
/// with respect to cells -1, 0 and 1, given the derivative `by_state` with respect to that state.
HYPERPLANE_HD inline void follow_upper(const SlopeDerivatives& d, double by_state, double* b) {
    b[0] = fused(-by_state, d.by_a, b[0]);
    b[1] = fused(by_state, d.by_a - d.by_b, b[1] + by_state);
    b[2] = fused(by_state, d.by_b, b[2]);
}
/// The same for the state q_0 - lower / 2 at the lower face.
HYPERPLANE_HD inline void follow_lower(const SlopeDerivatives& d, double by_state, double* b) {
    b[0] = fused(by_state, d.by_a, b[0]);
    b[1] = fused(-by_state, d.by_a - d.by_b, b[1] + by_state);
    b[2] = fused(-by_state, d.by_b, b[2]);
}

/// The rows of the Jacobian at a point, in two phases that several threads of a GPU can share: first the states and
/// derivatives at each face, then each row of the blocks along all axes and of the diagonal block.
template <FluxKind flux, GasJacobian kind>
struct GasMatrix {
    using few_points = void;
    static constexpr int reach = kind == GasJacobian::first ? 1 : 2;  ///< cells to each side that a row depends on
    using Derivative = decltype(flux_derivative<flux>(Gas{}, GasState<double>{}, GasState<double>{}, false));

    /// The data from which the rows along an axis are computed, in the frame of its faces.
    struct Faces {
        Derivative face[2];                                              // lower and upper face
        PrimitiveDerivative around[2 * reach];                           // cells on both sides, without the point's own
        SlopeDerivatives slopes[kind == GasJacobian::exact ? 3 : 1][5];  // cells -1, 0 and 1; used by exact only
    };

    GasRows rows;
    MatrixView a;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        Faces faces[3];
        for (int axis = 0; axis < 3; ++axis)
            for (int f = 0; f < 2; ++f)
                if (!rows.flow.domain.flat(axis)) make_face(p, axis, f, faces[axis]);
        for (int row = 0; row < 5; ++row)
            write_row(p, row, slot, [&](int axis) -> const Faces& { return faces[axis]; });
    }

    /// Computes the data of the face below the cell at p (f = 0) or above it (f = 1).
    HYPERPLANE_HD void make_face(Int3 p, int axis, int f, Faces& faces) const {
        const GasCells<2 * reach> q = rows.template cells<2 * reach>(p, axis, f - reach);
        GasState<double> L, R;
        for_constants<5>([&](auto c) {
            CellSlopes<double> below{}, above{};
            if constexpr (kind == GasJacobian::exact) {
                const SlopeDerivatives of_below = rows.reconstruction.derivatives(c, q[0][c], q[1][c], q[2][c], below);
                if (f == 0) faces.slopes[0][c] = of_below;
                faces.slopes[f + 1][c] = rows.reconstruction.derivatives(c, q[1][c], q[2][c], q[3][c], above);
            }
            if constexpr (kind == GasJacobian::upwind2) {
                below = rows.reconstruction.slopes(c, q[0][c], q[1][c], q[2][c]);
                above = rows.reconstruction.slopes(c, q[1][c], q[2][c], q[3][c]);
            }
            L[c] = q[reach - 1][c] + 0.5 * below.upper;
            R[c] = q[reach][c] - 0.5 * above.lower;
        });
        for_constants<reach>([&](auto k) {
            faces.around[reach * f + k] = PrimitiveDerivative::at(rows.flow.gas, either(f == 0, q[k], q[reach + k]));
        });
        faces.face[f] = flux_derivative<flux>(rows.flow.gas, L, R, kind != GasJacobian::exact);
    }

    /// Writes row `row` of all blocks; faces_at(axis) are the Faces of an axis that is not flat. The contributions of
    /// the axes to the diagonal block are summed as dF/dq, in the frame of each axis in turn.
    template <class FacesAt>
    HYPERPLANE_HD void write_row(Int3 p, int row, Index slot, const FacesAt& faces_at) const {
        GasState<double> diagonal{};
        for (int axis = 0; axis < 3; ++axis, turn(diagonal)) {
            if (rows.flow.domain.flat(axis)) continue;
            const GasState<double> part = write_along(p, axis, row, slot, faces_at(axis));
            for (int c = 0; c < 5; ++c) diagonal[c] += part[c];
        }
        const int e = rows.entry[0][2];
        if (e >= a.stored_entries) return;
        const Gas& gas = rows.flow.gas;
        const auto by_U = by_conserved(gas, diagonal, PrimitiveDerivative::at(gas, rows.inside(p, 0)));
        for (int c = 0; c < 5; ++c) a.at(e, row, c, slot) = by_U[c] + (c == row ? rows.rate[0] : 0.0);
    }

private:
    /// Writes row `row` of the blocks along an axis, and returns the axis' contribution to the diagonal block as dF/dq
    /// in the axis' frame.
    HYPERPLANE_HD GasState<double> write_along(Int3 p, int axis, int row, Index slot, const Faces& faces) const {
        const Domain& domain = rows.flow.domain;
        const double over_h = 1.0 / domain.grid.spacing[axis];
        FaceGradient below, above;
        for_constants<5>([&](auto r) {
            if (r != frame_component(axis, row)) return;
            below = faces.face[0].template gradient<r>(rows.flow.gas);
            above = faces.face[1].template gradient<r>(rows.flow.gas);
        });
        GasState<double> b[5] = {};
        for_constants<5>([&](auto c) {
            double column[5] = {};
            spread(faces, c, below.left[c] * over_h, below.right[c] * over_h, above.left[c] * over_h,
                   above.right[c] * over_h, column);
            for (int o = 0; o < 5; ++o) b[o][c] = column[o];
        });
        const int at = Domain::component(p, axis), left = domain.extent(axis) - 1 - at;
        const bool bounded = domain.bounded(axis);
        fold(b, rows.boundary[axis], bounded && at < 2 ? at : 2, bounded && left < 2 ? left : 2);
        for_constants<2>([&](auto k) {  // 1 and 2 cells away
            const auto by_U = [&](const GasState<double>& by_q, int cell) {
                return k < reach ? by_conserved(rows.flow.gas, by_q, faces.around[cell]) : GasState<double>{};
            };
            write(axis, -1 - k, row, slot, by_U(b[1 - k], reach - 1 - k));
            write(axis, 1 + k, row, slot, by_U(b[3 + k], reach + k));
        });
        return b[2];
    }

    /// Converts the derivatives with respect to the states on both sides of the lower and the upper face to those with
    /// respect to the cells b[0..4]. Derivatives that are known to be zero are not computed.
    HYPERPLANE_HD void spread([[maybe_unused]] const Faces& faces, [[maybe_unused]] int c, double below_left,
                              double below_right, double above_left, double above_right, double (&b)[5]) const {
        if constexpr (kind == GasJacobian::first) {
            b[1] = -below_left;
            b[2] = above_left - below_right;
            b[3] = above_right;
        } else if constexpr (kind == GasJacobian::upwind2) {
            b[0] = 0.5 * below_left;
            b[1] = fused(-1.5, below_left, -0.5 * above_left);
            b[2] = 1.5 * (above_left - below_right);
            b[3] = fused(1.5, above_right, 0.5 * below_right);
            b[4] = -0.5 * above_right;
        } else {
            follow_upper(faces.slopes[0][c], -below_left, b);
            follow_lower(rows.reconstruction.of_lower(faces.slopes[1][c]), -below_right, b + 1);
            follow_upper(faces.slopes[1][c], above_left, b + 1);
            follow_lower(rows.reconstruction.of_lower(faces.slopes[2][c]), above_right, b + 2);
        }
    }

    /// Adds the coefficients of cells beyond a boundary to those of the cells that they follow, and sets them to zero.
    HYPERPLANE_HD static void fold(GasState<double> (&b)[5], GasBoundary boundary, int below, int above) {
        const bool outflow = boundary == GasBoundary::outflow, wall = boundary == GasBoundary::wall;
        if (below == 0) {
            move(b[0], b[2], outflow, false);  // the second cell beyond: outflow copies cell 2, a wall mirrors cell 3
            move(b[0], b[3], false, wall);
            move(b[1], b[2], outflow, wall);
            clear(b[0]);
            clear(b[1]);
        } else if (below == 1) {
            move(b[0], b[1], outflow, wall);
            clear(b[0]);
        }
        if (above == 0) {
            move(b[4], b[2], outflow, false);
            move(b[4], b[1], false, wall);
            move(b[3], b[2], outflow, wall);
            clear(b[3]);
            clear(b[4]);
        } else if (above == 1) {
            move(b[4], b[3], outflow, wall);
            clear(b[4]);
        }
    }
    HYPERPLANE_HD static void move(const GasState<double>& from, GasState<double>& to, bool outflow, bool wall) {
        for (int c = 0; c < 5; ++c)
            if (outflow || wall) to[c] += wall && c == 1 ? -from[c] : from[c];
    }
    HYPERPLANE_HD static void clear(GasState<double>& row) {
        for (double& value : row) value = 0.0;
    }
    /// Stores row `row` of the block at an offset along an axis.
    HYPERPLANE_HD void write(int axis, int offset, int row, Index slot, const GasState<double>& by_U) const {
        const int e = rows.entry[axis][offset + 2];
        if (e < 0 || e >= a.stored_entries) return;
        for (int c = 0; c < 5; ++c) a.at(e, row, face_component(axis, c), slot) = by_U[c];
    }
};

}  // namespace hyperplane
