// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/base/json_text.hpp"
#include "core/counted.hpp"

namespace hyperplane {
namespace {

/// The place of a name in the order of the work: the first occurrence of each kind that it lies in, outermost first.
std::vector<Index> place_of(const std::string& name, const std::map<std::string, Index>& first) {
    std::vector<Index> place;
    for (std::size_t end = name.find('/');; end = name.find('/', end + 1)) {
        const auto at = first.find(name.substr(0, end));
        place.push_back(at == first.end() ? Index(first.size()) : at->second);
        if (end == std::string::npos) return place;
    }
}

struct Placed {
    std::vector<Index> place;
    const ProfileRow* row;
};

std::vector<Placed> in_order(const std::vector<ProfileRow>& rows) {
    std::map<std::string, Index> first;
    for (const ProfileRow& row : rows) first.emplace(row.name, Index(first.size()));
    std::vector<Placed> placed;
    for (const ProfileRow& row : rows) placed.push_back({place_of(row.name, first), &row});
    std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.place < b.place; });
    return placed;
}

bool lies_in(const std::string& name, const std::string& outer) {
    return name.size() > outer.size() && name.starts_with(outer) && name[outer.size()] == '/';
}

/// Seconds of the kinds directly within one.
double seconds_within(const std::vector<ProfileRow>& rows, const std::string& outer) {
    double sum = 0.0;
    for (const ProfileRow& row : rows)
        if (lies_in(row.name, outer) && row.name.find('/', outer.size() + 1) == std::string::npos) sum += row.seconds;
    return sum;
}

/// A kind that the next one may lie in.
struct OpenKind {
    const ProfileRow* row;
    int depth;
};

}  // namespace

std::vector<ProfileLine> profile_lines(const std::vector<ProfileRow>& rows) {
    std::vector<ProfileLine> lines;
    std::vector<OpenKind> open;
    double phase = 0.0;
    const auto share = [&](double seconds) { return phase > 0.0 ? seconds / phase : 0.0; };
    const auto close = [&](const std::string& next) {
        while (!open.empty() && !lies_in(next, open.back().row->name)) {
            const OpenKind last = open.back();
            open.pop_back();
            const double within = seconds_within(rows, last.row->name);
            const double rest = last.row->seconds - within;
            if (within > 0.0 && rest > 0.005 * phase)
                lines.push_back({"the rest", last.depth + 1, rest, share(rest), 0, 0.0});
        }
    };
    for (const Placed& placed : in_order(rows)) {
        const ProfileRow& row = *placed.row;
        close(row.name);
        const int depth = int(placed.place.size()) - 1;
        if (depth == 0) phase = row.seconds;
        const double rate = row.seconds > 0.0 ? double(row.bytes) / row.seconds * 1e-9 : 0.0;
        lines.push_back(
            {row.name.substr(row.name.rfind('/') + 1), depth, row.seconds, share(row.seconds), row.calls, rate});
        open.push_back({&row, depth});
    }
    close("");
    return lines;
}

std::string profile_table(const std::vector<ProfileRow>& rows, double limit, double least_share) {
    const std::vector<ProfileLine> lines = profile_lines(rows);
    double whole = 0.0;
    for (const ProfileLine& line : lines)
        if (line.depth == 0) whole += line.seconds;
    Index left_out = 0;
    std::string text = fmt::format("{:<30} {:>9} {:>11} {:>8} {:>9} {:>10}\n", "kind of work", "calls", "seconds",
                                   "share", "GB/s", limit > 0.0 ? "of limit" : "");
    for (const ProfileLine& line : lines) {
        if (line.seconds < least_share * whole) {
            ++left_out;
            continue;
        }
        const std::string calls = line.calls > 0 ? fmt::format("{}", line.calls) : "";
        const std::string rate = line.rate > 0.0 ? fmt::format("{:.1f}", line.rate) : "";
        const std::string of_limit =
            line.rate > 0.0 && limit > 0.0 ? fmt::format("{:.0f} %", 100.0 * line.rate / limit) : "";
        text += fmt::format("{:<30} {:>9} {:>11.4g} {:>6.1f} % {:>9} {:>10}\n",
                            std::string(std::size_t(2 * line.depth), ' ') + line.kind, calls, line.seconds,
                            100.0 * line.share, rate, of_limit);
    }
    if (left_out > 0)
        text += fmt::format("{} below {:g} % of the whole: hyperplane info --all\n", counted(left_out, "line"),
                            100.0 * least_share);
    if (limit > 0.0) text += fmt::format("limit: a copy as large as the run, {:.0f} GB/s\n", limit);
    return text;
}

void write_profile(const Case& a_case) {
    Profile& profile = *a_case.context.profile();
    const std::vector<ProfileRow>& rows = profile.rows();
    std::vector<ProfileSpan> spans = profile.spans();
    // Viewers nest events of one thread by their times, so an outer one comes first and ends last.
    const auto depth = [&](const ProfileSpan& span) {
        const std::string& name = rows[span.row].name;
        return std::count(name.begin(), name.end(), '/');
    };
    std::sort(spans.begin(), spans.end(), [&](const ProfileSpan& a, const ProfileSpan& b) {
        return a.begin != b.begin ? a.begin < b.begin : depth(a) < depth(b);
    });
    nlohmann::json events = nlohmann::json::array();
    events.push_back(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", a_case.device}}}});
    const auto nanoseconds = [](double seconds) { return std::llround(1e9 * seconds); };
    std::vector<long long> ends;  // of the events that are open
    for (const ProfileSpan& span : spans) {
        const ProfileRow& row = rows[span.row];
        const long long begin = nanoseconds(span.begin);
        while (!ends.empty() && ends.back() <= begin) ends.pop_back();
        const long long end = ends.empty() ? nanoseconds(span.end) : std::min(ends.back(), nanoseconds(span.end));
        ends.push_back(end);
        const std::size_t cut = row.name.rfind('/');
        nlohmann::json event = {{"ph", "X"},
                                {"name", row.name.substr(cut + 1)},
                                {"cat", row.name.substr(0, row.name.find('/'))},
                                {"pid", 1},
                                {"tid", 1},
                                {"ts", 1e-3 * double(begin)},
                                {"dur", 1e-3 * double(end - begin)}};
        if (row.bytes > 0) event["args"] = {{"bytes", row.bytes / std::max<Index>(row.calls, 1)}};
        events.push_back(std::move(event));
    }
    write_json(a_case.profile_path(), {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}},
               a_case.overwrite);
}

}  // namespace hyperplane
