// SPDX-License-Identifier: BSD-3-Clause
// The deck reference, written from the parameter tables: for `help`, the man page, completion and docs/deck.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// A registered component, whatever its kind.
struct ComponentEntry {
    std::string section;  ///< problem, solver or preconditioner
    std::string name;
    std::vector<std::string> aliases;
    std::string summary, explanation;
    ParameterTable parameters;
};

/// "required", "unset" or "default 30".
std::string default_text(const ParameterSpec& spec);
std::vector<ComponentEntry> registered_components();
/// The deck's sections in the order they are explained.
const std::vector<std::string>& deck_sections();
/// Keys of a section that apply whatever its component.
ParameterTable common_keys(const std::string& section);

/// All of a section: its common keys and those of its components.
std::optional<std::string> explain_section_keys(const std::string& section);
/// One key, "section.key" or "key" alone, wherever it stands: type, range, unit, default and whose it is.
std::optional<std::string> explain_key(const std::string& name);
/// A problem, solver or preconditioner: what it is, its source, its keys.
std::optional<std::string> explain_component(const std::string& name);

/// docs/deck.md.
std::string deck_reference();

}  // namespace hyperplane
