// SPDX-License-Identifier: BSD-3-Clause
// The reference of the deck, made from the parameter tables, for `help`, the man page, completion and docs/deck.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// A registered component of any kind.
struct ComponentEntry {
    std::string section;  ///< problem, solver, preconditioner, ordering, scaling or smoother
    std::string name;
    std::vector<std::string> aliases;
    std::string summary, explanation;
    ParameterTable parameters;
};

/// "required", "unset" or "default 30".
std::string default_text(const ParameterSpec& spec);
/// The registered problems, solvers, preconditioners, orderings and scalings.
std::vector<ComponentEntry> registered_components();
/// The registered components, and those preconditioners that smooth as components of [smoother], with their keys and
/// defaults there.
std::vector<ComponentEntry> explained_components();
/// The deck's sections in the order they are explained.
const std::vector<std::string>& deck_sections();
/// The keys of a section that apply with any component.
ParameterTable common_keys(const std::string& section);

/// Explains a section: its common keys and those of its components.
std::optional<std::string> explain_section_keys(const std::string& section);
/// Explains a key, "section.key" or "key" in any section: type, range, unit, default and the components that have it.
std::optional<std::string> explain_key(const std::string& name);
/// Explains the components of any kind with this name or alias: what each is, its source, its keys.
std::optional<std::string> explain_component(const std::string& name);

/// The text of docs/deck.md.
std::string deck_reference();

}  // namespace hyperplane
