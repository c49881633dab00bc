// SPDX-License-Identifier: BSD-3-Clause
// A grid cut into boxes of points: which points are in a subdomain, in what order its points are visited, and where its
// factors are stored. All subdomains have the same order and places. If the extents of the grid are not multiples of
// the box's, some places of the subdomains at its far sides belong to no point.
//
//     values[subdomain] = W of every step of the lower solve, then D^-1 and G of every step of the upper solve
//     a step:             [entry][col][point][component], then half_scaled's exponents of W, or of D^-1 and of G:
//                         [point][component], a byte each
//
// A step consists of the points of one level, or of a part of a large level; points of a level do not depend on each
// other. `entry` counts the entries of the step's triangle, and `component` is the row of a coefficient in its block.
// Values of consecutive points are adjacent, so that threads, each with one row of a point, read them coalesced. Every
// step is one contiguous piece, whose size is a multiple of 16 bytes in any storage.
#pragma once

#include <vector>

#include "core/grid/layout.hpp"
#include "core/grid/stencil.hpp"
#include "core/matrix/views.hpp"
#include "precond/factors/storage.hpp"
#include "precond/subdomain/place.hpp"

namespace hyperplane {

/// The partition of a grid into boxes. Kernels receive it by value.
struct Partition {
    Grid grid;
    Int3 size;  ///< points of a subdomain along x, y, z; at most the grid's

    /// Boxes of equal size, of about 16 x 16 x 8 points; of fewer points if their vector, with `dof` values a point,
    /// would take more than 48 KiB of a GPU's shared memory.
    static Partition by_default(const Grid& grid, int dof);

    HYPERPLANE_HD static int parts(int extent, int size) { return (extent + size - 1) / size; }
    HYPERPLANE_HD Int3 count() const {
        return {parts(grid.nx, size.x), parts(grid.ny, size.y), parts(grid.nz, size.z)};
    }
    HYPERPLANE_HD Index subdomains() const { return Index(count().x) * count().y * count().z; }
    /// The subdomains whose points a layout holds. It must not cut through a subdomain.
    struct Range {
        Index begin, end;
        Index count() const { return end - begin; }
        bool operator==(const Range&) const = default;
    };
    Range held_by(const Layout& layout) const;
    HYPERPLANE_HD int points() const { return size.x * size.y * size.z; }
    /// The first point of a subdomain. Subdomains are numbered like points, x fastest.
    HYPERPLANE_HD Int3 first_point(Index subdomain) const {
        const Int3 n = count();
        return {int(subdomain % n.x) * size.x, int(subdomain / n.x % n.y) * size.y,
                int(subdomain / (Index(n.x) * n.y)) * size.z};
    }
    /// The local number of a point: its number in the subdomain whose first point is `first`.
    HYPERPLANE_HD int local(Int3 p, Int3 first) const {
        return p.x - first.x + size.x * (p.y - first.y + size.y * (p.z - first.z));
    }
    /// The point with a local number; it is outside the grid if that part of the subdomain is.
    HYPERPLANE_HD Int3 point(int local, Int3 first) const {
        return {first.x + local % size.x, first.y + local / size.x % size.y, first.z + local / (size.x * size.y)};
    }
    /// Whether p is in the grid and in the subdomain whose first point is `first`.
    HYPERPLANE_HD bool holds(Int3 p, Int3 first) const {
        return grid.contains(p) && p.x >= first.x && p.x < first.x + size.x && p.y >= first.y &&
               p.y < first.y + size.y && p.z >= first.z && p.z < first.z + size.z;
    }
    /// The offsets that lead from some point of a subdomain to another point of the same subdomain, and (0,0,0).
    Stencil within(const Stencil& stencil) const;
};

/// The order of a subdomain's points, and the places of their factors.
struct SubdomainOrder {
    enum class Rows {
        by_step,   ///< as at the head of this file, for a GPU
        by_line,   ///< for a CPU: a step is a line of points along x, stored as [entry][col][component][point]
        by_point,  ///< a point's coefficients are contiguous, points in natural order, as in compressed block rows
    };

    FactorStorage storage = FactorStorage::double_precision;
    int lower = 0, dof = 1;              ///< number of lower entries; unknowns a point
    Index values = 0;                    ///< number of values of a subdomain; their bytes are a multiple of 16
    std::vector<int> points;             ///< local numbers, step by step
    std::vector<int> begin;              ///< index in `points` where each step of the lower solve begins, and the end
    std::vector<int> levels;             ///< index in `points` where each level begins, and the end; not by_line
    std::vector<int> at, size;           ///< first value and number of values of each step, lower steps first
    std::vector<bool> newest;            ///< for each lower entry: whether it leads some point to the step just before
    std::vector<SubdomainPlace> places;  ///< [local number]

    /// `stencil` is Partition::within of the matrix's stencil.
    SubdomainOrder(const Partition& partition, const Stencil& stencil, int dof, Rows rows,
                   FactorStorage storage = FactorStorage::double_precision);

    int steps() const { return int(begin.size()) - 1; }
    /// The points of a step, numbered as in `at`: the index of the first one in `points`, and their number.
    int first(int step) const { return begin[upwards(step)]; }
    int count(int step) const { return begin[upwards(step) + 1] - begin[upwards(step)]; }
    int most_points() const;

private:
    int upwards(int step) const { return step < steps() ? step : 2 * steps() - 1 - step; }
    void arrange_by_level(const Partition& partition, const Stencil& stencil);
    void arrange_by_line(const Partition& partition);
    void classify(const Partition& partition, const Stencil& stencil);
    void place_by_step(bool lines);
    void place_by_point();
    int exponent_values(int rows) const;
    int padded(int values) const;
};

/// How a subdomain's vector is stored. Every line of points along x is padded to `pitch` values, so that the points of
/// a step are in different banks of shared memory. Before and after the vector there are `margin` values, to which
/// entries of points at its ends may lead.
struct SubdomainCells {
    int pitch, cells, margin;
    std::vector<int> of_point;  ///< [local number], without the margin
    std::vector<int> delta;     ///< [lower entry]: distance from a point to its neighbour

    SubdomainCells(const Partition& partition, const Stencil& stencil);
};

}  // namespace hyperplane
