// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/base/backend.hpp"
#include "apps/deck/schema.hpp"
#include "apps/run/build_case.hpp"
#include "core/counted.hpp"
#include "core/graph/orderings.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

constexpr double patience = 10.0;  // a solve that needs more than this multiple of the iterations allowed stagnates

std::string name_of(const std::string& override) {
    return override.substr(0, override.find('='));
}

/// While one exists, memory above the ledger's peak, or above `predicted` bytes if these are more, cannot be had, as if
/// it were used up. On several ranks, which must all try the same, it changes nothing; nothing that they plan takes
/// memory.
class NoMoreThanPeak {
public:
    NoMoreThanPeak(const Case& a_case, Index predicted) : case_(a_case) {
        if (a_case.context.ranks()) return;
        limit_memory(a_case.context, a_case.parameters, std::max(a_case.context.ledger().peak(), predicted));
    }
    ~NoMoreThanPeak() { limit_memory(case_.context, case_.parameters); }
    NoMoreThanPeak(const NoMoreThanPeak&) = delete;
    NoMoreThanPeak& operator=(const NoMoreThanPeak&) = delete;

private:
    const Case& case_;
};

class Adviser {
public:
    explicit Adviser(const Case& a_case, Index predicted = 0)
        : case_(a_case),
          preconditioner_(find_preconditioner(a_case.name("preconditioner"))),
          foundation_(foundation_of(a_case)),
          no_more_(a_case, predicted) {}

    std::vector<Advice> found() { return std::move(found_); }

    /// Adds an advice if it changes anything and the deck accepts it. `plans`: whether another run must be planned to
    /// find out; `unplanned`: whether an advice stands whose plan there is no memory for, since the run itself will say
    /// whether that suffices.
    bool suggest(std::vector<std::string> overrides, bool plans = true, bool unplanned = false) {
        const bool changes = std::any_of(overrides.begin(), overrides.end(), [&](const std::string& override) {
            return override != fmt::format("{}={}", name_of(override), text_of(name_of(override)));
        });
        if (!changes) return false;
        try {
            plans ? void(build_with(overrides)) : void(resolve_with(all_with(overrides)));
        } catch (const OutOfMemory&) {
            if (!unplanned) return false;
        } catch (const Error&) {
            return false;
        }
        found_.push_back({std::move(overrides)});
        return true;
    }

    /// The number of iterations that a deck allows which says nothing of it, where this one allows none.
    void suggest_any_iterations() {
        const std::string some = case_.parameters.value("solver", "max_iterations").spec.default_value;
        if (suggest({"solver.max_iterations=" + some}, false)) found_.back().why = "no iteration was allowed";
    }
    /// A tolerance that rounding allows, in place of one of `target` times ||b||: what the solve has reached, if that
    /// is little.
    void suggest_above_rounding(double reached, double target) {
        if (suggest({fmt::format("solver.rtol={:g}", std::min(reached, 1e-8))}, false))
            found_.back().why = fmt::format(
                "rounding leaves about 1e-16 of ||b||, so no solve in double precision reaches {:g}", target);
    }

    /// More iterations, or a longer cycle, where the residual falls.
    void suggest_patience(Index iterations, double needed) {
        if (needed > patience * double(std::max<Index>(iterations, 1))) return;
        const double unit = std::pow(10.0, std::floor(std::log10(std::max(needed, 1.0))) - 1.0);
        const Index enough = Index(std::ceil(1.2 * needed / std::max(unit, 1.0)) * std::max(unit, 1.0));
        suggest({fmt::format("solver.max_iterations={}", std::max(enough, iterations + 1))}, false);
    }
    void suggest_longer_cycle(Index iterations) {
        const Parameters& p = case_.parameters;
        if (!p.has("solver", "restart") || iterations <= p.integer("solver", "restart")) return;
        suggest({fmt::format("solver.restart={}", 2 * p.integer("solver", "restart"))}, false);
    }

    /// More fill, smoothing or sweeps; or the exact factorisation of such a matrix.
    void suggest_stronger() {
        const Parameters& p = case_.parameters;
        if (p.has("preconditioner", "fill_level")) {
            suggest({fmt::format("preconditioner.fill_level={}", p.integer("preconditioner", "fill_level") + 1)}, true,
                    true);
            return;
        }
        if (preconditioner_.name == "multigrid") {
            std::vector<std::string> more;
            for (const char* key : {"pre_smoothing", "post_smoothing"})
                more.push_back(fmt::format("preconditioner.{}={}", key, p.integer("preconditioner", key) + 1));
            suggest(more);
            return;
        }
        std::vector<std::string> sweeps;
        for (const ParameterSpec& spec : preconditioner_.parameters)
            if (spec.type == ParameterType::integer && spec.key.ends_with("sweeps") && !p.unmet(spec.section, spec.key))
                sweeps.push_back(fmt::format("{}={}", spec.name(), 2 * p.integer(spec.section, spec.key)));
        if (!sweeps.empty() && suggest(sweeps)) return;
        for (const char* name : {"struct_ilu", "sync_free_ilu"})  // on a grid; of a general matrix
            if (suggest({fmt::format("preconditioner.name={}", name)})) return;
    }

    /// A higher bound of the eigenvalues, where chebyshev's may be below the largest one.
    void suggest_higher_bound() {
        const Parameters& p = case_.parameters;
        for (const std::string section : {"preconditioner", "smoother"})
            if (p.has(section, "estimate_steps"))
                suggest({fmt::format("{}.estimate_steps={}", section,
                                     std::min<Index>(1000, 4 * p.integer(section, "estimate_steps"))),
                         fmt::format("{}.safety={:g}", section, std::min(10.0, 1.2 * p.real(section, "safety")))},
                        false);
    }

    /// A method that minimises the residual, which indefinite matrices and zero products do not break.
    void suggest_other_solver() {
        if (case_.solver->cycle() > 0) return;  // it is one
        for (const auto& row : solvers()) {
            if (row.name == case_.name("solver")) continue;
            if (!minimises(row)) continue;
            found_.push_back({{"solver.name=" + row.name}});
            return;
        }
    }

    /// Another policy for pivots that may mend them; where the preconditioner has none, one that has.
    void suggest_pivot_policy(const PivotRemedies& remedies) {
        const Parameters& p = case_.parameters;
        for (const std::string section : {"preconditioner", "smoother"}) {
            if (!p.has(section, "pivot_policy")) continue;
            if (p.text(section, "pivot_policy") != "fail") return;
            if (remedies.shift) suggest({section + ".pivot_policy=shift"});
            if (remedies.boost) suggest({section + ".pivot_policy=boost"});
            return;
        }
        if (!remedies.boost) return;
        if (case_.shape().dof == 1 && case_.space.has_grid()) return;  // the only scale is its block, which is zero
        for (const PreconditionerRow& row : preconditioners())
            if (row.name != preconditioner_.name && has_key(row.parameters, "preconditioner", "pivot_policy") &&
                suggest({"preconditioner.name=" + row.name, "preconditioner.pivot_policy=boost"}))
                return;
    }

    /// Rows that are exchanged, where A's diagonal has zeros, and a solver that takes the matrix that is symmetric no
    /// longer.
    void suggest_matching(const PivotRemedies& remedies) {
        const SystemShape& shape = case_.shape();
        if (remedies.shift || !remedies.boost || shape.dof > 1 || case_.name("problem") != "matrix") return;
        if (asks_for_matching(case_.parameters) || !all_rows_match()) return;
        std::vector<std::string> changes{"ordering.rows=matching"};
        try {
            check_matrix(preconditioner_, {case_.context, {shape.pattern, shape.dof, false}});
        } catch (const UsageError&) {
            return;
        }
        try {
            case_.solver->check_operator("", false);
        } catch (const UsageError&) {
            changes.emplace_back("solver.name=gmres");
        }
        suggest(changes, false);
    }

private:
    /// Whether a solver that minimises the residual may take the place of the case's. One that there is no memory to
    /// plan may, since the run itself will say whether that suffices.
    bool minimises(const RegistryRow<CreateSolver>& row) const {
        try {
            return build_with({"solver.name=" + row.name}).solver->cycle() > 0;
        } catch (const OutOfMemory&) {
            return (case_.plan.traits.fixed || row.name == "fgmres") && has_key(row.parameters, "solver", "restart");
        } catch (const Error&) {
            return false;
        }
    }
    /// Whether each row has a place on a diagonal without zeros, or that takes more memory to find out than the run.
    bool all_rows_match() const {
        try {
            return case_.problem->row_matching()->unmatched == 0;
        } catch (const OutOfMemory&) {
            return true;
        }
    }
    /// The value of a key now; empty if it has none.
    std::string text_of(const std::string& name) const {
        const std::size_t dot = name.find('.');
        const std::string section = name.substr(0, dot), key = name.substr(dot + 1);
        return case_.parameters.has(section, key) ? case_.parameters.text(section, key) : "";
    }
    /// Returns the overrides of the command line with these changes in place of those of the same keys.
    std::vector<std::string> all_with(const std::vector<std::string>& changes) const {
        std::vector<std::string> overrides = case_.overrides;
        for (const std::string& change : changes) {
            std::erase_if(overrides, [&](const std::string& old) { return name_of(old) == name_of(change); });
            overrides.push_back(change);
        }
        return overrides;
    }
    Parameters resolve_with(const std::vector<std::string>& overrides) const {
        std::vector<DeckEntry> entries;
        for (const std::string& text : overrides) entries.push_back(parse_override(text));
        return resolve(case_.deck, entries, deck_schema());
    }
    /// The case with other values, as --set would make it. Throws what the deck does not accept, OutOfMemory.
    Case build_with(const std::vector<std::string>& changes) const {
        const std::vector<std::string> overrides = all_with(changes);
        return build_case(case_.deck, overrides, resolve_with(overrides), foundation_);
    }

    const Case& case_;
    const PreconditionerRow& preconditioner_;
    const Foundation foundation_;
    NoMoreThanPeak no_more_;
    std::vector<Advice> found_;
};

/// The iteration at which the rate of the newest half would reach `target`; infinite where the residual does not fall.
double iterations_needed(const std::vector<HistoryEntry>& history, double target) {
    const HistoryEntry &last = history.back(), &middle = history[history.size() / 2];
    if (!(last.recurrence > 0.0) || !(target > 0.0) || last.iteration == middle.iteration)
        return std::numeric_limits<double>::infinity();
    const double rate = std::log(middle.recurrence / last.recurrence) / double(last.iteration - middle.iteration);
    if (!(rate > 0.0)) return std::numeric_limits<double>::infinity();
    return double(last.iteration) + std::max(0.0, std::log(last.recurrence / target)) / rate;
}

/// A power of ten that the true residual has reached.
double reachable_rtol(const SolveReport& report) {
    const double reached = report.true_residual / (report.b_norm > 0.0 ? report.b_norm : 1.0);
    return std::pow(10.0, std::ceil(std::log10(std::max(2.0 * reached, 1e-300))));
}

}  // namespace

std::vector<Advice> advise(const Case& a_case, const SolveReport& report, const std::vector<HistoryEntry>& history) {
    Adviser adviser(a_case);
    const StopCriteria& criteria = a_case.criteria;
    const double scale = report.b_norm > 0.0 ? report.b_norm : 1.0;
    switch (report.reason) {
        case StopReason::max_iterations: {
            if (criteria.max_iterations == 0) {
                adviser.suggest_any_iterations();
                break;
            }
            const double target = std::max(a_case.solver->criteria().rtol, criteria.atol / scale);
            if (target < std::numeric_limits<double>::epsilon() / 2) {
                adviser.suggest_above_rounding(reachable_rtol(report), target);
                break;
            }
            const double needed =
                history.empty() ? 2.0 * double(report.iterations) : iterations_needed(history, target);
            adviser.suggest_patience(report.iterations, needed);
            adviser.suggest_longer_cycle(report.iterations);
            adviser.suggest_stronger();
            break;
        }
        case StopReason::diverged:
        // No pivot has failed, or the set-up would have said so, so a policy for pivots would change nothing.
        case StopReason::indefinite_preconditioner:
            adviser.suggest_higher_bound();
            adviser.suggest_other_solver();
            break;
        case StopReason::breakdown:
        case StopReason::indefinite_operator: adviser.suggest_other_solver(); break;
        case StopReason::false_convergence:
            if (const double rtol = reachable_rtol(report); rtol > criteria.rtol && rtol <= 0.1)
                adviser.suggest({fmt::format("solver.rtol={:g}", rtol)});
            break;
        case StopReason::out_of_range:
            // A state that has decayed so far may be called zero; what one system means by b is not known.
            if (a_case.shape().regime == Regime::transient && report.b_norm < 1e-100)
                adviser.suggest({"solver.atol=1e-140"});
            break;
        default: break;
    }
    if (report.reason == StopReason::diverged || report.reason == StopReason::breakdown) adviser.suggest_stronger();
    // The factors of an indefinite matrix, or of one far from symmetric, may be singular although no pivot is zero.
    if (report.reason == StopReason::breakdown) adviser.suggest({"preconditioner.name=none"});
    return adviser.found();
}

std::vector<Advice> advise_on_pivot(const Case& a_case, const PivotRemedies& remedies, Index predicted) {
    Adviser adviser(a_case, predicted);
    adviser.suggest_matching(remedies);
    adviser.suggest_pivot_policy(remedies);
    adviser.suggest({"preconditioner.name=none"});  // which no pivot can stop
    return adviser.found();
}

std::string advise_on_memory(const Case& a_case, bool exceeded) {
    const Parameters& p = a_case.parameters;
    std::vector<std::string> keys;
    if (p.is_set("grid", "cells")) keys.emplace_back("grid.cells");
    if (p.has("solver", "restart")) keys.emplace_back("solver.restart");
    if (p.has("preconditioner", "fill_level") && p.integer("preconditioner", "fill_level") > 0)
        keys.emplace_back("preconditioner.fill_level");
    // The inverse of the coarsest grid grows with the square of its points.
    std::string why;
    if (const auto& grids = a_case.plan.parts; !grids.empty() && p.has("preconditioner", "coarsest_points")) {
        const auto& [coarsest, bytes] = grids.back();
        if (p.text("preconditioner", "coarsest") == "dense" && bytes > a_case.plan.bytes / 4) {
            keys.emplace_back("preconditioner.coarsest_points");
            why = fmt::format(", since {} takes {}", coarsest, in_mib(bytes));
        }
    }
    std::vector<std::string> ways;
    if (!keys.empty()) ways.push_back(fmt::format("with a smaller {}{}", fmt::join(keys, " or "), why));
    if (a_case.name("preconditioner") == "multigrid") {
        if (p.text("preconditioner", "storage") == "double") ways.emplace_back("with preconditioner.storage = single");
        if (exceeded && a_case.plan.most_bytes > a_case.plan.bytes && p.real("preconditioner", "strength") > 0.0)
            ways.emplace_back("with preconditioner.strength = 0, which coarsens all axes at once");
    }
    return ways.empty() ? "" : fmt::format("; it takes less {}", fmt::join(ways, ", or "));
}

std::string to_string(const std::vector<Advice>& advice) {
    std::string text;
    for (const Advice& one : advice) {
        text += text.empty() ? "" : ", or ";
        for (std::size_t at = 0; at < one.overrides.size(); ++at) {
            const std::string name = name_of(one.overrides[at]);
            text += fmt::format("{}{} = {}", at == 0 ? "" : " with ", name, one.overrides[at].substr(name.size() + 1));
        }
        if (!one.why.empty()) text += fmt::format(" ({})", one.why);
    }
    return text;
}

}  // namespace hyperplane
