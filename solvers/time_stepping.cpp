// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/time_stepping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/vector/blas1.hpp"

namespace hyperplane {
namespace {

constexpr Index most_attempts = 10;
constexpr double failure_factor = 0.25;
constexpr double held_factor = 0.5;                                    // of the length that failed
constexpr Index held_steps = 20;                                       // accepted steps that keep to it
constexpr double safety = 0.9, least_factor = 0.2, most_factor = 2.0;  // BDF2 is stable for growth up to 2.41
constexpr double least_advance = 1e-14;                                // shortest step relative to the time
constexpr double end_tolerance = 1e-10;  // a step that ends this close to end_time, relatively, ends at end_time

/// Where numbers lie in time/scalars of a saved state. States of earlier versions end before held_length or given_up.
namespace place {
enum Place : std::size_t {
    done,
    attempt,
    time,
    dt,
    proposed,
    growth,
    first_norm,
    dt_before,
    dt_before_last,
    run_time,
    run_dt,
    run_steps,
    held_length,
    held_left,
    given_up,
    places
};
}

/// Weights with which the polynomial through values at times -s[0], -s[1], ... is evaluated at time x.
std::vector<double> extrapolation(const std::vector<double>& s, double x) {
    std::vector<double> weights;
    for (std::size_t i = 0; i < s.size(); ++i) {
        double weight = 1.0;
        for (std::size_t j = 0; j < s.size(); ++j)
            if (j != i) weight *= (x + s[j]) / (s[j] - s[i]);
        weights.push_back(weight);
    }
    return weights;
}

}  // namespace

Index TimeOptions::vectors() const {
    if (regime == Regime::steady) return 0;
    if (controlled()) return order() + 1;
    return scheme == TimeScheme::bdf2 ? 2 : keeps_old || repeats() ? 1 : 0;
}

TimeStepper::TimeStepper(const Problem& problem, const TimeOptions& options, const Context& context,
                         const IndexSpace& space)
    : problem_(problem), options_(options) {
    for (Index at = 0; at < options.vectors(); ++at)
        before_[at] = Vector(context, space, problem.shape().dof, "states before");
}

void TimeStepper::begin(double norm) {
    first_norm_ = norm;
    if (options_.pseudo() && norm <= options_.steady_atol) ended_ = EndReason::steady_state;
}

double TimeStepper::length_from(const Vector& u) const {
    if (options_.regime == Regime::steady) return std::numeric_limits<double>::infinity();
    if (options_.pseudo()) return growth_ * problem_.time_step(u);
    double dt = options_.controlled() && proposed_ > 0.0 ? proposed_ : problem_.time_step(u);
    if (held_left_ > 0) dt = std::min(dt, held_length_);
    if (options_.controlled()) dt = std::min(std::max(dt, least_length()), options_.largest_step);
    const double left = options_.end_time - time_;
    return dt >= left * (1.0 - end_tolerance) ? left : dt;
}

double TimeStepper::least_length() const {
    return std::max(options_.smallest_step, least_advance * time_);
}

double TimeStepper::time_after(double dt) const {
    if (time_ + dt >= options_.end_time) return options_.end_time;
    return dt == run_dt_ ? run_time_ + double(run_steps_ + 1) * dt : time_ + dt;
}

TimeLevel TimeStepper::next(const Vector& u) {
    if (attempt_ == 0) {
        const double dt = length_from(u);
        if (options_.regime == Regime::transient && std::isinf(time_after(dt))) {
            ended_ = EndReason::time_not_finite;
            return {};
        }
        dt_ = dt;
        const Index held = options_.vectors();
        if (held > 2) std::swap(before_[2], before_[1]);
        if (held > 1) std::swap(before_[1], before_[0]);
        if (held > 0) copy(u, before_[0]);
    }
    ++attempt_;
    return *under_way(u);
}

std::optional<TimeLevel> TimeStepper::under_way(const Vector& u) const {
    if (attempt_ == 0) return std::nullopt;
    const Index step = done_ + 1;
    if (options_.regime == Regime::steady) return TimeLevel{.step = step};
    const Vector& old = options_.vectors() > 0 ? before_[0] : u;
    TimeLevel level = options_.scheme == TimeScheme::bdf2 && done_ > 0
                          ? bdf2(step, time_after(dt_), dt_, dt_before_[0], old, before_[1])
                          : implicit_euler(step, time_after(dt_), dt_, old);
    level.pseudo = options_.pseudo();
    return level;
}

TimeLevel TimeStepper::at_rest(const Vector& u) const {
    const double dt = dt_ > 0.0 ? dt_ : problem_.time_step(u);
    TimeLevel level = implicit_euler(done_ + 1, time_ + dt, dt, u);
    level.pseudo = true;
    return level;
}

Index TimeStepper::known() const {
    return std::min(done_ + 1, options_.vectors());
}

/// ||e|| / ||u||
std::optional<double> TimeStepper::estimate(const Vector& u, Vector& work) const {
    const int states = options_.order() + 1, begun_by_euler = options_.order() - 1;
    if (done_ + 1 < states + begun_by_euler) return std::nullopt;
    std::vector<double> ago{0.0};
    for (int k = 1; k < states; ++k) ago.push_back(ago.back() + dt_before_[k - 1]);
    const std::vector<double> weights = extrapolation(ago, dt_);
    copy(u, work);
    for (int k = 0; k < states; ++k) axpy(-weights[k], before_[k], work);
    const double error = norm2(work) / (under_way(u)->rate[0] * (dt_ + ago.back()));
    return error == 0.0 ? 0.0 : error / norm2(u);  // also where u is 0
}

std::optional<double> TimeStepper::error_of_first(const Vector& u, Vector& work) const {
    if (!options_.controlled() || done_ != 1) return std::nullopt;
    const double w = dt_ / dt_before_[0];
    copy(u, work);
    axpy(-(1.0 + w), before_[0], work);
    axpy(w, before_[1], work);
    const bool euler = options_.scheme == TimeScheme::implicit_euler;
    const double error = (euler ? 1.0 : (1.0 + 2.0 * w) / (1.0 + w)) / (2.0 * w * w) * norm2(work);
    return error == 0.0 ? 0.0 : error / norm2(u);
}

StepRow TimeStepper::row() const {
    StepRow row{.step = done_ + 1, .attempt = given_up_ + attempt_, .time = time_after(dt_), .dt = dt_};
    if (options_.regime == Regime::steady) row.time = 0.0;
    if (options_.pseudo()) row.cfl = growth_ * problem_.cfl_range().first;
    return row;
}

bool TimeStepper::judge(Vector& u, double norm, Vector& work, StepRow& row) {
    double factor = 1.0;
    if (options_.controlled())
        if (const auto error = estimate(u, work)) {
            row.error_estimate = *error;
            const double ratio = *error / options_.tolerance;
            factor = std::clamp(safety * std::pow(ratio, -1.0 / (options_.order() + 1)), least_factor,
                                attempt_ > 1 ? 1.0 : most_factor);
            if (!(ratio <= 1.0)) {
                shorten(std::isfinite(ratio) ? std::min(factor, safety) : failure_factor, u,
                        EndReason::too_many_rejections);
                return false;
            }
        }
    if (options_.pseudo()) row.steady_residual = norm;
    if (options_.pseudo() && !std::isfinite(norm)) return reject(u, EndReason::too_many_rejections), false;
    const bool clipped = time_after(dt_) == options_.end_time;
    if (!clipped || factor < 1.0) proposed_ = factor * dt_;
    if (options_.pseudo()) {
        const CflRange cfl = problem_.cfl_range();
        growth_ = std::min(std::clamp(first_norm_ / norm, growth_, 2.0 * growth_), cfl.last / cfl.first);
        if (options_.is_steady(norm, first_norm_)) ended_ = EndReason::steady_state;
    }
    accept();
    row.accepted = true;
    return true;
}

void TimeStepper::accept() {
    if (options_.regime == Regime::steady) {
        ended_ = EndReason::solved;
    } else {
        const double after = time_after(dt_);
        if (dt_ != run_dt_) run_time_ = time_, run_dt_ = dt_, run_steps_ = 0;
        ++run_steps_;
        time_ = after;
        dt_before_ = {dt_, dt_before_[0]};
    }
    ++done_;
    if (held_left_ > 0) --held_left_;
    attempt_ = given_up_ = 0;
    if (ended_) return;
    if (options_.regime == Regime::transient && time_ >= options_.end_time)  // the sum of pseudo-steps may be infinite
        ended_ = EndReason::end_time_reached;
    else if (options_.steps > 0 && done_ >= options_.steps)
        ended_ = options_.seeks_steady_state() ? EndReason::steps_used_up : EndReason::steps_taken;
}

bool TimeStepper::shorten(double factor, Vector& u, EndReason reason) {
    if (options_.vectors() > 0) copy(before_[0], u);
    if (!options_.repeats() || attempt_ >= most_attempts) {
        ended_ = options_.repeats() ? EndReason::too_many_rejections : reason;
        return false;
    }
    if (options_.controlled() && dt_ <= least_length()) {
        ended_ = EndReason::step_too_small;
        return false;
    }
    dt_ *= factor;
    if (options_.controlled()) dt_ = std::max(dt_, least_length());
    if (options_.pseudo()) growth_ *= factor;
    return true;
}

bool TimeStepper::reject(Vector& u, EndReason reason) {
    if (options_.controlled()) held_length_ = held_factor * dt_, held_left_ = held_steps;
    return shorten(failure_factor, u, reason);
}

void TimeStepper::save(StateStore& store) const {
    std::vector<double> s(place::places);
    s[place::done] = double(done_);
    s[place::attempt] = double(attempt_);
    s[place::time] = time_;
    s[place::dt] = dt_;
    s[place::proposed] = proposed_;
    s[place::growth] = growth_;
    s[place::first_norm] = first_norm_;
    s[place::dt_before] = dt_before_[0];
    s[place::dt_before_last] = dt_before_[1];
    s[place::run_time] = run_time_;
    s[place::run_dt] = run_dt_;
    s[place::run_steps] = double(run_steps_);
    s[place::held_length] = held_length_;
    s[place::held_left] = double(held_left_);
    s[place::given_up] = double(given_up_);
    store.put("time/scalars", s);
    const Index held = attempt_ > 0 ? known() : std::min(done_, options_.vectors());
    for (Index at = 0; at < held; ++at) store.put("time/state" + std::to_string(at), before_[at]);
}

double TimeStepper::first_norm_in(const SolverItems& items) {
    const auto scalars = items.find("time/scalars");
    const bool known = scalars != items.end() && scalars->second.size() > Index(place::first_norm);
    return known ? scalars->second.all()[place::first_norm] : std::numeric_limits<double>::quiet_NaN();
}

bool TimeStepper::is_within_step(const SolverItems& items) {
    const auto scalars = items.find("time/scalars");
    return scalars != items.end() && scalars->second.size() > Index(place::attempt) &&
           scalars->second.all()[place::attempt] > 0.0;
}

void TimeStepper::resume(const StateStore& store) {
    const std::vector<double> s = store.get("time/scalars");
    done_ = Index(s.at(place::done));
    attempt_ = Index(s.at(place::attempt));
    time_ = s.at(place::time);
    dt_ = s.at(place::dt);
    proposed_ = s.at(place::proposed);
    growth_ = s.at(place::growth);
    first_norm_ = s.at(place::first_norm);
    dt_before_ = {s.at(place::dt_before), s.at(place::dt_before_last)};
    run_time_ = s.at(place::run_time);
    run_dt_ = s.at(place::run_dt);
    run_steps_ = Index(s.at(place::run_steps));
    if (s.size() > place::held_length) held_length_ = s[place::held_length], held_left_ = Index(s.at(place::held_left));
    if (s.size() > place::given_up) given_up_ = Index(s[place::given_up]);
    if (options_.pseudo() && attempt_ == 0) {  // time.cfl_max may have become smaller; a step that began ends as it was
        const CflRange cfl = problem_.cfl_range();
        growth_ = std::min(growth_, cfl.last / cfl.first);
    }
    const Index held = attempt_ > 0 ? known() : std::min(done_, options_.vectors());
    for (Index at = 0; at < held; ++at) store.get("time/state" + std::to_string(at), before_[at]);
}

void TimeStepper::begin_again(Vector& u, bool other_length) {
    if (other_length) proposed_ = 0.0;
    if (attempt_ == 0) return;
    const Index held = options_.vectors();
    if (held > 0) copy(before_[0], u);
    if (held > 1) std::swap(before_[0], before_[1]);
    if (held > 2) std::swap(before_[1], before_[2]);
    if (options_.pseudo()) {
        const CflRange cfl = problem_.cfl_range();
        growth_ = std::min(growth_ * std::pow(failure_factor, double(1 - attempt_)), cfl.last / cfl.first);
    }
    held_left_ = 0;
    given_up_ += attempt_;
    attempt_ = 0;
}

}  // namespace hyperplane
