// SPDX-License-Identifier: BSD-3-Clause
// The relation between a fine grid and the next coarser one.
//
// Along each coarsened axis the coarse points are the fine points of even index: coarse index I is fine index 2 I, and
// n points leave (n + 1) / 2. A fine point of odd index lies between two coarse ones; the last one of an even n has one
// coarse neighbour, unless the axis is periodic. Along a periodic axis of odd length the first and the last point are
// both coarse. A fine point 2 I + s, s in {-1, 0, 1} along coarsened axes and 0 along the others, is a *child* of I.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "core/grid/grid.hpp"
#include "core/grid/slots.hpp"
#include "core/grid/stencil.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/multigrid/matrix_traits.hpp"

namespace hyperplane::multigrid {

using Axes = std::array<bool, 3>;

/// Number of an offset whose components lie in -1 ... 1, from 0 to 26; 13 is (0, 0, 0).
HYPERPLANE_HD constexpr int number_of(Int3 s) {
    return 13 + s.x + 3 * s.y + 9 * s.z;
}
HYPERPLANE_HD constexpr Int3 offset_of(int number) {
    return {number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1};
}

/// Two grids and the axes along which the second one is coarser. It is small, and kernels take it by value.
struct Coarsening {
    Grid fine, coarse;
    Axes axes{false, false, false};

    Coarsening() = default;
    Coarsening(const Grid& grid, Axes along);

    bool any() const { return axes[0] || axes[1] || axes[2]; }
    /// Whether children at s exist for any coarse point.
    HYPERPLANE_HD bool has_children_at(Int3 s) const {
        return (axes[0] || s.x == 0) && (axes[1] || s.y == 0) && (axes[2] || s.z == 0);
    }
    /// The fine point that coincides with a coarse one, its child at (0, 0, 0).
    HYPERPLANE_HD Int3 first_child(Int3 p) const {
        return {axes[0] ? 2 * p.x : p.x, axes[1] ? 2 * p.y : p.y, axes[2] ? 2 * p.z : p.z};
    }
    /// The coarsened axes on which a fine point's index is odd, as bits.
    HYPERPLANE_HD int odd_axes(Int3 p) const {
        return (axes[0] ? p.x & 1 : 0) + (axes[1] ? 2 * (p.y & 1) : 0) + (axes[2] ? 4 * (p.z & 1) : 0);
    }
    /// The child of `coarse_point` at s; false if there is none.
    HYPERPLANE_HD bool child(Int3 coarse_point, Int3 s, Int3& fine_point) const {
        return child(0, fine.nx, coarse_point.x, s.x, fine_point.x) &&
               child(1, fine.ny, coarse_point.y, s.y, fine_point.y) &&
               child(2, fine.nz, coarse_point.z, s.z, fine_point.z);
    }
    /// The parent of `fine_point` of which it is the child at s; false if there is none.
    HYPERPLANE_HD bool parent(Int3 fine_point, Int3 s, Int3& coarse_point) const {
        return parent(0, coarse.nx, fine_point.x, s.x, coarse_point.x) &&
               parent(1, coarse.ny, fine_point.y, s.y, coarse_point.y) &&
               parent(2, coarse.nz, fine_point.z, s.z, coarse_point.z);
    }
    /// The offset from one coarse point to another one near it, across a periodic boundary if that is shorter.
    HYPERPLANE_HD Int3 offset(Int3 from, Int3 to) const {
        return {shorter(0, coarse.nx, to.x - from.x), shorter(1, coarse.ny, to.y - from.y),
                shorter(2, coarse.nz, to.z - from.z)};
    }

private:
    HYPERPLANE_HD bool child(int axis, int n, int coarse_index, int s, int& index) const {
        index = axes[axis] ? 2 * coarse_index + s : coarse_index;
        if (index < 0 && fine.periodic[axis] && n % 2 == 0) index += n;
        return index >= 0 && index < n;
    }
    HYPERPLANE_HD bool parent(int axis, int n, int index, int s, int& coarse_index) const {
        coarse_index = index;
        if (!axes[axis]) return s == 0;
        const int doubled = index - s;
        if (doubled % 2 != 0) return false;
        coarse_index = doubled / 2;
        if (coarse_index == n && coarse.periodic[axis]) coarse_index = 0;
        return coarse_index >= 0 && coarse_index < n;
    }
    HYPERPLANE_HD int shorter(int axis, int n, int d) const {
        if (!coarse.periodic[axis]) return d;
        return d > n / 2 ? d - n : d < -(n / 2) ? d + n : d;
    }
};

/// The slots of points near a point, by number_of the offset. As in StructMatrix, from a point at the boundary they
/// lead to some other point, and along a periodic axis, or from one rank's part to another, they cannot be used.
struct SlotDeltas {
    Index slots;
    Index of[27];
    bool usable;

    explicit SlotDeltas(const Layout& layout)
        : slots(layout.slots()), usable(!layout.grid().any_periodic() && !layout.is_part()) {
        for (int number = 0; number < 27; ++number) of[number] = layout.slot_delta(offset_of(number));
    }
    HYPERPLANE_HD Index at(Index slot, int number) const { return slot_plus(slot, of[number], slots); }
};

struct CoarseningOptions {
    int coarsest_points = 150;        ///< a grid of at most so many points is the last one
    int grids = 32;                   ///< at most so many grids
    double strength = 0.5;            ///< threshold of strong_axes()
    std::optional<int> rounded_from;  ///< from this grid on weights are kept in single precision
    int replicated_points = 4096;     ///< a coarse grid of at most so many points is not cut into parts of ranks

    bool single_vectors = false;  ///< from the same grid on, vectors and matrices of cycles are, too
    /// The planes of a grid that no cut between ranks may divide; empty: 1.
    std::function<int(const Grid& grid, const Stencil& stencil, int number)> planes_together;

    /// On how many of so many grids rounded_from can change anything. It is all but the last one, whose matrix is
    /// inverted, or smoothed by l1 Jacobi, in double precision; but vectors in single precision change that one, too.
    int grids_to_round(int grids) const { return single_vectors ? grids : grids - 1; }
    bool rounds(int grid) const { return rounded_from && grid >= *rounded_from; }
    bool single(int grid) const { return single_vectors && rounds(grid); }
};

/// What a set-up needs to know of a matrix besides its strong axes.
struct Survey {
    float* copy = nullptr;  ///< if given, receives the coefficients in single precision, as in SingleMatrix
    bool copied = false;    ///< whether it has
    std::optional<MatrixTraits> traits;
};

/// Whether a grid can be made coarser along an axis: it has three points or more there, and the coarse operator, whose
/// stencil has a radius of at most `radius`, fits on a periodic axis.
bool can_coarsen(const Grid& grid, int axis, int radius);

/// The stencil of P^T A P for a matrix with this stencil: all offsets between parents of coupled points. Offsets that
/// leave a coarse grid of one point along an axis are left out.
Stencil coarse_stencil(const Stencil& stencil, const Coarsening& coarsening);

/// The axes along which couplings are strong and which can be coarsened; none if no axis can be.
///
/// The coupling of point i along axis d is c_id = |sum of a_i(o) over offsets o with o_d != 0|, for blocks the
/// Frobenius norm of the sum. r_d is the mean of c_id / max_e c_ie over the points that are coupled at all, the maximum
/// being over the axes that can be coarsened. Axis d is strong if r_d >= threshold max_e r_e.
/// Where the grid is cut into the parts of ranks, the means are those of one rank, to the last bit.
Axes strong_axes(const StructMatrix& a, double threshold);
/// The same, and whatever of a survey can be found where coefficients are read for the couplings.
Axes strong_axes(const StructMatrix& a, double threshold, Survey& survey);
/// The axes that can be coarsened; of fewer than two couplings need not be compared.
Axes axes_to_compare(const StructMatrix& a);
/// The strong ones of these, from the sums of c_id / max_e c_ie.
Axes strong_of(Axes candidates, const std::array<double, 3>& ratios, double threshold);

/// Whether a grid, the one of this number, is the last one.
bool is_last(const Grid& grid, const Stencil& stencil, const CoarseningOptions& options, int number);
/// The most grids that any matrix on the finest one leads to, in whatever order its axes are coarsened.
int most_grids(const Grid& finest, const CoarseningOptions& options);

}  // namespace hyperplane::multigrid
