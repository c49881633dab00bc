#include "apps/expectations.hpp"

#include <fmt/format.h>

namespace hyperplane {
namespace {

/// Reads the keys of [expect] that are given and notes those the outcome does not meet.
class Judge {
public:
    explicit Judge(const Parameters& parameters) : p_(parameters) {}

    bool given(const char* key) const { return p_.is_set("expect", key); }

    void require(const char* key, bool met, const std::string& found) {
        ++result_.checked;
        if (!met)
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
        if (!given("max_error") && !given("min_error")) return;
        for (const ErrorNorm& norm : outcome.errors) {
            if (norm.name != "max") continue;
            const std::string found = fmt::format("{:.5e}", norm.value);
            if (given("max_error")) require("max_error", norm.value <= p_.real("expect", "max_error"), found);
            if (given("min_error")) require("min_error", norm.value >= p_.real("expect", "min_error"), found);
            return;
        }
        require(given("max_error") ? "max_error" : "min_error", false, "no exact solution to compare with");
    }

    void ending(const Outcome& outcome) {
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
        const bool failure_asked_for = given("exit_code") || given("stop_reason");
        if (!result_.unmet.empty() && (code == ExitCode::ok || failure_asked_for)) result_.code = ExitCode::expectation;
        if (result_.unmet.empty() && failure_asked_for) result_.code = ExitCode::ok;
        return result_;
    }

private:
    const Parameters& p_;
    Judgement result_{};
};

}  // namespace

Judgement judge(const Parameters& parameters, const Outcome& outcome) {
    if (outcome.code == ExitCode::checkpointed) return {outcome.code, 0, {}};
    Judge judge(parameters);
    judge.iterations(outcome);
    judge.residuals(outcome);
    judge.error(outcome);
    judge.ending(outcome);
    return judge.finish(outcome.code);
}

}  // namespace hyperplane
