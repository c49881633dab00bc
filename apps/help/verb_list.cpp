// SPDX-License-Identifier: BSD-3-Clause
// hyperplane list [problems|solvers|preconditioners|orderings|scalings|stencils|devices]

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/base/environment.hpp"
#include "apps/base/json_text.hpp"
#include "apps/command/verbs.hpp"
#include "apps/help/stencil_text.hpp"
#include "core/error.hpp"
#include "core/graph/orderings.hpp"
#include "io/deck.hpp"
#include "precond/registry.hpp"
#include "precond/scaling/scaled.hpp"
#include "problems/registry.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

struct Line {
    std::string name, summary;
    std::vector<std::string> more = {};  ///< lines that are printed if this list alone is printed
};

template <class Rows>
std::vector<Line> lines_of(const Rows& rows) {
    std::vector<Line> lines;
    for (const auto& row : rows) lines.push_back({row.name, row.summary});
    return lines;
}

/// For each problem, its own keys, a deck to begin with, and a picture.
std::vector<Line> problem_lines() {
    std::vector<Line> lines;
    for (const auto& row : problems()) {
        Line line{row.name, row.summary};
        std::string keys = "keys:";
        for (const ParameterSpec& spec : row.parameters) {
            if (keys.size() + spec.key.size() > 84) line.more.push_back(std::exchange(keys, "     "));
            keys += " " + spec.key;
        }
        line.more.push_back(keys);
        const Showing showing = showing_of(row);
        line.more.push_back("deck: " + showing.deck);
        if (!showing.picture.empty()) line.more.push_back("picture: " + showing.picture);
        lines.push_back(std::move(line));
    }
    return lines;
}

/// The matrices that a preconditioner takes.
std::string matrices_of(const PreconditionerRow& row) {
    std::string text = "matrices:";
    const char* separator = " ";
    for (const auto& [kind, name] : {std::pair{MatrixKind::structured, "on a grid"}, {MatrixKind::general, "general"}})
        if (row.takes(kind)) text += std::exchange(separator, ", ") + std::string(name);
    return text + (row.needs_symmetry ? ", symmetric alone" : "");
}

std::vector<Line> preconditioner_lines() {
    std::vector<Line> lines;
    for (const PreconditionerRow& row : preconditioners()) {
        lines.push_back({row.name, row.summary});
        lines.back().more.push_back(matrices_of(row));
        if (!row.storages.empty()) lines.back().more.push_back("storage: " + list_of(row.storages));
    }
    return lines;
}

std::vector<Line> stencil_lines() {
    std::vector<Line> lines;
    for (const Stencil& stencil : Stencil::ready_made())
        lines.push_back({stencil.name(), summary_of(stencil), operations_on(stencil)});
    return lines;
}

std::vector<Line> device_lines() {
    std::vector<Line> lines{
        {"cpu", fmt::format("{}, {} threads, {}", processor_name(), omp_get_num_procs(), in_gib(machine_memory()))}};
    for (const device::Properties& gpu : device::all())
        lines.push_back({fmt::format("cuda, gpu = {}", gpu.ordinal), describe(gpu)});
    if (const std::string why = device::unavailable(); !why.empty()) lines.push_back({"cuda", "not available: " + why});
    return lines;
}

struct Topic {
    std::string name;
    std::vector<Line> (*lines)();
};

const std::vector<Topic>& topics() {
    static const std::vector<Topic> table = {
        {"problems", problem_lines},
        {"solvers", [] { return lines_of(solvers()); }},
        {"preconditioners", preconditioner_lines},
        {"orderings", [] { return lines_of(orderings()); }},
        {"scalings", [] { return lines_of(scalings()); }},
        {"stencils", stencil_lines},
        {"devices", device_lines},
    };
    return table;
}

}  // namespace

int list_verb(const Invocation& invocation) {
    const std::string wanted = invocation.arguments.empty() ? "" : invocation.arguments[0];
    nlohmann::json json = nlohmann::json::object();
    std::string text, known;
    std::size_t width = 24;
    for (const Topic& topic : topics()) {
        known += (known.empty() ? "" : ", ") + topic.name;
        if (!wanted.empty() && wanted != topic.name) continue;
        text += (text.empty() ? "" : "\n") + topic.name + "\n";
        const std::vector<Line> lines = topic.lines();
        for (const Line& line : lines) width = std::max(width, line.name.size());
        for (const Line& line : lines) {
            text += fmt::format("  {:<{}} {}\n", line.name, width, line.summary);
            if (!wanted.empty())
                for (const std::string& more : line.more) text += fmt::format("  {:<{}} {}\n", "", width, more);
            json[topic.name][line.name] = line.summary;
        }
    }
    if (text.empty()) {
        std::vector<std::string> names;
        for (const Topic& topic : topics()) names.push_back(topic.name);
        const std::string near = nearest(wanted, names);
        throw UsageError(fmt::format("list: '{}' is none of {}{}", wanted, known,
                                     near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    if (wanted == "problems") text += "\nhyperplane help NAME explains a problem and each of its keys.\n";
    if (wanted == "stencils")
        text +=
            "\nAn operation multiplies two blocks, or inverts one. Where groups of threads share a row, those of the "
            "group that has most\ncount (StructILU paper, Table 2).\n";
    fmt::print("{}", invocation.has("json") ? to_text(json) : text);
    return 0;
}

}  // namespace hyperplane
