// SPDX-License-Identifier: BSD-3-Clause
// Every key a deck may hold: the program's own sections, and those of the registered components.
#pragma once

#include <string>

#include "io/deck.hpp"

namespace hyperplane {

/// Keys of [device], [output] and [expect].
ParameterTable program_parameters();

DeckSchema deck_schema();

/// One sentence on what a section is for; empty for an unknown one.
std::string explain_section(const std::string& section);

}  // namespace hyperplane
