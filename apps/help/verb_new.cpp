// SPDX-License-Identifier: BSD-3-Clause
// hyperplane new PROBLEM: prints a deck to start from, with each key, its default and its meaning as a comment.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "apps/command/verbs.hpp"
#include "apps/deck/schema.hpp"
#include "apps/help/reference.hpp"
#include "apps/run/build_case.hpp"
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

bool reads_a_file(const ProblemRow& row) {
    return std::any_of(row.parameters.begin(), row.parameters.end(),
                       [](const ParameterSpec& spec) { return spec.required; });
}

/// The nature of a problem with its defaults. One that reads a file is taken to be linear and not symmetric.
Nature nature_of(const ProblemRow& row) {
    if (reads_a_file(row)) return {};
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

/// A key with its meaning: set to `value`, or commented out with its default. `needs` says why it is refused alone.
std::string key_lines(const ParameterSpec& spec, const std::string& value, const std::string& needs) {
    std::string text = comment(fmt::format("{}. {}.{}", describe(spec), describe_domain(spec),
                                           needs.empty() ? "" : fmt::format(" It needs another key: {}.", needs)));
    if (!value.empty()) return text + fmt::format("{} = {}\n", spec.key, value);
    return text + fmt::format(";{} ={}{}\n", spec.key, spec.default_value.empty() ? "" : " ", spec.default_value);
}

std::string without(std::string text, const std::string& part, const std::string& instead = "") {
    if (const std::size_t at = text.find(part); at != text.npos) text.replace(at, part.size(), instead);
    return text;
}

/// Returns the reason for which the program refuses a deck whose only fault is this key, and the key that would help,
/// without the place; empty if it takes the deck.
std::string refusal_of(const std::string& deck, const ParameterSpec& spec, const std::string& value) {
    try {
        build_case(parse_deck(deck, "new"), {fmt::format("{}={}", spec.name(), value)});
        return "";
    } catch (const UsageError& error) {
        std::string text = error.what();
        const std::size_t at = text.find(spec.name());
        if (at == text.npos) return "";
        text = text.substr(at + spec.name().size());
        text.erase(0, text.find_first_not_of(": "));
        text.resize(std::min({text.find('\n'), text.find(" (hyperplane help"), text.size()}));
        text = without(without(text, "; remove the key, or ", "; "), "; remove the key");
        return without(without(text, "; leave it out, or give that"), "; leave it out, or ", "; ");
    }
}

/// A value to try a key with: its default, or where it is unset one that its table allows; empty if that is not known.
std::string value_to_try(const ParameterSpec& spec) {
    if (!spec.default_value.empty()) return spec.default_value;
    if (spec.name() == "time.cfl_max") return "1e6";  // the other Courant number is not above it
    if (spec.type == ParameterType::choice) return spec.choices.front();
    return check_value(spec, "1") || spec.type == ParameterType::text || spec.type == ParameterType::path ? "" : "1";
}

/// Whether a problem can take a key or never takes it, and which other key that one needs.
struct Use {
    bool never = false;
    std::string needs;
};

/// Whether a key counts or controls time steps, which a problem may never take, or only in another regime.
bool is_of_steps(const ParameterSpec& spec) {
    return spec.section == "time" || spec.name() == "output.fields_every" || spec.name() == "output.checkpoint_every";
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
            comment(fmt::format(
                "A deck to start from, by hyperplane new {0}. Lines that begin with ;KEY "
                "show a key's default; take the semicolon away to set it, and give a value where none stands. "
                "Keys that the problem cannot take are left out. \"hyperplane check FILE\" says what is wrong, "
                "\"hyperplane help KEY\" explains.",
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
        std::string text;
        for (const ParameterSpec& spec : keys) {
            const auto at = values_.find(spec.name());
            const Use use = at == values_.end() ? tried(spec) : Use{};
            if (!use.never) text += key_lines(spec, at == values_.end() ? "" : at->second, use.needs);
        }
        return text.empty() ? "" : fmt::format("\n{}[{}]\n", comment(explain_section(section)), section) + text;
    }

    /// How the problem takes a key. Those of devices depend on the machine, and no problem refuses them; those of a
    /// problem that reads a file, and the form of its matrix, cannot be tried with another problem.
    Use tried(const ParameterSpec& spec) const {
        const std::string value = value_to_try(spec);
        const bool of_file = reads_a_file(row_);
        if (value.empty() || spec.section == "device" ||
            (of_file && (spec.section == "problem" || spec.section == "matrix")))
            return {};
        const std::string deck = deck_to_try(of_file), refusal = refusal_of(deck, spec, value);
        if (refusal.empty() || !is_of_steps(spec) || refusal.find("time.tolerance") != refusal.npos)
            return {false, refusal};
        for (const std::string& regime : of_file ? std::vector<std::string>{} : regimes())
            if (refusal_of(fmt::format("{}[problem]\nregime = {}\n", deck, regime), spec, value).empty())
                return {false, "problem.regime = " + regime};
        return {true, ""};
    }

    std::vector<std::string> regimes() const {
        for (const ParameterSpec& spec : row_.parameters)
            if (spec.name() == "problem.regime") return spec.choices;
        return {};
    }

    /// The deck with the keys that are set, on a small grid. The keys of one that reads a file are tried with another
    /// linear system, which is as general.
    std::string deck_to_try(bool of_file) const {
        std::string text;
        for (const auto& [name, value] : values_) {
            const std::size_t dot = name.find('.');
            if (of_file && name.rfind("problem.", 0) == 0) continue;
            text += fmt::format("[{}]\n{} = {}\n", name.substr(0, dot), name.substr(dot + 1),
                                name == "grid.cells" ? "8" : value);
        }
        if (of_file) text += "[problem]\nname = poisson\n";
        if (!row_.has_grid) text += "[grid]\ncells = 8\n[matrix]\nformat = general\n";
        return text + "[device]\nbackend = cpu\n";
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
