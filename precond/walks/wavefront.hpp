// SPDX-License-Identifier: BSD-3-Clause
// The order of runs in a triangular solve or a factorisation on a CPU. It is described for the lower solve; the upper
// solve has the reverse order.
//
// hyperplane layout: runs of one level are independent. Levels follow each other (StructILU paper, section 4.1, steps 1
// to 3), with a barrier between consecutive levels.
//
// natural layout: runs are lines along x. No lower offset leads to a larger skewed coordinate j' = j + s k, so slabs of
// j' depend only on slabs before them. This is the paper's acyclic task mapping, with a CPU thread in place of a thread
// block. A thread computes the planes k of its slab in ascending order. Before each plane it waits until the slab
// before has completed the same plane (the paper's block-to-block waiting scheme). With a single thread there is one
// slab, which is computed in memory order.
//
// Every run is computed by a single thread and always in the same way, so results have the same bits for any number of
// threads.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/grid/layout.hpp"

namespace hyperplane {

enum class Direction { lower, upper };  ///< lower: points ascending; upper: descending

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

/// Calls body(line) for all lines of a natural layout in the order above; `skew` is Stencil::line_skew().
template <class Body>
void sweep_lines(const Layout& layout, int threads, int skew, Direction direction, const Body& body) {
    const Grid grid = layout.grid();
    const int range = grid.ny + skew * (grid.nz - 1);
    const int slabs = std::max(1, std::min(threads, range / 4));
    const int width = (range + slabs - 1) / slabs;
    const bool up = direction == Direction::lower;
    SlabProgress progress(slabs);
#pragma omp parallel num_threads(slabs)
    for (int turn = omp_get_thread_num(); turn < slabs; turn += omp_get_num_threads()) {
        const int slab = up ? turn : slabs - 1 - turn;
        for (int plane = 0; plane < grid.nz; ++plane) {
            if (turn > 0) progress.wait(up ? slab - 1 : slab + 1, plane + 1);
            const int k = up ? plane : grid.nz - 1 - plane;
            const int first = std::max(0, slab * width - skew * k);
            const int last = std::min(grid.ny, (slab + 1) * width - skew * k) - 1;
            if (up)
                for (int j = first; j <= last; ++j) body(layout.line(j, k));
            else
                for (int j = last; j >= first; --j) body(layout.line(j, k));
            progress.complete(slab, plane + 1);
        }
    }
}

/// Calls body(run) for all runs of a hyperplane layout in the order above.
template <class Body>
void sweep_levels(const Layout& layout, int threads, Direction direction, const Body& body) {
    const int levels = layout.level_count();
#pragma omp parallel num_threads(threads)
    for (int at = 0; at < levels; ++at) {
        const int level = direction == Direction::lower ? at : levels - 1 - at;
        const int first = layout.level_first_plane(level), last = layout.level_last_plane(level);
#pragma omp for schedule(static)
        for (int k = first; k <= last; ++k)
            if (const Run run = layout.level_run(level, k); run.count > 0) body(run);
    }
}

/// Calls body(run) for every run of points with `dof` unknowns, after all the runs on which it depends.
template <class Body>
void sweep(const Context& context, const Layout& layout, int dof, int skew, Direction direction, const Body& body) {
    const int threads = context.threads_for(layout.slots() * dof);
    if (layout.kind() == LayoutKind::natural)
        sweep_lines(layout, threads, skew, direction, body);
    else
        sweep_levels(layout, threads, direction, body);
}

}  // namespace hyperplane
