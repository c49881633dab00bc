// SPDX-License-Identifier: BSD-3-Clause
// Layout: the only map between grid points and slots of memory.
//
//   natural      slot = i + nx (j + ny k)
//                a run is a line of points along x
//
//   hyperplane   slot = ((l mod nx) nz + k) ny + j     with the level l = i + y j + z k
//                a run holds the points of one level and one k: from one to the next, j grows by 1
//                and i falls by y. The slot determines i, j and k, since i = (l - y j - z k) mod nx;
//                the modulus needs no additional memory (StructILU paper, section 4.4).
//
// Along a run the slot of every neighbour advances by one, too, so all arrays are read contiguously.
#pragma once

#include <algorithm>
#include <string>

#include "core/device/context.hpp"
#include "core/function_ref.hpp"
#include "core/grid/grid.hpp"
#include "core/grid/stencil.hpp"

namespace hyperplane {

enum class LayoutKind { natural, hyperplane };

std::string to_string(LayoutKind kind);

/// Consecutive slots along which every neighbour's slot advances by one, too.
struct Run {
    Int3 first;  ///< the first point
    int count;   ///< number of points
    Index slot;  ///< the slot of the first point
};

/// The neighbours of a run at one offset. Those of positions t in [begin, end) lie inside the grid (none if
/// begin >= end); the neighbour of position t has the slot `slot + t`.
struct RunNeighbours {
    int begin, end;
    Index slot;
};

/// The map between points and slots. It is small, and kernels take it by value.
///
/// A natural layout may be that of a part of the grid, the planes of one rank. Points keep their numbers in the whole
/// grid; slot 0 is the first point of the first plane, and the formulas also give the slots of planes before (negative)
/// and after. Of these, `halo` planes on either side lie in memory, where they hold what other ranks have computed.
class Layout {
public:
    Layout() = default;
    /// `levels` matters only for the hyperplane layout.
    Layout(LayoutKind kind, const Grid& grid, LevelMap levels)
        : kind_(kind), grid_(grid), levels_(levels), end_plane_(grid.nz), last_neighbour_(grid.nz) {}

    /// The natural layout of the planes [begin, end) alone, with `halo` planes on either side.
    Layout of_planes(int begin, int end, int halo) const {
        Layout part = *this;
        part.begin_plane_ = begin;
        part.end_plane_ = end;
        part.halo_ = halo;
        return part;
    }
    /// The same without neighbours in other planes than its own.
    Layout without_neighbours() const {
        Layout alone = *this;
        alone.first_neighbour_ = begin_plane_;
        alone.last_neighbour_ = end_plane_;
        return alone;
    }
    /// These planes as a grid of their own, counted from 0, whose slot 0 is this layout's. If there are other
    /// planes, it is periodic along z: what is made for it drops the couplings to them, as it drops those around an
    /// axis.
    Layout as_own_grid() const {
        Grid own = grid_;
        own.nz = planes();
        own.periodic[2] = own.periodic[2] || is_part();
        return {kind_, own, levels_};
    }
    /// The planes of a natural layout and those of its halo as a grid of their own, counted from 0. Its slot 0 is the
    /// first one in memory.
    Layout with_halo_as_own_grid() const {
        Grid own = grid_;
        own.nz = planes() + 2 * halo_;
        return {kind_, own, levels_};
    }
    /// The same points with other levels.
    Layout with_levels(LevelMap levels) const {
        Layout other = *this;
        other.levels_ = levels;
        return other;
    }
    /// The same on a grid without periodic axes.
    Layout without_wrap() const {
        Layout open = *this;
        open.grid_.periodic = {false, false, false};
        return open;
    }
    /// Whether neighbours of its points belong to other ranks.
    bool has_neighbours_outside() const { return first_neighbour_ < begin_plane_ || last_neighbour_ > end_plane_; }
    HYPERPLANE_HD int begin_plane() const { return begin_plane_; }
    HYPERPLANE_HD int end_plane() const { return end_plane_; }
    int planes() const { return end_plane_ - begin_plane_; }
    HYPERPLANE_HD int halo() const { return halo_; }
    /// Whether other ranks have the rest of the grid.
    HYPERPLANE_HD bool is_part() const { return end_plane_ - begin_plane_ < grid_.nz; }
    HYPERPLANE_HD bool holds(Int3 p) const { return p.z >= begin_plane_ && p.z < end_plane_; }
    HYPERPLANE_HD Index slots_of_plane() const { return Index(grid_.nx) * grid_.ny; }
    HYPERPLANE_HD Index halo_slots() const { return halo_ * slots_of_plane(); }
    /// The slots with those of the halos: the distance of a vector's components.
    HYPERPLANE_HD Index slots_in_memory() const { return slots_of_plane() * (end_plane_ - begin_plane_ + 2 * halo_); }

    LayoutKind kind() const { return kind_; }
    HYPERPLANE_HD const Grid& grid() const { return grid_; }
    HYPERPLANE_HD LevelMap levels() const { return levels_; }
    HYPERPLANE_HD Index slots() const { return slots_of_plane() * (end_plane_ - begin_plane_); }

    /// Slot of a point. The formula also applies outside the grid, so that the neighbours of a run can be located
    /// even if the neighbour of its first point lies outside.
    HYPERPLANE_HD Index slot(Int3 p) const {
        if (kind_ == LayoutKind::natural) return p.x + Index(grid_.nx) * (p.y + Index(grid_.ny) * (p.z - begin_plane_));
        const int plane = levels_.level(p) % grid_.nx;
        return (Index(plane < 0 ? plane + grid_.nx : plane) * grid_.nz + p.z) * grid_.ny + p.y;
    }
    /// The slot of p + offset minus the slot of p in a natural layout, also where p + offset lies outside the grid.
    Index distance(Int3 offset) const { return offset.x + Index(grid_.nx) * (offset.y + Index(grid_.ny) * offset.z); }
    /// The slot of p + offset minus the slot of p, modulo slots_in_memory(). It is the same for every p whose neighbour
    /// lies inside the grid. Adding it modulo slots_in_memory() permutes the slots, so from a point whose neighbour
    /// lies outside the grid it leads to a point that has no neighbour at -offset either.
    Index slot_delta(Int3 offset) const {
        const Index ahead = kind_ == LayoutKind::natural
                                ? distance(offset)
                                : (Index(levels_.level(offset)) * grid_.nz + offset.z) * grid_.ny + offset.y;
        return (ahead % slots_in_memory() + slots_in_memory()) % slots_in_memory();
    }
    /// Point of a slot. Count is any integer type that holds the slot; a GPU divides narrow integers faster.
    template <class Count>
    HYPERPLANE_HD Int3 point(Count slot) const {
        if (kind_ == LayoutKind::natural) {
            Int3 p = grid_.point(slot);
            p.z += begin_plane_;
            return p;
        }
        const Count ny = Count(grid_.ny), nz = Count(grid_.nz);
        Int3 p{0, int(slot % ny), int(slot / ny % nz)};
        const int i = (int(slot / (ny * nz)) - levels_.level(p)) % grid_.nx;
        p.x = i < 0 ? i + grid_.nx : i;
        return p;
    }
    /// The difference between consecutive points of a run.
    HYPERPLANE_HD Int3 step() const { return kind_ == LayoutKind::natural ? Int3{1, 0, 0} : Int3{-levels_.y, 1, 0}; }

    /// Number of levels of the grid: 1 + the level of the last point.
    HYPERPLANE_HD int level_count() const { return 1 + levels_.level({grid_.nx - 1, grid_.ny - 1, grid_.nz - 1}); }
    /// The line of points along x through (0, j, k): the runs of the natural layout.
    Run line(int j, int k) const { return {{0, j, k}, grid_.nx, slot({0, j, k})}; }
    /// The points of one level in plane k: the runs of the hyperplane layout. A run may be empty.
    Run level_run(int level, int k) const;
    /// First and last plane that may hold points of a level.
    int level_first_plane(int level) const;
    int level_last_plane(int level) const;

    /// The neighbours of a run at `offset`, without those across a periodic boundary.
    RunNeighbours neighbours(const Run& run, Int3 offset) const {
        const Int3 p = run.first + offset;
        RunNeighbours range{0, run.count, slot(p)};
        clip(range, p.x, step().x, grid_.nx);
        clip(range, p.y, step().y, grid_.ny);
        clip(range, p.z - first_neighbour_, 0, last_neighbour_ - first_neighbour_);
        return range;
    }

    friend bool operator==(const Layout& a, const Layout& b) {
        return a.kind_ == b.kind_ && a.grid_.nx == b.grid_.nx && a.grid_.ny == b.grid_.ny && a.grid_.nz == b.grid_.nz &&
               a.begin_plane_ == b.begin_plane_ && a.end_plane_ == b.end_plane_ && a.halo_ == b.halo_ &&
               a.first_neighbour_ == b.first_neighbour_ && a.last_neighbour_ == b.last_neighbour_ &&
               (a.kind_ == LayoutKind::natural || a.levels_ == b.levels_);
    }

private:
    /// Narrows [begin, end) to the positions t with 0 <= first + step t < extent, for steps up to 1.
    static void clip(RunNeighbours& range, int first, int step, int extent) {
        if (step == 1) {
            range.begin = std::max(range.begin, -first);
            range.end = std::min(range.end, extent - first);
        } else if (first < 0 || (step == 0 && first >= extent)) {
            range.end = range.begin;
        } else if (step < 0) {
            range.begin = std::max(range.begin, (first - extent - step) / -step);
            range.end = std::min(range.end, first / -step + 1);
        }
    }

    LayoutKind kind_ = LayoutKind::natural;
    Grid grid_;
    LevelMap levels_;
    int begin_plane_ = 0, end_plane_ = 1, halo_ = 0;
    int first_neighbour_ = 0, last_neighbour_ = 1;  ///< planes that have neighbours
};

/// Calls body(run) once for every run of the layout. The context's threads share the runs if the grid, with `dof`
/// unknowns a point, is large enough (Context::threads_for). No two runs share a slot.
void for_each_run(const Context& context, const Layout& layout, int dof, FunctionRef<void(const Run&)> body);

/// Calls body(point, slot) once for every point, over the context's threads. A body whose work at a point equals that
/// of several unknowns has a member `int unknowns() const` that says how many, for the choice of the number of threads.
template <class Body>
void for_each_point(const Context& context, const Layout& layout, const Body& body) {
    const Int3 step = layout.step();
    int unknowns = 1;
    if constexpr (requires { body.unknowns(); }) unknowns = body.unknowns();
    for_each_run(context, layout, unknowns, [&](const Run& run) {
        Int3 p = run.first;
        for (int t = 0; t < run.count; ++t, p = p + step) body(p, run.slot + t);
    });
}

}  // namespace hyperplane
