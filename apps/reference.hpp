// The deck reference, written from the parameter tables: for `help` and docs/deck.md.
#pragma once

#include <optional>
#include <string>

namespace hyperplane {

/// All of a section: its common keys and those of its components.
std::optional<std::string> explain_section_keys(const std::string& section);
/// One key, "section.key", wherever it stands.
std::optional<std::string> explain_key(const std::string& name);
/// A problem, solver or preconditioner: what it is, its source, its keys.
std::optional<std::string> explain_component(const std::string& name);

/// docs/deck.md.
std::string deck_reference();

}  // namespace hyperplane
