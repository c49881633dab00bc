// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/preconditioner_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <optional>

#include "apps/run/pattern_text.hpp"
#include "apps/run/pay_off.hpp"
#include "apps/run/preparation.hpp"
#include "apps/run/verdict.hpp"
#include "core/counted.hpp"

namespace hyperplane {
namespace {

/// A set-up with everything, if it was timed, and an application.
std::optional<SetupAndSolve> costs_of(const PreconditionerResult& row) {
    if (!row.refused.empty()) return {};
    if (row.whole_setup) return SetupAndSolve{row.whole_setup->median, row.apply.median};
    if (row.baseline) return SetupAndSolve{row.setup.analysis + row.setup.again.median, row.apply.median};
    return {};
}

/// The first row of a system whose set-up with everything was timed; the others are compared with it.
const PreconditionerResult* first_timed(const PreconditionersResult& result) {
    for (const PreconditionerResult& row : result.rows)
        if (costs_of(row)) return &row;
    return nullptr;
}

/// The number of applications from which on a row takes less time in all than the first one.
std::optional<Index> applications_to_pay_off(const PreconditionersResult& result, const PreconditionerResult& row) {
    const PreconditionerResult* const first = first_timed(result);
    if (&row == first || !costs_of(row)) return {};
    return solves_to_pay_off(*costs_of(*first), *costs_of(row));
}

/// " (symbolic 1.20 ms, numeric 0.90 ms)", of the parts that a preconditioner tells.
std::string parts_of_setup(const PreconditionerResult& row) {
    std::string text;
    for (const auto& [name, seconds] : {std::pair("symbolic", row.symbolic), {"numeric", row.numeric}})
        if (seconds > 0.0) text += fmt::format("{}{} {:.2f} ms", text.empty() ? " (" : ", ", name, seconds * 1e3);
    return text.empty() ? "" : text + ")";
}

}  // namespace

void PreconditionerTable::head() const {
    if (print_)
        fmt::print("{:<16} {:<34} {:<10} {:>7} {:>10} {:>10} {:>10} {:>7} {:>9} {:>10} {:>11} {:>10} {:>9}\n", "system",
                   "preconditioner", "layout", "error", "first ms", "set-up ms", "apply ms", "spread", "GB/s",
                   "time/limit", "cuSPARSE/ms", "sweep ms", "MiB");
}

void PreconditionerTable::add(const PreconditionersResult& result) {
    if (result.rows.size() == 1) systems_.push_back({{"system", result.system}});
    nlohmann::json& system = systems_.back();
    system["unknowns"] = result.unknowns;
    system["dof"] = result.dof;
    if (result.general && !system.contains("pattern")) add_general(result, system);
    system["preconditioners"].push_back(add_row(result, result.rows.back()));
    std::fflush(stdout);
}

void PreconditionerTable::add_general(const PreconditionersResult& result, nlohmann::json& system) const {
    const GeneralMatrixFacts& matrix = *result.general;
    system["pattern"] = to_json(matrix.pattern);
    system["symmetric"] = matrix.symmetric;
    if (matrix.given) system["given_pattern"] = to_json(*matrix.given);
    std::vector<TimerRow> before;
    for (const Preparation& part : matrix.preparation) {
        system["preparation"][part.name] = part.seconds;
        before.push_back({.name = timer_of(part), .seconds = part.seconds});
    }
    if (!print_) return;
    fmt::print("{:<16} {}\n", result.system, pattern_text(matrix.pattern, matrix.dof, matrix.symmetric));
    if (matrix.given) fmt::print("{:<16} in the given order {}\n", "", bandwidth_text(*matrix.given));
    if (!before.empty()) fmt::print("{:<16} before the set-up: {}\n", "", preparation_text(before));
}

nlohmann::json PreconditionerTable::add_row(const PreconditionersResult& result, const PreconditionerResult& row) {
    nlohmann::json json{{"preconditioner", row.name}};
    if (!row.refused.empty()) {
        json["refused"] = row.refused;
        if (print_)
            fmt::print("{:<16} {:<34} not possible: {}\n", result.system, row.name,
                       row.refused.substr(0, row.refused.find('\n')));
        return json;
    }
    json["layout"] = row.layout;
    json["first_setup"] = row.first_setup;
    if (row.whole_setup) json["whole_setup"] = to_json(*row.whole_setup);
    if (row.symbolic > 0.0) json["symbolic_seconds"] = row.symbolic;
    if (row.numeric > 0.0) json["numeric_seconds"] = row.numeric;
    json["setup"] = to_json(row.setup.again);
    json["apply"] = to_json(row.apply);
    if (row.lower) json["lower"] = to_json(*row.lower);
    if (row.check.unchecked.empty())
        json["error"] = row.check.error;
    else
        json["unchecked"] = row.check.unchecked;
    json["bytes_per_apply"] = row.bytes;
    json["bytes_held"] = row.held;
    json["pivots_modified"] = row.report.pivots_modified;
    json["values_flushed"] = row.report.values_flushed;
    if (row.bytes > 0) {
        json["time_over_limit"] = over_limit(row);
        over_limit_[row.name].push_back(over_limit(row));
    }
    if (const auto best = result.best_baseline()) json["cusparse_over_this"] = *best / row.apply.median;
    if (const auto applications = applications_to_pay_off(result, row))
        json["pays_off_from_applications"] = *applications;
    if (row.baseline) json["analysis"] = row.setup.analysis;
    if (row.sweeps.apply > 0) {
        json["sweeps_of_apply"] = row.sweeps.apply;
        json["seconds_of_apply_sweep"] = row.apply.median / row.sweeps.apply;
    }
    if (row.sweeps.setup > 0) {
        json["sweeps_of_setup"] = row.sweeps.setup;
        json["seconds_of_setup_sweep"] = row.setup_sweep;
        json["bytes_of_setup_sweep"] = row.sweeps.bytes_of_setup_sweep;
        json["setup_sweep_over_limit"] = setup_sweep_over_limit(row);
    }
    if (print_) show(result, row);
    return json;
}

void PreconditionerTable::show(const PreconditionersResult& result, const PreconditionerResult& row) const {
    const double seconds = row.apply.median;
    const auto best = result.best_baseline();
    fmt::print(
        "{:<16} {:<34} {:<10} {:>7} {:>10.2f} {:>10.3f} {:>10.4f} {:>6.0f}% {:>9.1f} {:>10.2f} {:>11} {:>10} "
        "{:>9.1f}\n",
        result.system, row.name, row.layout, row.check.unchecked.empty() ? fmt::format("{:.0e}", row.check.error) : "-",
        row.first_setup * 1e3, row.setup.again.median * 1e3, seconds * 1e3, row.apply.spread() * 100,
        row.bytes / seconds * 1e-9, over_limit(row), best ? fmt::format("{:.2f}", *best / seconds) : "",
        row.sweeps.apply > 0 ? fmt::format("{:.4f}", seconds / row.sweeps.apply * 1e3) : "",
        double(row.held) / (1 << 20));
    if (row.sweeps.setup > 0)
        fmt::print("{:<16} {:<34} a sweep of its set-up: {:.3f} ms, {:.2f} times its limit\n", "", "",
                   row.setup_sweep * 1e3, setup_sweep_over_limit(row));
    if (row.lower) fmt::print("{:<16} {:<34} its lower solve alone: {:.4f} ms\n", "", "", row.lower->median * 1e3);
    if (row.whole_setup)
        fmt::print("{:<16} {:<34} a set-up with everything: {:.2f} ms{}\n", "", "", row.whole_setup->median * 1e3,
                   parts_of_setup(row));
    if (const auto applications = applications_to_pay_off(result, row); applications && *applications > 1)
        fmt::print("{:<16} {:<34} pays off beside {} from {} applications with one set-up on\n", "", "",
                   first_timed(result)->name, *applications);
    if (!row.check.unchecked.empty())
        fmt::print("{:<16} {:<34} its application was not checked: {}\n", "", "", row.check.unchecked);
    if (row.baseline && row.setup.analysis > 0.0)
        fmt::print("{:<16} {:<34} its analysis, not counted: {:.0f} ms\n", "", "", row.setup.analysis * 1e3);
}

void PreconditionerTable::finish(nlohmann::json& json) const {
    json["systems"] = systems_;
    for (const auto& [name, values] : over_limit_) {
        double sum = 0.0;
        for (double value : values) sum += std::log(value);
        const double mean = std::exp(sum / double(values.size()));
        json["geometric_mean_time_over_limit"][name] = mean;
        if (print_)
            fmt::print("geometric mean of {}, {:<34} time/limit {:.2f}\n", counted(Index(values.size()), "system"),
                       name, mean);
    }
}

}  // namespace hyperplane
