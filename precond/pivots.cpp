#include "precond/pivots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "precond/gauss_jordan.hpp"

namespace hyperplane {
namespace {

double largest_entry(const double* block, int size) {
    double largest = 0.0;
    for (int at = 0; at < size; ++at) largest = std::max(largest, std::abs(block[at]));
    return largest;
}

bool earlier(const Grid& grid, const PivotEvent& a, const PivotEvent& b) {
    return std::pair(grid.row(a.cell), a.component) < std::pair(grid.row(b.cell), b.component);
}

}  // namespace

void PivotInverter::fail(PivotEvent event) {
    const std::lock_guard lock(mutex_);
    if (failures_++ == 0 || earlier(grid_, event, first_failure_)) first_failure_ = event;
}

void PivotInverter::note(const PivotRatio& smallest) {
    const std::lock_guard lock(mutex_);
    smallest_.take(smallest.value, smallest.row);
}

void PivotInverter::invert_block(Int3 cell, const double* diagonal, double* block, PivotRatio& smallest) {
    const int size = dof_ * dof_;
    const double scale = std::max(largest_entry(diagonal, size), largest_entry(block, size));
    double ratio = 1.0;
    const auto accept = [&](int row, double pivot) {
        const double own = diagonal[row * dof_ + row];
        const bool wrong_sign = definite_ && pivot * own < 0.0;
        if (own != 0.0 && std::isfinite(pivot)) ratio = std::min(ratio, wrong_sign ? 0.0 : std::abs(pivot / own));
        if (std::isfinite(pivot) && std::abs(pivot) > rules_.tolerance * scale && !wrong_sign) return pivot;
        const bool mendable = std::isfinite(pivot) && std::isfinite(scale) && scale > 0.0;
        if (rules_.policy != PivotPolicy::boost || !mendable) {
            fail({cell, row, pivot});
            return 0.0;
        }
        const std::lock_guard lock(mutex_);
        ++boosts_;
        boosted_.push_back({cell, row, pivot});
        return std::copysign(rules_.boost * scale, wrong_sign || pivot == 0.0 ? own : pivot);
    };
    if (invert_in_place(dof_, block, accept) >= 0) std::fill_n(block, size, 0.0);
    smallest.take(ratio, grid_.row(cell));
}

void PivotInverter::adopt(Index failures, PivotEvent first_failure, Index boosts, std::vector<PivotEvent> first_boosts,
                          const PivotRatio& smallest) {
    failures_ = failures;
    first_failure_ = first_failure;
    boosts_ = boosts;
    boosted_ = std::move(first_boosts);
    smallest_ = smallest;
}

bool PivotInverter::not_finite() const {
    return failures_ > 0 && !std::isfinite(first_failure_.value);
}

std::string PivotInverter::explain() const {
    const auto& [cell, component, value] = first_failure_;
    const char* kind = not_finite()   ? "not a finite number"
                       : value == 0.0 ? "zero"
                       : definite_    ? "not positive enough for incomplete Cholesky"
                                      : "too small";
    const char* advice =
        not_finite() ? "The matrix holds a NaN or an infinity, which no pivot_policy mends; check the coefficients."
        : rules_.policy == PivotPolicy::boost
            ? "Its whole block is zero, so there is no scale to boost it to; give the cell a diagonal entry."
            : "Try preconditioner.pivot_policy = shift or boost, or a preconditioner.shift above 0.";
    return fmt::format("the pivot at cell ({},{},{}), component {}, is {:g}, {} ({} such pivots in all). {}", cell.x,
                       cell.y, cell.z, component, value, kind, failures_, advice);
}

void PivotInverter::add_failures_to(SetupReport& report) const {
    report.pivots_modified += failures_;
    report.modified.push_back(first_failure_);
}

void PivotInverter::add_to(SetupReport& report) const {
    auto events = boosted_;
    std::sort(events.begin(), events.end(), [&](auto& a, auto& b) { return earlier(grid_, a, b); });
    report.pivots_modified += boosts_;
    events.resize(std::min(events.size(), SetupReport::max_events - report.modified.size()));
    report.modified.insert(report.modified.end(), events.begin(), events.end());
    report.smallest_pivot_ratio = smallest_.value;
    report.smallest_pivot_cell = grid_.point(smallest_.row);
}

}  // namespace hyperplane
