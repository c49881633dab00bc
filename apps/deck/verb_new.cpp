// SPDX-License-Identifier: BSD-3-Clause
// hyperplane new PROBLEM: prints a deck to start from, with each key, its default and its meaning as a comment.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "apps/deck/schema.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/reference.hpp"
#include "apps/verbs.hpp"
#include "core/error.hpp"
#include "precond/registry.hpp"
#include "problems/registry.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

/// What is known of a problem before its deck is written.
struct Nature {
    bool symmetric = false, linear = true, steady = true;
};

/// The nature of a problem with its defaults. One that reads a file is taken to be linear and not symmetric.
Nature nature_of(const ProblemRow& row) {
    for (const ParameterSpec& spec : row.parameters)
        if (spec.required) return {};
    const Case built = build_case(
        parse_deck(fmt::format("[problem]\nname = {}\n[grid]\ncells = 8\n[device]\nbackend = cpu\n", row.name),
                   row.name),
        {});
    const SystemShape& shape = built.shape();
    return {shape.symmetric, shape.linear, shape.regime == Regime::steady};
}

/// The text as comment lines of at most 118 characters.
std::string comment(const std::string& text) {
    std::string lines, line = ";";
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (line.size() + word.size() > 117) lines += line + "\n", line = ";";
        line += " " + word;
    }
    return lines + line + "\n";
}

/// A key with its meaning: set to `value`, or commented out with its default.
std::string key_lines(const ParameterSpec& spec, const std::string& value) {
    std::string text = comment(fmt::format("{}. {}.", describe(spec), describe_domain(spec)));
    if (!value.empty()) return text + fmt::format("{} = {}\n", spec.key, value);
    return text + fmt::format(";{} ={}{}\n", spec.key, spec.default_value.empty() ? "" : " ", spec.default_value);
}

class NewDeck {
public:
    explicit NewDeck(const ProblemRow& row) : row_(row), nature_(nature_of(row)) {
        values_ = {{"problem.name", row.name},
                   {"solver.name", nature_.symmetric ? "cg" : "gmres"},
                   {"solver.rtol", "1e-8"},
                   {"preconditioner.name", row.has_grid ? "struct_ilu" : "sync_free_ilu"}};
        if (row.has_grid) values_["grid.cells"] = "24";
        for (const ParameterSpec& spec : row.parameters)
            if (spec.required) values_[spec.name()] = spec.type == ParameterType::path ? "A.mtx" : "1";
    }

    std::string text() const {
        std::string text =
            comment(row_.summary) + ";\n" +
            comment(fmt::format("A deck to start from, by hyperplane new {0}. Lines that begin with ;KEY "
                                "show a key's default; take the semicolon away to set it. \"hyperplane "
                                "check FILE\" says what is wrong, \"hyperplane help KEY\" explains.",
                                row_.name));
        for (const std::string& section : deck_sections())
            if (wanted(section)) text += section_text(section);
        return text;
    }

private:
    bool wanted(const std::string& section) const {
        if (section == "newton") return !nature_.linear;
        if (section == "grid") return row_.has_grid;
        return section != "smoother" && section != "sweep" && section != "slurm";
    }

    std::string section_text(const std::string& section) const {
        ParameterTable keys = common_keys(section);
        for (const ParameterSpec& spec : component_keys(section))
            if (spec.section == section) keys.push_back(spec);
        for (ParameterSpec& spec : keys)
            if (spec.name() == "grid.lengths") spec = lengths_parameter(row_);
        std::stable_partition(keys.begin(), keys.end(), [&](auto& spec) { return values_.count(spec.name()) > 0; });
        std::string text = fmt::format("\n{}[{}]\n", comment(explain_section(section)), section);
        for (const ParameterSpec& spec : keys) {
            const auto at = values_.find(spec.name());
            text += key_lines(spec, at == values_.end() ? "" : at->second);
        }
        return text;
    }

    /// The keys of the problem, the solver and the preconditioner that the deck names.
    ParameterTable component_keys(const std::string& section) const {
        ParameterTable keys = row_.parameters;
        if (section == "solver") keys = find_row(solvers(), "solver", values_.at("solver.name")).parameters;
        if (section == "preconditioner")
            keys = find_row(preconditioners(), "preconditioner", values_.at("preconditioner.name")).parameters;
        return keys;
    }

    const ProblemRow& row_;
    Nature nature_;
    std::map<std::string, std::string> values_;  ///< of the keys that are set
};

}  // namespace

int new_verb(const Invocation& invocation) {
    std::vector<std::string> known;
    for (const auto& row : problems()) known.push_back(row.name);
    if (invocation.arguments.empty())
        throw UsageError(
            fmt::format("new needs PROBLEM, one of {} (hyperplane list problems)", fmt::join(known, ", ")));
    const std::string& name = invocation.arguments[0];
    const auto found =
        std::find_if(problems().begin(), problems().end(), [&](const auto& row) { return row.is_called(name); });
    if (found == problems().end()) {
        const std::string near = nearest(name, known);
        throw UsageError(fmt::format("no problem is called '{}'{} (hyperplane list problems)", name,
                                     near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    fmt::print("{}", NewDeck(*found).text());
    return 0;
}

}  // namespace hyperplane
