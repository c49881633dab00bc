// SPDX-License-Identifier: BSD-3-Clause
#include "precond/walks/wavefront.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>

#include "core/ranks/communicator.hpp"

namespace hyperplane {
namespace {

/// The number of completed planes of each slab. Each counter has a cache line of its own.
class SlabProgress {
public:
    explicit SlabProgress(int slabs) : done_(slabs) {}
    void complete(int slab, int planes) {
        done_[slab].planes.store(planes, std::memory_order_release);
        done_[slab].planes.notify_one();  // costs nothing unless the next slab's thread sleeps
    }
    void wait(int slab, int planes) const {
        const std::atomic<int>& counter = done_[slab].planes;
        int done = counter.load(std::memory_order_acquire);
        for (int spins = 0; done < planes && spins < 4000; ++spins) done = counter.load(std::memory_order_acquire);
        for (; done < planes; done = counter.load(std::memory_order_acquire)) counter.wait(done);
    }

private:
    struct alignas(64) Counter {
        std::atomic<int> planes{0};
    };
    std::vector<Counter> done_;
};

/// The lines of a natural layout by slabs of the skewed coordinate j' = j + skew (k - first), `width` wide.
struct Slabs {
    int ny, skew, first, width;

    /// About `wanted` slabs of the planes [first, end).
    Slabs(const Grid& grid, int skew, int first, int end, int wanted)
        : ny(grid.ny), skew(skew), first(first), width((range(end) + wanted - 1) / wanted) {}
    /// Number of coordinates j' up to plane `end`.
    int range(int end) const { return ny + skew * (end - first - 1); }
    int first_line(int slab, int plane) const { return std::max(0, slab * width - skew * (plane - first)); }
    int last_line(int slab, int plane) const { return std::min(ny, (slab + 1) * width - skew * (plane - first)) - 1; }
};

/// Calls body(line) for the lines of a slab in one plane.
void walk_plane(const Layout& layout, const Slabs& slabs, int slab, int plane, Side side,
                FunctionRef<void(const Run&)> body) {
    const int first = slabs.first_line(slab, plane), last = slabs.last_line(slab, plane);
    if (side == Side::lower)
        for (int j = first; j <= last; ++j) body(layout.line(j, plane));
    else
        for (int j = last; j >= first; --j) body(layout.line(j, plane));
}

/// Calls body(line) for all lines of a natural layout in the order above; `skew` is Stencil::line_skew().
void walk_lines(const Layout& layout, int threads, int skew, Side side, FunctionRef<void(const Run&)> body) {
    const int begin = layout.begin_plane(), planes = layout.planes();
    const int range = layout.grid().ny + skew * (planes - 1);
    const int count = std::max(1, std::min(threads, range / 4));
    const Slabs slabs(layout.grid(), skew, begin, layout.end_plane(), count);
    const bool up = side == Side::lower;
    SlabProgress progress(count);
#pragma omp parallel num_threads(count)
    for (int turn = omp_get_thread_num(); turn < count; turn += omp_get_num_threads()) {
        const int slab = up ? turn : count - 1 - turn;
        for (int plane = 0; plane < planes; ++plane) {
            if (turn > 0) progress.wait(up ? slab - 1 : slab + 1, plane + 1);
            walk_plane(layout, slabs, slab, begin + (up ? plane : planes - 1 - plane), side, body);
            progress.complete(slab, plane + 1);
        }
    }
}

/// Passes the lines of a slab in the planes next to a cut between ranks on. A message has the values of all arrays, by
/// array, plane and line; there is none for a slab without lines in these planes.
class CarriedLines {
public:
    CarriedLines(Communicator& ranks, const Layout& layout, const Slabs& slabs, const Carried& carried, Side to)
        : ranks_(ranks), layout_(layout), slabs_(slabs), carried_(carried), up_(to == Side::lower) {}

    /// Receives lines from the rank before this one, in the order of the solve.
    void receive(int slab) {
        const int other = ranks_.rank() + (up_ ? -1 : 1);
        if (other < 0 || other >= ranks_.size()) return;
        const int begin = up_ ? layout_.begin_plane() - carried_.planes : layout_.end_plane();
        std::size_t size = 0;
        visit(slab, begin, [&](double*, std::size_t count) { size += count; });
        if (size == 0) return;
        message_.resize(size);
        ranks_.receive(other, message_);
        const double* from = message_.data();
        visit(slab, begin, [&](double* lines, std::size_t count) {
            std::copy_n(from, count, lines);
            from += count;
        });
    }
    /// Sends lines to the rank after this one.
    void send(int slab) {
        const int other = ranks_.rank() + (up_ ? 1 : -1);
        if (other < 0 || other >= ranks_.size()) return;
        message_.clear();
        visit(slab, up_ ? layout_.end_plane() - carried_.planes : layout_.begin_plane(),
              [&](double* lines, std::size_t count) { message_.insert(message_.end(), lines, lines + count); });
        if (!message_.empty()) ranks_.send(other, message_);
    }

private:
    /// Calls body(first value, count) for the consecutive lines of a slab in each of the carried planes from `begin`
    /// on.
    template <class Body>
    void visit(int slab, int begin, const Body& body) const {
        for (double* array : carried_.arrays)
            for (int plane = begin; plane < begin + carried_.planes; ++plane) {
                const int first = slabs_.first_line(slab, plane), last = slabs_.last_line(slab, plane);
                if (first > last) continue;
                body(array + layout_.slot({0, first, plane}), std::size_t(last - first + 1) * layout_.grid().nx);
            }
    }

    Communicator& ranks_;
    const Layout& layout_;
    const Slabs& slabs_;
    const Carried& carried_;
    bool up_;
    std::vector<double> message_;
};

/// The same for the lines of one of several ranks, with one thread. Slabs are the same on all ranks.
void walk_lines_of_rank(Communicator& ranks, const Layout& layout, int skew, Side side, const Carried& carried,
                        FunctionRef<void(const Run&)> body) {
    const Grid& grid = layout.grid();
    const int range = grid.ny + skew * (grid.nz - 1);
    const Slabs slabs(grid, skew, 0, grid.nz, std::clamp(range / 8, 1, 8 * ranks.size()));
    const int count = (range + slabs.width - 1) / slabs.width;
    const bool up = side == Side::lower;
    CarriedLines lines(ranks, layout, slabs, carried, side);
    for (int turn = 0; turn < count; ++turn) {
        const int slab = up ? turn : count - 1 - turn;
        lines.receive(slab);
        for (int at = 0; at < layout.planes(); ++at)
            walk_plane(layout, slabs, slab, up ? layout.begin_plane() + at : layout.end_plane() - 1 - at, side, body);
        lines.send(slab);
    }
}

/// Calls body(run) for all runs of a hyperplane layout in the order above.
void walk_levels(const Layout& layout, int threads, Side side, FunctionRef<void(const Run&)> body) {
    const int levels = layout.level_count();
#pragma omp parallel num_threads(threads)
    for (int at = 0; at < levels; ++at) {
        const int level = side == Side::lower ? at : levels - 1 - at;
        const int first = layout.level_first_plane(level), last = layout.level_last_plane(level);
#pragma omp for schedule(static)
        for (int k = first; k <= last; ++k)
            if (const Run run = layout.level_run(level, k); run.count > 0) body(run);
    }
}

}  // namespace

void for_each_run_in_order(const Context& context, const Layout& layout, int dof, int skew, Side side,
                           const Carried& carried, FunctionRef<void(const Run&)> body) {
    if (layout.is_part() && layout.has_neighbours_outside())
        return walk_lines_of_rank(*context.ranks(), layout, skew, side, carried, body);
    const int threads = context.threads_for(layout.slots() * dof);
    if (layout.kind() == LayoutKind::natural)
        walk_lines(layout, threads, skew, side, body);
    else
        walk_levels(layout, threads, side, body);
}

}  // namespace hyperplane
