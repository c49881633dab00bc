// SPDX-License-Identifier: BSD-3-Clause
// The set-ups of a hierarchy's smoothers, which wait for a GPU together, and their reports.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/profile.hpp"
#include "precond/factors/pivot_error.hpp"
#include "precond/multigrid/hierarchy.hpp"

namespace hyperplane::multigrid {

void Hierarchy::on_grid(int grid, const std::function<void(GridParts&)>& act) {
    const auto message = [&](const SetupError& error) {
        return fmt::format("multigrid: the smoother of {} points: {}", name_of(grid, matrix(grid).grid()),
                           parts_[grid].smoother.worded(error.what()));
    };
    try {
        act(parts_[grid]);
    } catch (const PivotError& error) {
        throw PivotError(message(error), error.remedies);
    } catch (const SetupError& error) {
        throw SetupError(message(error));
    }
}

std::vector<int> Hierarchy::prepare_smoothers(const SmootherChoices& smoothers, const SmootherOptions& smoothing) {
    const SmootherOptions undamped{.damping = 1.0};  // l1 Jacobi needs no damping
    const int last = size() - 1, count = smoothers.coarsest ? last + 1 : last;
    std::vector<int> queued;
    for (int grid = 0; grid < count; ++grid) {
        const bool damped = grid < last;
        on_grid(grid, [&](GridParts& parts) {
            if (parts.smoother.prepare(matrix(grid), damped ? smoothers.on(grid) : *smoothers.coarsest,
                                       damped ? smoothing : undamped))
                queued.push_back(grid);
        });
    }
    return queued;
}

/// Set-ups that are only queued begin with the smallest grid, so that what runs beside the stream on small grids does
/// so while large ones are factored. The others go in the order of the grids.
void Hierarchy::set_up_smoothers(const std::vector<int>& queued, int count, SetupReport& all,
                                 const std::function<void()>& meanwhile) {
    const Context& context = a_->context();
    struct Join {
        std::vector<GridParts>& parts;
        ~Join() {
            for (GridParts& one : parts) one.smoother.join();
        }
    };
    {
        const ProfileScope scope(context, "smoothers");
        const Join join{parts_};
        const auto begin = [&](int grid) {
            on_grid(grid, [&](GridParts& parts) { parts.smoother.begin(parts.survey.traits, parts.r, parts.t); });
        };
        for (int grid = 0; grid < count; ++grid)
            if (std::find(queued.begin(), queued.end(), grid) == queued.end()) begin(grid);
        for (std::size_t at = queued.size(); at > 0; --at) begin(queued[at - 1]);
    }
    meanwhile();
    const ProfileScope scope(context, "smoothers");
    for (int grid = 0; grid < count; ++grid)
        on_grid(grid, [&](GridParts& parts) { add_report(grid, parts.smoother.finish(), all); });
}

/// Cells of coarse grids are reported as those of grid 0 that they coincide with.
void Hierarchy::add_report(int grid, const SetupReport& report, SetupReport& all) const {
    const auto on_finest = [&](Int3 p) {
        for (int finer = grid - 1; finer >= 0; --finer) {
            const Axes& axes = parts_[finer].interpolation->grids().axes;
            p = {axes[0] ? 2 * p.x : p.x, axes[1] ? 2 * p.y : p.y, axes[2] ? 2 * p.z : p.z};
        }
        return p;
    };
    all.pivots_modified += report.pivots_modified;
    for (PivotEvent event : report.modified) {
        if (all.modified.size() == SetupReport::max_events) break;
        event.cell = on_finest(event.cell);
        all.modified.push_back(event);
    }
    all.shift = std::max(all.shift, report.shift);
    if (report.smallest_pivot_ratio < all.smallest_pivot_ratio) {
        all.smallest_pivot_ratio = report.smallest_pivot_ratio;
        all.smallest_pivot_cell = on_finest(report.smallest_pivot_cell);
    }
    all.factor_bytes += report.factor_bytes;
    all.values_flushed += report.values_flushed;
}

}  // namespace hyperplane::multigrid
