// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/pivots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/matrix/bsr_matrix.hpp"
#include "core/profile.hpp"
#include "core/ranks/cuts.hpp"
#include "precond/choice_key.hpp"
#include "precond/factors/gauss_jordan.hpp"
#include "precond/factors/known_dof.hpp"
#include "precond/factors/pivot_error.hpp"

namespace hyperplane {
namespace {

double largest_entry(const double* block, int size) {
    double largest = 0.0;
    for (int at = 0; at < size; ++at) largest = std::max(largest, std::abs(block[at]));
    return largest;
}

bool is_general(const SystemMatrix& a) {
    return dynamic_cast<const BsrMatrix*>(&a) != nullptr;
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

void PivotInverter::invert_block(Int3 cell, const double* diagonal, double* block, PivotRatio& smallest,
                                 const std::function<double()>& of_row) {
    const int size = dof_ * dof_;
    const double scale = std::max(largest_entry(diagonal, size), largest_entry(block, size));
    double ratio = 1.0;
    const auto accept = [&](int row, double pivot) {
        const double own = diagonal[row * dof_ + row];
        ratio = std::min(ratio, rule_.ratio(pivot, own));
        if (rule_.accepts(pivot, own, rule_.tolerance * scale)) return pivot;
        const double to_boost = rule_.scale_to_boost(pivot, scale, of_row);
        if (!rule_.boosts(pivot, to_boost)) {
            fail({cell, row, pivot});
            return 0.0;
        }
        const std::lock_guard lock(mutex_);
        ++boosts_;
        boosted_.push_back({cell, row, pivot});
        return rule_.boosted(pivot, own, to_boost);
    };
    const int given_up = with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(
        dof_, [&](auto m) { return invert_in_place(m.value > 0 ? m.value : dof_, block, accept); });
    if (given_up >= 0) std::fill_n(block, size, 0.0);
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

void PivotInverter::adopt(const PivotLog& log, const PivotRatio& smallest) {
    const auto event = [&](unsigned long long row, double value) {
        return PivotEvent{cell(row_of(Index(row / dof_))), int(row % dof_), value};
    };
    std::vector<PivotEvent> boosted;
    for (int at = 0; at < log.boosted_size; ++at) boosted.push_back(event(log.boosted[at], log.boosted_value[at]));
    adopt(Index(log.failures), log.failures ? event(log.failed[0], log.failed_value[0]) : PivotEvent{},
          Index(log.boosts), std::move(boosted), smallest);
    smallest_.row = row_of(smallest_.row);  // if no pivot shrank, that of the first point
}

void PivotInverter::gather(const Context& context) {
    if (!context.ranks()) return;
    const std::vector<double> counts =
        gathered(context, {double(failures_), double(grid_.row(first_failure_.cell)), double(first_failure_.component),
                           first_failure_.value, double(boosts_), smallest_.value, double(smallest_.row)});
    failures_ = boosts_ = 0;
    for (std::size_t at = 0; at < counts.size(); at += 7) {
        const PivotEvent first{grid_.point(Index(counts[at + 1])), int(counts[at + 2]), counts[at + 3]};
        if (counts[at] > 0.0 && (failures_ == 0 || earlier(grid_, first, first_failure_))) first_failure_ = first;
        failures_ += Index(counts[at]);
        boosts_ += Index(counts[at + 4]);
        smallest_.take(counts[at + 5], Index(counts[at + 6]));
    }
    std::sort(boosted_.begin(), boosted_.end(), [&](auto& a, auto& b) { return earlier(grid_, a, b); });
    boosted_.resize(std::min(boosted_.size(), SetupReport::max_events));
    std::vector<double> events;
    for (const PivotEvent& event : boosted_)
        events.insert(events.end(), {double(grid_.row(event.cell)), double(event.component), event.value});
    events.resize(3 * SetupReport::max_events, -1.0);  // every rank sends as many; those without a cell are none
    events = gathered(context, events);
    boosted_.clear();
    for (std::size_t at = 0; at < events.size(); at += 3)
        if (events[at] >= 0.0)
            boosted_.push_back({grid_.point(Index(events[at])), int(events[at + 1]), events[at + 2]});
}

bool PivotInverter::not_finite() const {
    return failures_ > 0 && !std::isfinite(first_failure_.value);
}

bool PivotInverter::is_zero() const {
    return failures_ > 0 && first_failure_.value == 0.0;
}

std::string PivotInverter::explain() const {
    const auto& [cell, component, value] = first_failure_;
    const bool overflows = value != 0.0 && !PivotRule::has_inverse(value);
    const char* kind = not_finite()      ? "not a finite number"
                       : value == 0.0    ? "zero"
                       : overflows       ? "so small that double precision cannot hold its inverse"
                       : !rule_.definite ? "too small"
                       : value < 0.0     ? "not positive enough for incomplete Cholesky"
                                         : "too small for incomplete Cholesky, or of another sign than A's diagonal";
    const char* cause =
        not_finite()
            ? " The matrix holds a NaN or an infinity, or values so large or small that the factors grew beyond double "
              "precision, which no pivot_policy can repair; check the coefficients and their units."
        : overflows         ? " Multiply both the matrix and b by a power of ten."
        : rule_.by_row      ? ""  // refuse_pivots says more
        : rule_.boost > 0.0 ? " Its whole block is zero, so there is no scale to boost it to; give it a diagonal entry."
                            : "";
    const std::string place = grid_.plain_rows
                                  ? fmt::format("row {}", Index(given(cell).x) * dof_ + component + 1)
                                  : fmt::format("cell ({},{},{}), component {},", cell.x, cell.y, cell.z, component);
    const std::string found = value == 0.0 ? kind : fmt::format("{:g}, {}", value, kind);
    return fmt::format("the pivot at {} is {} ({} such pivot{} in all).{}", place, found, failures_,
                       failures_ == 1 ? "" : "s", cause);
}

void PivotInverter::add_failures_to(SetupReport& report) const {
    report.pivots_modified += failures_;
    report.modified.push_back({given(first_failure_.cell), first_failure_.component, first_failure_.value});
}

void PivotInverter::add_to(SetupReport& report) const {
    auto events = boosted_;
    std::sort(events.begin(), events.end(), [&](auto& a, auto& b) { return earlier(grid_, a, b); });
    report.pivots_modified += boosts_;
    events.resize(std::min(events.size(), SetupReport::max_events - report.modified.size()));
    for (PivotEvent& event : events) event.cell = given(event.cell);
    report.modified.insert(report.modified.end(), events.begin(), events.end());
    report.smallest_pivot_ratio = smallest_.value;
    report.smallest_pivot_cell = given(grid_.point(smallest_.row));
}

PivotLog empty_pivot_log() {
    PivotLog log{};
    std::fill_n(log.boosted, int(PivotLog::capacity), ~0ull);
    log.failed[0] = ~0ull;
    return log;
}

const ParameterTable& pivot_parameters() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    static const ParameterTable table{
        {.section = section,
         .key = "shift",
         .type = real,
         .default_value = "auto",
         .description = "alpha: A + alpha diag(A) is factored; A itself never changes. auto: what the problem suggests "
                        "for its step, which is 0 for most",
         .minimum = Bound{0},
         .choices = {"auto"}},
        choice_key("pivot_policy", "fail",
                   "what happens if a pivot cannot be used: an error with its cell (fail), a growing shift of the "
                   "whole diagonal (shift), or a replaced pivot (boost); each modified pivot is counted and located",
                   {"fail", "shift", "boost"}),
        {.section = section,
         .key = "pivot_tolerance",
         .type = real,
         .default_value = "1e-14",
         .description = "a pivot cannot be used if it is below this fraction of its block's largest entry",
         .minimum = Bound{0},
         .maximum = Bound{1, true}},
        {.section = section,
         .key = "pivot_boost",
         .type = real,
         .default_value = "1e-3",
         .description = "size of a boosted pivot as a fraction of its block's largest entry, or of its row's where the "
                        "block of a general matrix is zero",
         .minimum = Bound{0, true},
         .maximum = Bound{1},
         .only_with = Condition{"pivot_policy", "boost"}},
    };
    return table;
}

PivotOptions pivot_options(const Parameters& parameters) {
    const std::string section = "preconditioner";
    PivotOptions options;
    options.shift_is_auto = parameters.text(section, "shift") == "auto";
    if (!options.shift_is_auto) options.shift = parameters.real(section, "shift");
    const std::string& policy = parameters.text(section, "pivot_policy");
    options.rules.policy = policy == "shift"   ? PivotPolicy::shift
                           : policy == "boost" ? PivotPolicy::boost
                                               : PivotPolicy::fail;
    options.rules.tolerance = parameters.real(section, "pivot_tolerance");
    options.rules.boost = parameters.real(section, "pivot_boost");
    return options;
}

std::shared_ptr<const RowOrder> order_of(const SystemMatrix& a) {
    const auto* const found = dynamic_cast<const BsrMatrix*>(&a);
    return found ? found->pattern()->order() : nullptr;
}

Grid places_of(const SystemMatrix& a) {
    return a.space().has_grid() ? a.space().layout().grid() : Grid::of_rows(a.space().all_block_rows());
}

SetupReport factor_with_policy(const SystemMatrix& a, const PivotRules& rules, double shift, const std::string& name,
                               const std::function<void(double, PivotInverter&)>& build, const std::string& remark,
                               const std::string& of_signs) {
    constexpr double first_shift = 1e-3, last_shift = 10.0;
    SetupReport report;
    PivotRules followed = rules;
    PivotEvent last{{-1, -1, -1}, 0, 1.0};  // the first failure of the attempt before
    for (double alpha = shift;;) {
        PivotInverter inverter(followed, places_of(a), a.dof(), a.symmetric(), order_of(a));
        if (a.context().backend() == Backend::cuda || !a.space().has_grid())
            inverter.set_first_row(a.space().first_block_row());
        {
            const ProfileScope scope(a.context(), "factorisation", a.bytes());
            build(alpha, inverter);
        }
        // Where every rank has the whole grid, as on multigrid's coarse grids, each knows everything already.
        if (a.space().is_part()) inverter.gather(a.context());
        report.shift = alpha;
        if (inverter.failures() == 0) {
            inverter.add_to(report);
            return report;
        }
        if (rules.policy == PivotPolicy::boost && is_general(a) && !followed.by_row && !inverter.not_finite()) {
            followed.by_row = true;
            continue;
        }
        const bool mendable = rules.policy == PivotPolicy::shift && !inverter.not_finite();
        SetupReport attempt;
        inverter.add_failures_to(attempt);
        const PivotEvent& first = attempt.modified.front();
        const bool stays =
            first.value == 0.0 && last.value == 0.0 && first.cell == last.cell && first.component == last.component;
        last = first;
        const std::string why = stays ? " No shift changes it: its diagonal coefficient and its fill are zero."
                                      : fmt::format(" A shift of {:g} did not help.", alpha);
        if (!mendable || stays || alpha > last_shift)
            refuse_pivots(name, a, inverter, rules, mendable ? remark + why : remark, of_signs);
        if (report.pivots_modified == 0) inverter.add_failures_to(report);
        alpha = std::max(first_shift, 2.0 * alpha);
    }
}

}  // namespace hyperplane
