// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/case_axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "apps/study/expression.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

constexpr std::size_t max_cases = 100000;

std::optional<double> number_in(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

/// The values first, first + step, ... or first, first * factor, ..., up to last.
struct Range {
    double first = 0.0, last = 0.0, by = 1.0;
    bool factor = false;

    double at(std::size_t i) const { return factor ? first * std::pow(by, double(i)) : first + double(i) * by; }
    /// Whether a value is in the range; a tolerance keeps the last value in spite of rounding.
    bool holds(double value) const {
        const double slack = 1e-9 * (factor ? std::abs(last) : std::abs(by));
        return last >= first ? value <= last + slack : value >= last - slack;
    }
    /// Why the range would not end; empty if it ends.
    std::string wrong() const {
        if (factor && (first * last <= 0.0 || by <= 0.0))
            return "a factor must be positive, and both ends of its range must have the same sign";
        const bool grows = factor ? (by > 1.0) == (first > 0.0) : by > 0.0;
        const bool stays = factor ? by == 1.0 : by == 0.0;
        if (first != last && (stays || grows != (last > first)))
            return fmt::format("{} {} does not lead from {} to {}", factor ? "factor" : "step", by, first, last);
        return "";
    }
};

/// `text` as a range; nothing where it is a plain value, such as a path with "..".
std::optional<Range> range_in(const std::string& text) {
    const std::size_t dots = text.find("..");
    if (dots == text.npos) return std::nullopt;
    const auto first = number_in(trim(text.substr(0, dots)));
    if (!first) return std::nullopt;
    Range range{*first};
    std::string rest = text.substr(dots + 2);
    for (const char* word : {"step", "factor"}) {
        const std::size_t at = rest.find(word);
        if (at == rest.npos) continue;
        const auto by = number_in(trim(rest.substr(at + std::string(word).size())));
        if (!by) throw UsageError(fmt::format("'{}': a number follows {}", text, word));
        range.by = *by;
        range.factor = word == std::string("factor");
        rest = rest.substr(0, at);
        break;
    }
    const auto last = number_in(trim(rest));
    if (!last)
        throw UsageError(fmt::format("'{}' is no range; write 0..3, 1..2 step 0.25 or 1e-8..1e-2 factor 100", text));
    range.last = *last;
    if (const std::string wrong = range.wrong(); !wrong.empty()) throw UsageError(fmt::format("'{}': {}", text, wrong));
    return range;
}

std::vector<std::string> expand(const std::vector<ListedValue>& listed) {
    std::vector<std::string> values;
    for (const auto& [text, quoted] : listed) {
        const auto range = quoted ? std::nullopt : range_in(text);
        if (!range) values.push_back(text);
        for (std::size_t i = 0; range && range->holds(range->at(i)) && (i == 0 || range->at(i) != range->at(i - 1));
             ++i) {
            if (i == max_cases) throw UsageError(fmt::format("'{}' has more than {} values", text, max_cases));
            values.push_back(fmt::format("{:.12g}", range->at(i)));
        }
    }
    std::set<std::string> seen;
    for (const std::string& value : values)
        if (!seen.insert(value).second) throw UsageError(fmt::format("the value {} is given twice", value));
    return values;
}

void read_axis(const DeckEntry& entry, CaseAxes& varied) {
    const std::size_t dot = entry.key.find('.');
    if (dot == entry.key.npos) {
        const std::string near = nearest(entry.key, {"combine", "skip", "folder"});
        throw UsageError(fmt::format("unknown key sweep.{}{}; keys to vary are written section.key", entry.key,
                                     near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    CaseAxis axis{entry.key.substr(0, dot), entry.key.substr(dot + 1), entry.line, {}};
    if (axis.section == "output" || axis.section == "sweep" || axis.section == "slurm")
        throw UsageError(fmt::format("{}: [{}] is the same for all cases", entry.key, axis.section));
    axis.values = expand(entry.listed);
    varied.axes.push_back(std::move(axis));
}

void read_entry(const DeckEntry& entry, CaseAxes& varied) {
    if (entry.key == "skip") {
        varied.skip = entry.value;
        varied.skip_line = entry.line;
    } else if (entry.key == "folder") {
        varied.folder = entry.value;
        varied.folder_line = entry.line;
    } else if (entry.key == "combine") {
        if (entry.value != "product" && entry.value != "zip")
            throw UsageError(fmt::format("sweep.combine: '{}' is none of product | zip", entry.value));
        varied.zip = entry.value == "zip";
    } else {
        read_axis(entry, varied);
    }
}

/// The lines of [sweep] with wrong syntax.
std::vector<DeckLine> syntax_errors(const Deck& deck) {
    std::vector<DeckLine> errors;
    for (const DeckLine& error : deck.errors) {
        const auto next = std::ranges::upper_bound(deck.sections, error.line, {}, &DeckLine::line);
        if (next != deck.sections.begin() && std::prev(next)->text == "sweep") errors.push_back(error);
    }
    return errors;
}

std::string lengths(const CaseAxes& varied) {
    std::vector<std::string> parts;
    for (const CaseAxis& axis : varied.axes) parts.push_back(fmt::format("{} has {}", axis.name(), axis.values.size()));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// The number of combinations before any is skipped.
std::size_t count(const CaseAxes& varied, const std::string& file) {
    std::size_t total = 1;
    for (const CaseAxis& axis : varied.axes) {
        total = varied.zip ? axis.values.size() : total * axis.values.size();
        if (total > max_cases)
            throw UsageError(
                fmt::format("{}:{}: more than {} cases: {}", file, varied.line, max_cases, lengths(varied)));
    }
    return total;
}

}  // namespace

ParameterTable case_axes_parameters() {
    return {
        {.section = "sweep",
         .key = "combine",
         .type = ParameterType::choice,
         .default_value = "product",
         .description = "product: all combinations of the values, the last key fastest; zip: the first values of all "
                        "keys together, then the second ones",
         .choices = {"product", "zip"}},
        {.section = "sweep",
         .key = "skip",
         .type = ParameterType::text,
         .default_value = "",
         .description = "condition on varied keys; combinations for which it holds are left out, e.g. "
                        "preconditioner.fill_level > 1 and grid.cells >= 128"},
        {.section = "sweep",
         .key = "folder",
         .type = ParameterType::path,
         .default_value = "",
         .description =
             "folder of the records, which no other study may use; unset: the study's name, in the current directory"},
    };
}

bool is_study(const Deck& deck) {
    return std::any_of(deck.sections.begin(), deck.sections.end(),
                       [](const DeckLine& section) { return section.text == "sweep"; });
}

CaseAxes read_case_axes(const Deck& deck) {
    CaseAxes varied;
    std::vector<DeckLine> errors = syntax_errors(deck);
    for (const DeckLine& section : deck.sections)
        if (section.text == "sweep") varied.line = section.line;
    for (const DeckEntry& entry : deck.entries) {
        if (entry.section != "sweep") continue;
        try {
            read_entry(entry, varied);
        } catch (const UsageError& error) {
            errors.push_back({entry.line, error.what()});
        }
    }
    if (varied.axes.empty() && errors.empty())
        errors.push_back({varied.line, "[sweep] varies nothing; write a line such as grid.cells = 16, 32, 64"});
    const auto differs = [&](const CaseAxis& axis) { return axis.values.size() != varied.axes[0].values.size(); };
    if (varied.zip && errors.empty() && std::any_of(varied.axes.begin(), varied.axes.end(), differs))
        errors.push_back(
            {varied.line, fmt::format("combine = zip needs as many values of each key: {}", lengths(varied))});
    if (errors.empty()) return varied;
    std::ranges::stable_sort(errors, {}, &DeckLine::line);
    std::vector<std::string> lines;
    for (const auto& [line, text] : errors) lines.push_back(fmt::format("{}:{}: {}", deck.file, line, text));
    throw UsageError(fmt::format("{}", fmt::join(lines, "\n")));
}

std::vector<std::map<std::string, std::string>> combinations(const CaseAxes& varied, const std::string& file) {
    std::vector<std::map<std::string, std::string>> found;
    const std::size_t total = count(varied, file);
    for (std::size_t number = 0; number < total; ++number) {
        std::map<std::string, std::string> values;
        std::size_t rest = number;
        for (auto axis = varied.axes.rbegin(); axis != varied.axes.rend(); ++axis) {
            values[axis->name()] = axis->values[varied.zip ? number : rest % axis->values.size()];
            rest /= axis->values.size();
        }
        try {
            if (!varied.skip.empty() && holds(varied.skip, values)) continue;
        } catch (const UsageError& error) {
            throw UsageError(fmt::format("{}:{}: sweep.skip: {}", file, varied.skip_line, error.what()));
        }
        found.push_back(std::move(values));
    }
    if (found.empty())
        throw UsageError(
            fmt::format("{}:{}: sweep.skip: '{}' holds for all of the {} combinations, so no case is left; write a "
                        "condition that holds only for those that are to be left out, or remove the key",
                        file, varied.skip_line, varied.skip, total));
    return found;
}

}  // namespace hyperplane
