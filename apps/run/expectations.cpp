// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/expectations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "core/parameters/nearest.hpp"

namespace hyperplane {
namespace {

/// "a b, c" as {{"a", "b"}, {"c"}}
std::vector<std::vector<std::string>> lists(const std::string& text) {
    std::string apart;
    for (const char c : text) apart += c == ',' ? std::string(" , ") : std::string(1, c);
    std::vector<std::vector<std::string>> found(1);
    std::istringstream stream(apart);
    for (std::string word; stream >> word;) {
        if (word == ",")
            found.emplace_back();
        else
            found.back().push_back(word);
    }
    if (found.back().empty()) found.pop_back();
    return found;
}

const ParameterSpec& bound_of_drift() {
    static const ParameterSpec spec{"expect", "max_drift", ParameterType::real, "", ""};
    return spec;
}

/// "there are a, b", or "did you mean a? There are a, b" if one of the known names is near to `name`.
std::string in_place_of(const std::string& name, const std::vector<std::string>& known) {
    const std::string near = nearest(name, known);
    return fmt::format("{} {}", near.empty() ? "there are" : "did you mean " + near + "? There are",
                       fmt::join(known, ", "));
}

/// Refuses what a key of [expect] says of diagnostics: what cannot hold of any run.
class Names {
public:
    Names(const Parameters& parameters, const std::vector<std::string>& known) : p_(parameters), known_(known) {}

    void check(const char* key, const std::string& name) const {
        if (std::find(known_.begin(), known_.end(), name) != known_.end()) return;
        const std::string& problem = p_.text("problem", "name");
        if (known_.empty()) refuse(key, problem + " has no diagnostics of which this could hold; remove the key");
        refuse(key, fmt::format("{} has no diagnostic '{}'; {}", problem, name, in_place_of(name, known_)));
    }
    void check_drift(const char* key, const std::vector<std::string>& words) const {
        check_first(key, words);
        if (words.size() == 1)
            refuse(key,
                   fmt::format("the bound of {} is missing; give NAME BOUND, such as {} 1e-9", words[0], words[0]));
        if (words.size() > 2)
            refuse(key, fmt::format("'{}' is more than NAME BOUND; put a comma before the next name",
                                    fmt::join(words, " ")));
        if (const auto error = check_value(bound_of_drift(), words[1]))
            refuse(key, fmt::format("the bound of {}: {}", words[0], *error));
    }
    void check_falling(const char* key, const std::vector<std::string>& words) const {
        check_first(key, words);
        if (words.size() > 1)
            refuse(key, fmt::format("'{}' is more than one name; put commas between names", fmt::join(words, " ")));
    }

private:
    void check_first(const char* key, const std::vector<std::string>& words) const {
        if (words.empty()) refuse(key, "a name is missing before a comma");
        check(key, words[0]);
    }
    [[noreturn]] void refuse(const char* key, const std::string& why) const {
        throw UsageError(fmt::format("{}: {}", p_.where("expect", key), why));
    }

    const Parameters& p_;
    const std::vector<std::string>& known_;
};

/// Checks the keys of [expect] that are given, and notes those that the outcome does not meet.
class Judge {
public:
    explicit Judge(const Parameters& parameters) : p_(parameters) {}

    bool given(const char* key) const { return p_.is_set("expect", key); }

    void require(const char* key, bool met, const std::string& found) {
        ++result_.checked;
        if (met || ++unmet_[key] > most_told) return;
        result_.unmet.push_back(
            fmt::format("{} = {}, found {}", p_.where("expect", key), p_.text("expect", key), found));
    }

    void iterations(const Outcome& outcome) {
        for (const SolveRow& row : outcome.solves) {
            const Index n = row.report.iterations;
            const std::string found = fmt::format("{} iterations in step {}", n, row.step);
            if (given("iterations")) require("iterations", n == p_.integer("expect", "iterations"), found);
            if (given("max_iterations")) require("max_iterations", n <= p_.integer("expect", "max_iterations"), found);
            if (given("min_iterations")) require("min_iterations", n >= p_.integer("expect", "min_iterations"), found);
        }
    }

    void residuals(const Outcome& outcome) {
        if (!given("max_relative_residual")) return;
        const double bound = p_.real("expect", "max_relative_residual");
        for (const SolveRow& row : outcome.solves)
            require("max_relative_residual", row.report.true_residual <= bound * row.report.b_norm,
                    fmt::format("||b - A x|| = {:.4e}, ||b|| = {:.4e} in step {}", row.report.true_residual,
                                row.report.b_norm, row.step));
    }

    void error(const Outcome& outcome) {
        const std::string& name = p_.text("expect", "error_norm");
        for (const ErrorNorm& norm : outcome.errors)
            if (norm.name == name) return bounds("min_error", "max_error", norm.value);
        no_bounds("min_error", "max_error",
                  outcome.errors.empty() ? "no exact solution to compare with" : "no error norm called " + name);
    }

    void diagnostic(const Outcome& outcome) {
        const DiagnosticSeries* series = find(outcome.diagnostics, p_.text("expect", "diagnostic"));
        if (series && !series->values.empty()) return bounds("min_diagnostic", "max_diagnostic", series->values.back());
        no_bounds("min_diagnostic", "max_diagnostic", no_such(outcome.diagnostics, {p_.text("expect", "diagnostic")}));
    }

    void steps(const Outcome& outcome) {
        Index accepted = 0;
        for (const StepRow& row : outcome.steps) {
            accepted += row.accepted;
            if (given("max_newton_iterations"))
                require("max_newton_iterations", row.newton_steps <= p_.integer("expect", "max_newton_iterations"),
                        fmt::format("{} Newton steps in step {}", row.newton_steps, row.step));
        }
        const std::string found = fmt::format("{}", accepted);
        if (given("steps")) require("steps", accepted == p_.integer("expect", "steps"), found);
        if (given("max_steps")) require("max_steps", accepted <= p_.integer("expect", "max_steps"), found);
        if (!given("max_steady_residual")) return;
        const double residual = outcome.steps.empty() ? not_known : outcome.steps.back().steady_residual;
        require("max_steady_residual", residual <= p_.real("expect", "max_steady_residual"),
                fmt::format("{:.4e}", residual));
    }

    void diagnostics(const Outcome& outcome) {
        if (given("max_drift"))
            for (const auto& words : lists(p_.text("expect", "max_drift"))) drift(outcome.diagnostics, words);
        if (given("never_rising"))
            for (const auto& words : lists(p_.text("expect", "never_rising"))) falling(outcome.diagnostics, words);
    }

    void ending(const Outcome& outcome) {
        if (given("end")) require("end", outcome.end == p_.text("expect", "end"), outcome.end);
        if (given("stop_reason")) {
            const std::string found =
                outcome.solves.empty() ? "no solve" : to_string(outcome.solves.back().report.reason);
            require("stop_reason", found == p_.text("expect", "stop_reason"), found);
        }
        if (given("exit_code"))
            require("exit_code", int(outcome.code) == p_.integer("expect", "exit_code"),
                    fmt::format("{}", int(outcome.code)));
    }

    Judgement finish(ExitCode code) {
        result_.code = code;
        for (const auto& [key, count] : unmet_)
            if (count > most_told)
                result_.unmet.push_back(
                    fmt::format("{}: not met {} more times", p_.where("expect", key), count - most_told));
        const bool failure_asked_for = given("exit_code") || given("stop_reason") || given("end");
        if (!result_.unmet.empty() && (code == ExitCode::ok || failure_asked_for)) result_.code = ExitCode::expectation;
        if (result_.unmet.empty() && failure_asked_for) result_.code = ExitCode::ok;
        return result_;
    }

private:
    static constexpr int most_told = 5;  // messages for one key

    void bounds(const char* least, const char* most, double value) {
        const std::string found = fmt::format("{:.5e}", value);
        if (given(least)) require(least, value >= p_.real("expect", least), found);
        if (given(most)) require(most, value <= p_.real("expect", most), found);
    }
    void no_bounds(const char* least, const char* most, const std::string& why) {
        for (const char* key : {least, most})
            if (given(key)) require(key, false, why);
    }

    static const DiagnosticSeries* find(const DiagnosticTable& table, const std::string& name) {
        for (const DiagnosticSeries& series : table.series)
            if (series.name == name) return &series;
        return nullptr;
    }

    void drift(const DiagnosticTable& table, const std::vector<std::string>& words) {
        const DiagnosticSeries* series = words.size() == 2 ? find(table, words[0]) : nullptr;
        if (!series) return require("max_drift", false, no_such(table, words));
        double largest = 0.0, furthest = 0.0;
        for (double value : series->values) {
            largest = std::max(largest, std::abs(value));
            furthest = std::max(furthest, std::abs(value - series->values.front()));
        }
        const bool number = !check_value(bound_of_drift(), words[1]);
        require("max_drift", number && furthest <= std::stod(words[1]) * largest,
                number ? fmt::format("{} of {}", furthest / largest, words[0]) : "no number: " + words[1]);
    }

    void falling(const DiagnosticTable& table, const std::vector<std::string>& words) {
        constexpr double rounding = 1e-9;
        const DiagnosticSeries* series = words.size() == 1 ? find(table, words[0]) : nullptr;
        if (!series) return require("never_rising", false, no_such(table, words));
        for (std::size_t at = 1; at < series->values.size(); ++at) {
            const double before = series->values[at - 1], now = series->values[at];
            require("never_rising", now <= before + rounding * std::abs(before),
                    fmt::format("{} {:.10g} after {:.10g} in step {}", words[0], now, before, table.step[at]));
        }
    }

    static std::string no_such(const DiagnosticTable& table, const std::vector<std::string>& words) {
        std::string names;
        for (const DiagnosticSeries& series : table.series) names += (names.empty() ? "" : ", ") + series.name;
        return fmt::format("no diagnostic to go with '{}'; there are: {}", fmt::join(words, " "),
                           names.empty() ? "none" : names);
    }

    const Parameters& p_;
    std::map<std::string, int> unmet_;  ///< number of failures, by key
    Judgement result_{};
};

}  // namespace

void check_diagnostics(const Parameters& parameters, const std::vector<std::string>& diagnostics) {
    const Names names(parameters, diagnostics);
    const auto text_of = [&](const char* key) { return parameters.text("expect", key); };
    for (const auto& words : lists(text_of("max_drift"))) names.check_drift("max_drift", words);
    for (const auto& words : lists(text_of("never_rising"))) names.check_falling("never_rising", words);
    if (parameters.is_set("expect", "diagnostic")) names.check("diagnostic", text_of("diagnostic"));
}

bool solution_belongs_to_run(const Parameters& parameters, Regime regime) {
    return regime != Regime::transient || !parameters.is_set("initial", "file");
}

void check_error_norm(const Parameters& parameters, const std::vector<std::string>& norms, Regime regime) {
    const bool named = parameters.is_given("expect", "error_norm");
    const std::string& name = parameters.text("expect", "error_norm");
    for (const char* bound : {"min_error", "max_error"}) {
        if (!parameters.is_set("expect", bound)) continue;
        if (norms.empty())
            throw RefusedKey(parameters, "expect", bound,
                             ": the exact solution of this problem is not known, so there is no error to bound; remove "
                             "the key");
        if (!solution_belongs_to_run(parameters, regime))
            throw RefusedKey(
                parameters, "expect", bound,
                ": the run begins in the state of initial.file, to which the problem's exact solution need "
                "not belong, so there is no error to bound; remove the key");
        if (std::find(norms.begin(), norms.end(), name) == norms.end())
            throw RefusedKey(parameters, "expect", named ? "error_norm" : bound,
                             fmt::format(": there is no error norm called '{}'; {}", name, in_place_of(name, norms)));
    }
}

Judgement judge(const Parameters& parameters, const Outcome& outcome) {
    if (outcome.code == ExitCode::checkpointed) return {outcome.code, 0, {}};
    Judge judge(parameters);
    judge.iterations(outcome);
    judge.residuals(outcome);
    judge.steps(outcome);
    judge.diagnostics(outcome);
    judge.error(outcome);
    judge.diagnostic(outcome);
    judge.ending(outcome);
    return judge.finish(outcome.code);
}

}  // namespace hyperplane
