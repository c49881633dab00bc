// SPDX-License-Identifier: BSD-3-Clause
// hyperplane diff A.h5 B.h5

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/base/json_text.hpp"
#include "apps/command/verbs.hpp"
#include "io/costs.hpp"
#include "io/deck.hpp"
#include "io/record.hpp"

namespace hyperplane {
namespace {

/// The differences found, and the timings, which do not count as differences.
struct Differences {
    double tolerance;
    std::vector<std::string> differences;
    std::vector<std::string> timings;

    void text(const std::string& what, const std::string& a, const std::string& b) {
        if (a != b) differences.push_back(fmt::format("{}: {} | {}", what, a, b));
    }
    void count(const std::string& what, Index a, Index b) { text(what, fmt::format("{}", a), fmt::format("{}", b)); }
    /// Whether a and b are equal within the tolerance, relative to the larger one. Two NaNs are equal.
    bool near(double a, double b) const {
        if (a == b || (std::isnan(a) && std::isnan(b))) return true;
        return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
    }
    void value(const std::string& what, double a, double b) {
        if (!near(a, b)) differences.push_back(fmt::format("{}: {:.10g} | {:.10g}", what, a, b));
    }
};

/// All keys except those that have no effect on results.
std::map<std::string, std::string> deck_keys(const RecordData& record) {
    std::map<std::string, std::string> keys;
    for (const DeckEntry& entry : parse_deck(record.deck_resolved, record.path).entries)
        if (entry.section != "output" && entry.section != "device") keys[entry.section + "." + entry.key] = entry.value;
    return keys;
}

void compare_decks(const RecordData& a, const RecordData& b, Differences& found) {
    const auto keys_a = deck_keys(a), keys_b = deck_keys(b);
    std::set<std::string> names;
    for (const auto* keys : {&keys_a, &keys_b})
        for (const auto& [name, value] : *keys) names.insert(name);
    const auto shown = [](const auto& keys, const std::string& name) {
        const auto at = keys.find(name);
        return at == keys.end() ? std::string("(none)") : at->second;
    };
    for (const std::string& name : names) found.text(name, shown(keys_a, name), shown(keys_b, name));
}

void compare_histories(const std::string& what, const std::vector<HistoryEntry>& a, const std::vector<HistoryEntry>& b,
                       Differences& found) {
    found.count(what + " history entries", Index(a.size()), Index(b.size()));
    for (std::size_t e = 0; e < std::min(a.size(), b.size()); ++e) {
        if (a[e].iteration == b[e].iteration && found.near(a[e].recurrence, b[e].recurrence) &&
            found.near(a[e].truth, b[e].truth))
            continue;
        found.differences.push_back(fmt::format("{} history differs first at iteration {}: {:.10g} | {:.10g}", what,
                                                a[e].iteration, a[e].recurrence, b[e].recurrence));
        return;
    }
}

void compare_solves(const RecordData& a, const RecordData& b, Differences& found) {
    found.count("solves", Index(a.solves.size()), Index(b.solves.size()));
    for (std::size_t s = 0; s < std::min(a.solves.size(), b.solves.size()); ++s) {
        const SolveRow &x = a.solves[s], &y = b.solves[s];
        const std::string what = fmt::format("solve {}", s + 1);
        found.text(what + " stop_reason", to_string(x.report.reason), to_string(y.report.reason));
        found.count(what + " unknowns", x.unknowns, y.unknowns);
        found.count(what + " iterations", x.report.iterations, y.report.iterations);
        found.value(what + " b_norm", x.report.b_norm, y.report.b_norm);
        found.value(what + " true residual", x.report.true_residual, y.report.true_residual);
        found.count(what + " pivots modified", x.setup.pivots_modified, y.setup.pivots_modified);
        found.count(what + " values flushed", x.setup.values_flushed, y.setup.values_flushed);
        compare_histories(what, a.histories[s], b.histories[s], found);
    }
}

void compare_errors(const RecordData& a, const RecordData& b, Differences& found) {
    found.count("error norms", Index(a.verification.size()), Index(b.verification.size()));
    for (std::size_t n = 0; n < std::min(a.verification.size(), b.verification.size()); ++n) {
        found.text("error norm", a.verification[n].name, b.verification[n].name);
        found.value("error " + a.verification[n].name, a.verification[n].value, b.verification[n].value);
    }
}

void list_timings(const RecordData& a, const RecordData& b, Differences& found) {
    const Costs x = costs_of(a), y = costs_of(b);
    const auto place = [](const Costs& costs) {
        return costs.parts == 1 ? costs.places : fmt::format("{} (in {} parts)", costs.places, costs.parts);
    };
    found.timings.push_back(fmt::format("{:<22} {:>13} | {}", "", place(x), place(y)));
    const auto line = [&](const std::string& name, double seconds, double other, const char* unit, double scale) {
        found.timings.push_back(fmt::format("{:<22} {:>11.4f} {:<2} {:>11.4f} {:<2}  x {:.2f}", name, seconds * scale,
                                            unit, other * scale, unit, other / seconds));
    };
    line("setup", x.setup, y.setup, "s", 1.0);
    line("solve", x.solve, y.solve, "s", 1.0);
    if (x.iterations > 0 && y.iterations > 0) line("an iteration", x.per_iteration(), y.per_iteration(), "ms", 1e3);
    for (const TimerRow& row : a.timers)
        for (const TimerRow& other : b.timers)
            if (row.name == other.name && row.name != "setup" && row.name != "solve")
                line(row.name, row.seconds, other.seconds, "s", 1.0);
}

}  // namespace

int diff_verb(const Invocation& invocation) {
    const RecordData a = read_record(invocation.arguments[0]), b = read_record(invocation.arguments[1]);
    Differences found{parse_tolerance("tolerance", invocation.value("tolerance", "1e-6")), {}, {}};
    compare_decks(a, b, found);
    found.text("status", a.status, b.status);
    found.count("exit code", a.exit_code, b.exit_code);
    compare_solves(a, b, found);
    compare_errors(a, b, found);
    list_timings(a, b, found);

    const bool same = found.differences.empty();
    if (invocation.has("json")) {
        fmt::print("{}", to_text({{"same", same}, {"differences", found.differences}, {"timings", found.timings}}));
    } else {
        for (const std::string& difference : found.differences) fmt::print("{}\n", difference);
        for (const std::string& timing : found.timings) fmt::print("{}\n", timing);
        fmt::print("{}\n", same ? "the same" : fmt::format("{} differences", found.differences.size()));
    }
    return int(same ? ExitCode::ok : ExitCode::expectation);
}

}  // namespace hyperplane
