// SPDX-License-Identifier: BSD-3-Clause
#include "apps/compare/text.hpp"

#include <fmt/color.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/run/case.hpp"
#include "apps/run/dropped_couplings.hpp"
#include "apps/run/fingerprint.hpp"
#include "apps/run/pattern_text.hpp"
#include "apps/run/pay_off.hpp"
#include "apps/run/preparation.hpp"
#include "apps/run/verdict.hpp"
#include "core/counted.hpp"

namespace hyperplane {
namespace {

std::string item(const std::string& label, const std::string& text) {
    return fmt::format("{:<13} {}\n", label, text);
}

std::string in_ms(double seconds) {
    return seconds < 0.9995 ? fmt::format("{:.4g}", seconds * 1e3) : fmt::format("{:.0f}", seconds * 1e3);
}

/// Lines "label  a, b: reason", one for each reason, in the order in which reasons are added.
class Grouped {
public:
    void add(const std::string& reason, const std::string& name) {
        ++names_;
        for (auto& [known, names] : groups_)
            if (known == reason) {
                names += ", " + name;
                return;
            }
        groups_.emplace_back(reason, name);
    }
    std::string text(const std::string& label) const {
        std::string text;
        for (const auto& [reason, names] : groups_) text += item(label, fmt::format("{}: {}", names, reason));
        return text;
    }
    /// Returns the same lines, but without names where all names have one reason.
    std::string text_of_difference(const std::string& label) const {
        return groups_.size() == 1 ? item(label, groups_.front().first) : text(label);
    }
    /// Returns text(), or one line with the number of names and `instead` where there would be more than `most` lines.
    std::string text_of_few(const std::string& label, std::size_t most, const std::string& instead) const {
        return groups_.size() <= most ? text(label)
                                      : item(label, fmt::format("{}: {}", counted(names_, "candidate"), instead));
    }
    /// A line with the number of names, if there are any.
    std::string count_text(const std::string& label) const {
        return names_ == 0 ? "" : item(label, counted(names_, "candidate"));
    }

private:
    Index names_ = 0;
    std::vector<std::pair<std::string, std::string>> groups_;
};

/// The candidates with a record, grouped by what `reason_of(record, row)` says of them; those of which it says nothing
/// are left out.
template <class ReasonOf>
Grouped grouped(const ComparisonData& c, const ReasonOf& reason_of) {
    Grouped groups;
    for (std::size_t at = 0; at < std::min(c.rows.size(), c.records.size()); ++at)
        if (const std::string reason = reason_of(c.records[at], c.rows[at]); !reason.empty())
            groups.add(reason, c.rows[at].name);
    return groups;
}

/// The pattern of a general matrix, which depends on a candidate's ordering; else empty.
std::string patterns(const ComparisonData& c) {
    const auto pattern_of = [](const RecordData& record, const ComparisonRow&) {
        return record.pattern ? pattern_text(*record.pattern, record.dof, record.symmetric) : "";
    };
    return grouped(c, pattern_of).text_of_difference("matrix");
}

std::string heading(const ComparisonData& c) {
    const auto get = [&](const char* key) {
        const auto at = c.system.find(key);
        return at == c.system.end() ? std::string("--") : at->second;
    };
    const std::string cells = c.system.count("cells") ? " on " + get("cells") : "";
    std::string text = item("system", fmt::format("{}: {}{}, {} unknowns, {}; the first linear system", c.deck_file,
                                                  get("problem"), cells, get("unknowns"), get("stencil"))) +
                       patterns(c) + item("criterion", get("criterion"));
    if (!has_system(c))
        text += item("fingerprint", "none: no candidate got as far as the system");
    else
        text += item("fingerprint",
                     fmt::format("{} = A {}, {}b {}, x0 {}, criterion {}", get("fingerprint"), get("fingerprint_a"),
                                 c.system.count("fingerprint_p") ? "P " + get("fingerprint_p") + ", " : "",
                                 get("fingerprint_b"), get("fingerprint_x0"), get("fingerprint_criterion")));
    text += item("timing", fmt::format("median of {} turn{} after a warm-up, on {}", get("turns"),
                                       get("turns") == "1" ? "" : "s", get("device")));
    return text + item("memory", get("memory"));
}

/// Column widths that fit the longest entry.
struct Widths {
    std::size_t name = 9, outcome = 9;
};

/// The outcome in the table, which does not say which criterion was met; the JSON does.
std::string outcome(const ComparisonRow& row) {
    return row.converged() ? "converged" : row.outcome;
}

Widths widths_of(const ComparisonData& c) {
    Widths widths;
    for (const ComparisonRow& row : c.rows) {
        widths.name = std::max(widths.name, row.name.size());
        widths.outcome = std::max(widths.outcome, outcome(row).size());
    }
    return widths;
}

std::string table_head(const Widths& widths) {
    return fmt::format("  {:<{}}  {:<{}} {:>6} {:>9} {:>9} {:>9} {:>6} {:>8} {:>7} {:>9} {:>6}\n", "candidate",
                       widths.name, "outcome", widths.outcome, "its", "set-up ms", "solve ms", "total ms", "spread",
                       "ms/it", "precond", "MiB", "ratio");
}

std::string table_row(const ComparisonRow& row, const Widths& widths, bool best) {
    const std::string begin = fmt::format("{} {:<{}}  ", best ? '*' : ' ', row.name, widths.name);
    if (row.total.median == 0.0) return begin + outcome(row);
    return begin + fmt::format("{:<{}}", outcome(row), widths.outcome) +
           fmt::format(
               " {:>6} {:>9} {:>9} {:>9} {:>6} {:>8} {:>7} {:>9.1f} {:>6}", row.iterations, in_ms(row.setup.median),
               in_ms(row.solve.median), in_ms(row.total.median),
               row.turns > 1 ? fmt::format("{:.0f} %", 100 * row.total.spread()) : "--", in_ms(row.per_iteration),
               std::isfinite(row.preconditioner_share) ? fmt::format("{:.0f} %", 100 * row.preconditioner_share) : "--",
               double(row.peak) / (1 << 20), row.ratio > 0.0 ? fmt::format("{:.2f}", row.ratio) : "--");
}

/// Times of reading, ordering and whatever else came before a candidate's first system: a line for the candidates that
/// share them, if these lines are few. The table's times do not contain these.
std::string preparations(const ComparisonData& c) {
    const auto all = [](const RecordData& record, const ComparisonRow&) { return preparation_text(record.timers); };
    const auto long_ones = [](const RecordData& record, const ComparisonRow& row) {
        return long_preparation_text(record.timers, row.per_iteration);
    };
    constexpr std::size_t most = 8;
    return grouped(c, all).text_of_few(
               "before", most, "reading, ordering and symbolic parts, which hyperplane report shows beside each") +
           grouped(c, long_ones)
               .text_of_few("before", most,
                            "these and a set-up took longer than ten iterations; hyperplane report tells how many");
}

/// Says which candidates leave couplings between ranks out, since their scope is one rank, and how many.
std::string dropped(const ComparisonData& c) {
    const auto couplings_of = [](const RecordData& record, const ComparisonRow&) {
        const std::string text = dropped_couplings(record);
        return text.empty() ? "" : fmt::format("couplings between ranks (scope = rank), {}", text);
    };
    return grouped(c, couplings_of).text("dropped");
}

/// The set-up of a candidate with what came before its first system, and its solve.
SetupAndSolve costs_of_solves(const ComparisonData& c, std::size_t at) {
    const std::vector<TimerRow> none;
    return costs_with_preparation(at < c.records.size() ? c.records[at].timers : none, c.rows[at].setup.median,
                                  c.rows[at].solve.median);
}

/// For candidates whose set-up takes longer than the baseline's, and whose solves do not.
std::string solves_that_pay(const ComparisonData& c) {
    Grouped groups;
    for (std::size_t at = 0; at < c.rows.size(); ++at)
        if (const auto solves = solves_to_pay_off(c, at); solves && *solves > 1)
            groups.add(fmt::format("beside {} from {} solves with one set-up on", c.baseline, *solves),
                       c.rows[at].name);
    return groups.text("pays off");
}

/// How the passes of a candidate that is not repeatable differed.
std::string how_passes_varied(const ComparisonRow& row) {
    if (row.iterations_least == row.iterations_most) return "passes differed in the residual";
    return fmt::format("passes took {} to {} iterations", row.iterations_least, row.iterations_most);
}

/// Why candidates were not tried, failed, varied or were left out or, if `shortened`, how many.
std::string remarks(const ComparisonData& c, bool shortened) {
    Grouped failed, varied, left_out, untried;
    for (const ComparisonRow& row : c.rows) {
        if (row.outcome == "not_tried")
            untried.add(row.reason, row.name);
        else if (!row.converged())
            failed.add(row.reason, row.name);
        if (!row.repeatable) varied.add(how_passes_varied(row), row.name);
    }
    for (const LeftOut& pair : c.left_out) left_out.add(pair.reason, pair.name);
    std::string text;
    for (const auto& [label, groups] : {std::pair("not tried", &untried), std::pair("failed", &failed),
                                        std::pair("varied", &varied), std::pair("left out", &left_out)})
        text += shortened ? groups->count_text(label) : groups->text(label);
    return text;
}

/// Says what the column of ratios means, or why there are none.
std::string ratio_text(const ComparisonData& c) {
    if (std::any_of(c.rows.begin(), c.rows.end(), [](auto& row) { return row.ratio > 0.0; }))
        return "total ms over that of " + c.baseline;
    const bool untried = std::any_of(c.rows.begin(), c.rows.end(),
                                     [&](auto& row) { return row.name == c.baseline && row.outcome == "not_tried"; });
    return fmt::format("none: the baseline, {}, {}", c.baseline, untried ? "has not been tried" : "did not converge");
}

constexpr std::size_t rows_on_a_screen = 8;

nlohmann::json row_json(const ComparisonRow& row) {
    nlohmann::json json = {{"name", row.name},
                           {"solver", row.solver},
                           {"preconditioner", row.preconditioner},
                           {"converged", row.converged()},
                           {"outcome", row.outcome},
                           {"reason", row.reason},
                           {"exit_code", row.exit_code},
                           {"turns", row.turns},
                           {"memory", {{"peak", row.peak}, {"predicted", row.predicted}}}};
    if (row.total.median == 0.0) return json;
    json["iterations"] = row.iterations;
    json["iterations_least"] = row.iterations_least;
    json["iterations_most"] = row.iterations_most;
    json["relative_residual"] = row.relative_residual;
    json["setup_seconds"] = to_json(row.setup);
    json["solve_seconds"] = to_json(row.solve);
    json["total_seconds"] = to_json(row.total);
    json["seconds_per_iteration"] = row.per_iteration;
    json["preconditioner_share"] = row.preconditioner_share;
    json["beaten"] = row.beaten;
    json["repeatable"] = row.repeatable != 0;
    if (row.ratio > 0.0) json["ratio"] = row.ratio;
    return json;
}

/// Says what a user can try where no pair converged, by the reasons for which the pairs ended.
std::string when_none_converged(const ComparisonData& c) {
    const auto any = [&](const char* outcome) {
        return std::any_of(c.rows.begin(), c.rows.end(),
                           [&](const ComparisonRow& row) { return row.outcome == outcome; });
    };
    // Where a residual has left the range though b is not far from 1, another b does not help; the reason, which
    // explain(SolveReport) has written, knows ||b||.
    const bool b_is_out_of_range = std::any_of(c.rows.begin(), c.rows.end(), [](const ComparisonRow& row) {
        return row.outcome == "out_of_range" && row.reason.find("multiply b by 1e") != std::string::npos;
    });
    if (b_is_out_of_range) return "multiply b, or the matrix and b, by a power of ten that brings ||b|| near 1";
    std::string text = any("max_iterations") ? "raise solver.max_iterations or " : "";
    if (any("false_convergence")) text += "take a larger solver.rtol, which rounding allows, or ";
    text += "try --preconditioners with parameters";
    if (any("setup_failed")) text += "; the lines 'failed' say what would mend the set-ups";
    return text;
}

}  // namespace

bool has_system(const ComparisonData& c) {
    const auto a = c.system.find("fingerprint_a");
    const bool zero = a != c.system.end() && a->second == in_hex(0);  // as earlier programs said that there is none
    return c.system.count("fingerprint") > 0 && !zero;
}

std::optional<Index> solves_to_pay_off(const ComparisonData& c, std::size_t at) {
    const auto found =
        std::find_if(c.rows.begin(), c.rows.end(), [&](const ComparisonRow& row) { return row.name == c.baseline; });
    if (found == c.rows.end() || !found->converged() || !c.rows[at].converged()) return {};
    return solves_to_pay_off(costs_of_solves(c, std::size_t(found - c.rows.begin())), costs_of_solves(c, at));
}

std::string comparison_text(const ComparisonData& c, bool bold, bool all) {
    const Widths widths = widths_of(c);
    std::string text = heading(c) + "\n" + table_head(widths);
    const bool shortened = !all && (c.rows.size() > rows_on_a_screen || c.left_out.size() > 2);
    for (std::size_t at = 0; at < (shortened ? std::min(rows_on_a_screen, c.rows.size()) : c.rows.size()); ++at) {
        const ComparisonRow& row = c.rows[at];
        const bool best = row.name == c.best;
        const std::string shown = table_row(row, widths, best);
        text += (best && bold ? fmt::format(fmt::emphasis::bold, "{}", shown) : shown) + "\n";
    }
    text += "\n" + item("ratio", ratio_text(c));
    if (!c.complete)
        text += item("stopped",
                     fmt::format("{} of {} candidates have been tried, {} of {} turns taken; the same command goes "
                                 "on",
                                 std::count_if(c.rows.begin(), c.rows.end(),
                                               [](auto& row) { return row.outcome != "not_tried"; }),
                                 c.rows.size(), c.turns_done, c.system.count("turns") ? c.system.at("turns") : "?"));
    else if (c.best.empty())
        text += item("best", "none: no candidate converged");
    text += preparations(c) + dropped(c);
    if (!shortened) return text + solves_that_pay(c) + remarks(c, false) + c.recommendation;
    return text + remarks(c, true) + c.recommendation +
           item("", fmt::format("--all lists {}each reason", c.rows.size() > rows_on_a_screen
                                                                 ? fmt::format("all {} candidates and ", c.rows.size())
                                                                 : ""));
}

nlohmann::json comparison_json(const ComparisonData& c) {
    nlohmann::json json = {{"deck", c.deck_file},
                           {"code_version", c.code_version},
                           {"git_sha", c.git_sha},
                           {"exit_code", c.exit_code},
                           {"complete", c.complete},
                           {"turns_done", c.turns_done},
                           {"compile_seconds", c.compile_seconds},
                           {"system", c.system},
                           {"baseline", c.baseline},
                           {"best", c.best.empty() ? nlohmann::json() : nlohmann::json(c.best)},
                           {"recommendation", c.recommendation},
                           {"record", c.path},
                           {"candidates", nlohmann::json::array()},
                           {"left_out", nlohmann::json::array()}};
    for (std::size_t at = 0; at < c.rows.size(); ++at) {
        json["candidates"].push_back(row_json(c.rows[at]));
        if (const auto solves = solves_to_pay_off(c, at)) json["candidates"].back()["pays_off_from_solves"] = *solves;
        if (at >= c.records.size()) continue;
        if (const std::string text = dropped_couplings(c.records[at]); !text.empty())
            json["candidates"].back()["dropped_couplings"] = text;
        if (c.records[at].pattern) json["candidates"].back()["pattern"] = to_json(*c.records[at].pattern);
    }
    for (const LeftOut& pair : c.left_out) json["left_out"].push_back({{"name", pair.name}, {"reason", pair.reason}});
    return json;
}

std::string recommend(const ComparisonData& c) {
    const auto converged = std::count_if(c.rows.begin(), c.rows.end(), [](auto& row) { return row.converged(); });
    if (converged == 0)
        return item("recommended", fmt::format("none: none of the {} tried converged; {}",
                                               counted(Index(c.rows.size()), "pair"), when_none_converged(c)));
    const ComparisonRow& best = c.rows.front();
    std::string text =
        item("recommended", fmt::format("solver {}, preconditioner {}", best.solver, best.preconditioner));
    text += item("because",
                 fmt::format("{} ms for set-up and solve, {} iterations, is the least of the {} that converged, of {} "
                             "tried",
                             in_ms(best.total.median), best.iterations, counted(converged, "pair"), c.rows.size()));
    if (converged > 1) {
        const ComparisonRow& next = c.rows[1];
        const std::string evidence =
            fmt::format("the best was faster in {} of {}{}", next.beaten, counted(next.turns, "turn"),
                        next.beaten < next.turns ? ", so the difference may be chance" : "");
        text += item("next", fmt::format("{}, {} ms: {:.2f} times as long; {}", next.name, in_ms(next.total.median),
                                         next.total.median / best.total.median, evidence));
    }
    const auto least =
        std::min_element(c.rows.begin(), c.rows.begin() + converged, [](auto& a, auto& b) { return a.peak < b.peak; });
    text += item("its memory",
                 least->peak == best.peak
                     ? fmt::format("{}, the least of those that converged", in_mib(best.peak))
                     : fmt::format("{}; the least is {}, {}", in_mib(best.peak), in_mib(least->peak), least->name));
    return text;
}

}  // namespace hyperplane
