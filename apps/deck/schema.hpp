// SPDX-License-Identifier: BSD-3-Clause
// Every key that a deck may have: those of the program's own sections and those of the registered components.
#pragma once

#include <string>

#include "io/deck.hpp"

namespace hyperplane {

/// Keys of [device], [initial], [output] and [expect].
ParameterTable program_parameters();

DeckSchema deck_schema();

/// A sentence that says what a section is for; empty for an unknown section.
std::string explain_section(const std::string& section);

}  // namespace hyperplane
