// SPDX-License-Identifier: BSD-3-Clause
#include "apps/library/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/graph/orderings.hpp"
#include "core/parameters/nearest.hpp"
#include "precond/registry.hpp"
#include "precond/scaling/scaled.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

constexpr int most_threads = 4096;  // that device.threads of a deck allows

const Provenance given_by_program{Provenance::Source::command_line, "SolverSettings::keys"};

/// "solver.rtol" as section and key.
std::pair<std::string, std::string> split(const std::string& name) {
    const std::size_t dot = name.find('.');
    return {name.substr(0, dot), name.substr(dot + 1)};
}

/// The full names "section.key" of the keys that `name` may mean: a full name, or a key without its section.
std::vector<std::string> meant_by(const std::string& name, const Parameters& parameters) {
    std::vector<std::string> names;
    for (const Parameters::Value& value : parameters.all())
        if (name == value.spec.name() || name == value.spec.key) names.push_back(value.spec.name());
    return names;
}

/// The error of a wrong value or name, with the known word that was probably meant.
std::string with_nearest(const std::string& error, const std::string& word, const std::vector<std::string>& known) {
    const std::string near = nearest(word, known);
    return near.empty() ? error : fmt::format("{}; did you mean {}?", error, near);
}

/// Reads the keys, and collects what is wrong with them.
class KeyReader {
public:
    KeyReader(const SolverSettings& settings, MatrixKind kind)
        : settings_(settings), parameters_(common_solver_parameters()) {
        parameters_.add(common_preconditioner_parameters(kind));
        parameters_.add(common_scaling_parameters());
        if (kind == MatrixKind::general)
            for (const ParameterSpec& spec : common_ordering_parameters())
                if (spec.key == "rows") parameters_.add({spec});
        add_component("solver", solvers());
        add_component("preconditioner", preconditioners());
        add_component("scaling", scalings());
        if (settings_.threads < 0 || settings_.threads > most_threads)
            errors_.push_back(fmt::format("SolverSettings::threads: expected integer >= 0 and <= {}, got {}",
                                          most_threads, settings_.threads));
        for (const auto& [name, value] : settings_.keys) set(name, value);
        if (errors_.empty()) check_conditions();
        if (!errors_.empty()) throw UsageError(fmt::format("{}", fmt::join(errors_, "\n")));
        for (const auto& [section, name] : components_) parameters_.set(section, "name", name, given_by_program);
    }

    Parameters parameters() && { return std::move(parameters_); }

private:
    template <class... Words>
    void report(fmt::format_string<Words...> text, Words&&... words) {
        errors_.push_back(given_by_program.text() + ": " + fmt::format(text, std::forward<Words>(words)...));
    }

    /// Adds the keys of the component that the settings name, or of the default one. Those of the others are noted.
    template <class Row>
    void add_component(const std::string& section, const std::vector<Row>& rows) {
        const auto given = settings_.keys.find(section + ".name");
        const std::string wanted = given == settings_.keys.end() ? parameters_.text(section, "name") : given->second;
        std::vector<std::string> names;
        for (const Row& row : rows) {
            names.push_back(row.name);
            if (row.is_called(wanted)) {
                components_[section] = row.name;
                parameters_.add(row.parameters);
            }
            for (const ParameterSpec& spec : row.parameters) owners_[spec.name()].push_back(row.name);
        }
        if (components_.count(section)) return;
        report("{}",
               with_nearest(fmt::format("no {} is called '{}'; there are {}", section, wanted, fmt::join(names, ", ")),
                            wanted, names));
    }

    void set(const std::string& name, const std::string& value) {
        const std::vector<std::string> meant = meant_by(name, parameters_);
        if (meant.empty()) return report_unknown(name);
        if (meant.size() > 1 || std::find(given_.begin(), given_.end(), meant[0]) != given_.end())
            return report("the key '{}' {}", name,
                          meant.size() > 1 ? fmt::format("is one of {}", fmt::join(meant, " and "))
                                           : "is given twice, as " + meant[0]);
        given_.push_back(meant[0]);
        const auto [section, key] = split(meant[0]);
        if (key == "name" && !components_.count(section)) return;  // the name is reported already
        try {
            parameters_.set(section, key, value, given_by_program);
        } catch (const UsageError& error) {
            errors_.push_back(with_nearest(error.what(), value, parameters_.value(section, key).spec.choices));
        }
    }

    /// A key of another component is told whose it is; where a section's component is not known, it may be the one
    /// meant.
    void report_unknown(const std::string& name) {
        for (const auto& [full, names] : owners_) {
            const auto [section, key] = split(full);
            if (name != full && name != key) continue;
            const auto chosen = components_.find(section);
            if (chosen == components_.end()) return;
            return report("{} belongs to {}, not to {}; leave it out, or set {}.name", full, fmt::join(names, ", "),
                          chosen->second, section);
        }
        std::vector<std::string> full, words;
        for (const Parameters::Value& value : parameters_.all()) {
            full.push_back(value.spec.name());
            words.push_back(name.find('.') == name.npos ? value.spec.key : value.spec.name());
        }
        const auto near = std::find(words.begin(), words.end(), nearest(name, words)) - words.begin();
        std::vector<std::string> chosen;
        for (const auto& [section, component] : components_)
            if (section != "scaling") chosen.insert(chosen.begin(), fmt::format("{} {}", section, component));
        report("unknown key '{}'; {} have {}{}", name,
               chosen.empty() ? "all solvers and preconditioners" : fmt::format("{}", fmt::join(chosen, " and ")),
               fmt::join(full, ", "),
               near == std::ptrdiff_t(words.size()) ? "" : fmt::format("; did you mean {}?", full[std::size_t(near)]));
    }

    void check_conditions() {
        for (const std::string& name : given_) {
            const auto [section, key] = split(name);
            if (const Condition* unmet = parameters_.unmet(section, key))
                errors_.push_back(fmt::format("{}: means nothing unless {}.{}; leave it out or set that",
                                              parameters_.where(section, key), section, unmet->text()));
        }
    }

    const SolverSettings& settings_;
    Parameters parameters_;
    std::map<std::string, std::string> components_;           ///< of each section, by its name and not by an alias
    std::map<std::string, std::vector<std::string>> owners_;  ///< the components that have a key
    std::vector<std::string> errors_, given_;
};

}  // namespace

Parameters parameters_of(const SolverSettings& settings, MatrixKind kind) {
    return KeyReader(settings, kind).parameters();
}

}  // namespace hyperplane
