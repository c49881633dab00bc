// SPDX-License-Identifier: BSD-3-Clause
#include "apps/help/reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "apps/deck/schema.hpp"
#include "apps/study/case_axes.hpp"
#include "apps/study/slurm.hpp"
#include "core/graph/orderings.hpp"
#include "precond/multigrid/multigrid.hpp"
#include "precond/registry.hpp"
#include "precond/scaling/scaled.hpp"
#include "problems/registry.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

template <class Rows>
void append(std::vector<ComponentEntry>& entries, const std::string& section, const Rows& rows) {
    for (const auto& row : rows)
        entries.push_back({section, row.name, row.aliases, row.summary, row.explanation, row.parameters});
}

/// Keys that belong to no component, first those of any deck, then those of a study.
ParameterTable keys_of_all() {
    ParameterTable keys = deck_schema().common;
    for (const ParameterTable& table : {case_axes_parameters(), slurm_parameters()})
        keys.insert(keys.end(), table.begin(), table.end());
    return keys;
}

/// A key as its section's deck lines have it; with its section if that is another one.
std::string key_in(const std::string& section, const ParameterSpec& spec) {
    return section.empty() || spec.section == section ? spec.key : spec.name();
}

std::string key_text(const ParameterSpec& spec, const std::string& section = "") {
    return fmt::format("  {} = {}; {}\n      {}.\n", key_in(section, spec), describe_domain(spec), default_text(spec),
                       describe(spec));
}

std::string keys_text(const ParameterTable& keys, const std::string& section = "") {
    std::string text;
    for (const ParameterSpec& spec : keys) text += key_text(spec, section);
    return text;
}

/// The names of a section's components, each with its summary.
std::string names_text(const std::vector<ComponentEntry>& components, const std::string& section) {
    std::string text;
    for (const ComponentEntry& entry : components)
        if (entry.section == section) text += fmt::format("        {:<24} {}\n", entry.name, entry.summary);
    return text;
}

std::string escaped(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
    return text;
}

std::string markdown_table(const ParameterTable& keys, const std::string& section = "") {
    if (keys.empty()) return "";
    std::string text = "| key | value | default | meaning |\n|---|---|---|---|\n";
    for (const ParameterSpec& spec : keys)
        text += fmt::format("| `{}` | {} | {} | {} |\n", key_in(section, spec), escaped(describe_domain(spec)),
                            spec.required                ? "required"
                            : spec.default_value.empty() ? ""
                                                         : "`" + spec.default_value + "`",
                            escaped(describe(spec)));
    return text + "\n";
}

/// A summary as a sentence: its first word begins with a capital letter, a symbol such as x stays as it is.
std::string sentence(std::string summary) {
    const auto is_small = [&](std::size_t at) {
        return at < summary.size() && 'a' <= summary[at] && summary[at] <= 'z';
    };
    if (is_small(0) && is_small(1)) summary[0] = char(summary[0] - 'a' + 'A');
    return summary + ".";
}

std::string markdown_component(const ComponentEntry& entry) {
    std::string text = fmt::format("### {}: `{}`\n\n", entry.section, entry.name);
    if (!entry.aliases.empty()) text += fmt::format("Also called `{}`. ", fmt::join(entry.aliases, "`, `"));
    return text + sentence(entry.summary) + "\n\n" + entry.explanation + "\n\n" +
           markdown_table(entry.parameters, entry.section);
}

}  // namespace

std::string default_text(const ParameterSpec& spec) {
    if (spec.required) return "required";
    return spec.default_value.empty() ? "unset" : "default " + spec.default_value;
}

std::vector<ComponentEntry> registered_components() {
    std::vector<ComponentEntry> entries;
    append(entries, "problem", problems());
    append(entries, "solver", solvers());
    append(entries, "preconditioner", preconditioners());
    append(entries, "ordering", orderings());
    append(entries, "scaling", scalings());
    return entries;
}

std::vector<ComponentEntry> explained_components() {
    std::vector<ComponentEntry> entries = registered_components();
    for (const PreconditionerRow& row : smoothers())
        entries.push_back({"smoother", row.name, row.aliases, row.summary, row.explanation, smoother_parameters(row)});
    return entries;
}

const std::vector<std::string>& deck_sections() {
    static const std::vector<std::string> order = {
        "problem", "grid",     "initial", "time",   "newton", "solver", "preconditioner", "smoother",
        "matrix",  "ordering", "scaling", "device", "output", "expect", "sweep",          "slurm"};
    return order;
}

ParameterTable common_keys(const std::string& section) {
    ParameterTable keys;
    for (const ParameterSpec& spec : keys_of_all())
        if (spec.section == section) keys.push_back(spec);
    return keys;
}

std::optional<std::string> explain_section_keys(const std::string& section) {
    if (std::find(deck_sections().begin(), deck_sections().end(), section) == deck_sections().end())
        return std::nullopt;
    const auto components = explained_components();
    std::string text =
        fmt::format("[{}]\n{}\n\n{}", section, explain_section(section), keys_text(common_keys(section)));
    for (const ComponentEntry& entry : components)  // a section that belongs to a component
        for (const ParameterSpec& spec : entry.parameters)
            if (spec.section == section && entry.section != section && spec.key == "name")
                text += key_text(spec) + names_text(components, section);
    for (const ComponentEntry& entry : components)
        if (entry.section == section && !entry.parameters.empty())
            text += fmt::format("\nwith name = {} ({}):\n{}", entry.name, entry.summary,
                                keys_text(entry.parameters, section));
    return text;
}

std::optional<std::string> explain_key(const std::string& name) {
    std::string text;
    const auto meant = [&](const ParameterSpec& spec) { return spec.name() == name || spec.key == name; };
    const auto components = explained_components();
    const auto text_of = [&](const ParameterSpec& spec) {
        return key_text(spec) + (spec.key == "name" ? names_text(components, spec.section) : "");
    };
    for (const ParameterSpec& spec : keys_of_all())
        if (meant(spec)) text += fmt::format("[{}]\n{}", spec.section, text_of(spec));
    // Components whose text of the key is the same stand together.
    std::vector<std::pair<std::string, std::string>> texts;  // heading and text
    for (const ComponentEntry& entry : components)
        for (const ParameterSpec& spec : entry.parameters) {
            if (!meant(spec)) continue;
            const std::string heading = fmt::format("[{}] with {}.name = ", spec.section, entry.section);
            const auto same = std::find_if(texts.begin(), texts.end(), [&](const auto& one) {
                return one.first.starts_with(heading) && one.second == text_of(spec);
            });
            if (same == texts.end())
                texts.emplace_back(heading + entry.name, text_of(spec));
            else
                same->first += ", " + entry.name;
        }
    for (const auto& [heading, of_key] : texts) text += fmt::format("{}\n{}", heading, of_key);
    return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::string> explain_component(const std::string& name) {
    std::string text;
    for (const ComponentEntry& entry : registered_components()) {
        if (entry.name != name && std::find(entry.aliases.begin(), entry.aliases.end(), name) == entry.aliases.end())
            continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : "\n", entry.section, entry.name);
        if (!entry.aliases.empty()) text += fmt::format(" (also {})", fmt::join(entry.aliases, ", "));
        text += fmt::format("\n{}.\n\n{}\n", entry.summary, entry.explanation);
        if (!entry.parameters.empty())
            text +=
                fmt::format("\n[{}] keys of its own:\n{}", entry.section, keys_text(entry.parameters, entry.section));
        for (const ProblemRow& row : problems())
            if (entry.section == "problem" && row.name == entry.name && !row.lengths.empty())
                text += "\n[grid] a key with a default of its own:\n" + key_text(lengths_parameter(row), "grid");
    }
    return text.empty() ? std::nullopt : std::optional(text);
}

std::string deck_reference() {
    std::string text =
        "# The deck\n\n"
        "Generated from the program's own tables by `hyperplane help --markdown`; do not edit.\n\n"
        "A deck is an INI file. `;` and `#` begin a comment at the start of a line or after white space; a value in "
        "double quotes may hold them. Lists are written with blanks or commas. Integers may be written `1e3`. "
        "`key ?= value` gives a key a default: the key does not count as given, and the line is ignored if the key "
        "does not apply; the defaults in the resolved deck of a record have this form. A line that gives "
        "`grid.lengths` "
        "another default than it has is refused, since this default follows other keys. "
        "In [preconditioner], `name ?= struct_ilu` and `name ?= sync_free_ilu` both stand for the default, whichever "
        "of them the line names: the first on a grid, the second for general matrices. Another name is taken; to have "
        "one of these two, write `name = ...`. "
        "A key that does not apply is an error. `hyperplane run DECK --set section.key=value` overrides a key; "
        "the last one wins. File names are relative to the deck's folder, those in [output] to the current "
        "directory.\n\n";
    for (const std::string& section : deck_sections()) {
        text +=
            fmt::format("## [{}]\n\n{}\n\n{}", section, explain_section(section), markdown_table(common_keys(section)));
        for (const ComponentEntry& entry : registered_components())
            if (entry.section == section) text += markdown_component(entry);
    }
    while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
    return text;
}

}  // namespace hyperplane
