// SPDX-License-Identifier: BSD-3-Clause
// A grid cut into boxes of points: which points share a subdomain, in what order each subdomain's points are visited,
// and where its factors lie. Every subdomain has the same order and places; those at a grid's far sides, where extents
// are no multiples, have places that no point uses.
//
//     values[subdomain] = W of every step upwards, then D^-1 and G of every step downwards
//     a step:             [entry][col][point][component], then half_scaled's exponents of W, or of D^-1 and of G:
//                         [point][component], a byte each
//
// A step is a set of points of one level, or a part of a large one; points of a level do not depend on each other.
// `entry` counts the step's entries, `component` is a coefficient's row; values of points side by side lie side by
// side, so that threads, a row of a point each, read them coalesced and every step is one contiguous piece, of whole 16
// bytes, whatever the storage.
#pragma once

#include <vector>

#include "core/grid/layout.hpp"
#include "core/grid/stencil.hpp"
#include "core/matrix/views.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

/// Geometric cuts; a small value.
struct Cuts {
    Grid grid;
    Int3 size;  ///< points of a subdomain along x, y, z; at most the grid's

    /// Boxes of about 16 x 16 x 8 points and equal size, smaller where `dof` values a point would fill more than 48 KiB
    /// of a GPU's shared memory.
    static Cuts by_default(const Grid& grid, int dof);

    HYPERPLANE_HD static int parts(int extent, int size) { return (extent + size - 1) / size; }
    HYPERPLANE_HD Int3 count() const {
        return {parts(grid.nx, size.x), parts(grid.ny, size.y), parts(grid.nz, size.z)};
    }
    HYPERPLANE_HD Index subdomains() const { return Index(count().x) * count().y * count().z; }
    HYPERPLANE_HD int points() const { return size.x * size.y * size.z; }
    /// Subdomains are numbered as points are: x first.
    HYPERPLANE_HD Int3 first_point(Index subdomain) const {
        const Int3 n = count();
        return {int(subdomain % n.x) * size.x, int(subdomain / n.x % n.y) * size.y,
                int(subdomain / (Index(n.x) * n.y)) * size.z};
    }
    /// A point's number in its subdomain whose first point is `first`.
    HYPERPLANE_HD int local(Int3 p, Int3 first) const {
        return p.x - first.x + size.x * (p.y - first.y + size.y * (p.z - first.z));
    }
    /// The reverse; lies outside the grid where a subdomain does.
    HYPERPLANE_HD Int3 point(int local, Int3 first) const {
        return {first.x + local % size.x, first.y + local / size.x % size.y, first.z + local / (size.x * size.y)};
    }
    /// Whether p lies in the grid and in the subdomain that begins at `first`.
    HYPERPLANE_HD bool holds(Int3 p, Int3 first) const {
        return grid.contains(p) && p.x >= first.x && p.x < first.x + size.x && p.y >= first.y &&
               p.y < first.y + size.y && p.z >= first.z && p.z < first.z + size.z;
    }
    /// Blocks of a matrix on `stencil` that lie within subdomains; wrapped ones never do.
    Index blocks_kept(const Stencil& stencil) const;
    /// The offsets that lead from some point of a subdomain to another one of it, and (0,0,0).
    Stencil within(const Stencil& stencil) const;
};

/// Where the coefficients of a point lie among its subdomain's values: (entry e of its triangle, row r, column c) at
/// lower or upper + (e * dof + c) * stride + r * row_stride; half_scaled's exponent of row r of W, G or D^-1 (part 0, 1
/// or 2, as in precond/factors/reduced.hpp) at byte exponents[part] + r * row_stride.
struct SubdomainPlace {
    int lower, upper, stride, row_stride;
    int exponents[3];
};

/// Order of a subdomain's points and places of their factors.
struct SubdomainOrder {
    enum class Rows {
        by_step,   ///< as at the head of this file, for a GPU
        by_line,   ///< the same, a step being a line of points along x, and [entry][col][component][point], for a CPU
        by_point,  ///< a point's coefficients side by side, points in natural order, as in compressed block rows
    };

    FactorStorage storage = FactorStorage::double_precision;
    int lower = 0, dof = 1;              ///< entries of the lower triangle
    Index values = 0;                    ///< of a subdomain, of the storage's bytes each; whole 16 bytes
    std::vector<int> points;             ///< local numbers, step by step
    std::vector<int> begin;              ///< of each step upwards in `points`, and their end
    std::vector<int> at, size;           ///< place and values of each step: those upwards, then those downwards
    std::vector<bool> newest;            ///< of each lower entry: whether some point is a step behind its neighbour
    std::vector<SubdomainPlace> places;  ///< by local number

    /// `stencil` is Cuts::within of the matrix's.
    SubdomainOrder(const Cuts& cuts, const Stencil& stencil, int dof, Rows rows,
                   FactorStorage storage = FactorStorage::double_precision);

    int steps() const { return int(begin.size()) - 1; }
    /// The points of a step of either direction: the first one's place in `points`, and how many.
    int first(int step) const { return begin[upwards(step)]; }
    int count(int step) const { return begin[upwards(step) + 1] - begin[upwards(step)]; }
    int most_points() const;

private:
    int upwards(int step) const { return step < steps() ? step : 2 * steps() - 1 - step; }
    void arrange_by_level(const Cuts& cuts, const Stencil& stencil);
    void arrange_by_line(const Cuts& cuts);
    void classify(const Cuts& cuts, const Stencil& stencil);
    void place_by_step(bool lines);
    void place_by_point();
    int exponent_values(int rows) const;
    int padded(int values) const;
};

/// A subdomain's vector with every row of points along x padded to `pitch`, so that the points of a step fall into
/// different banks of shared memory, and `margin` values before and behind it that entries may point into.
struct SubdomainCells {
    int pitch, cells, margin;
    std::vector<int> of_point;  ///< by local number, the margin not counted
    std::vector<int> delta;     ///< from a point to its neighbour at each lower entry

    SubdomainCells(const Cuts& cuts, const Stencil& stencil);
};

}  // namespace hyperplane
