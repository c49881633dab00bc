// SPDX-License-Identifier: BSD-3-Clause
// A JSON Schema (draft 2020-12) of decks, from the tables that the deck reader uses. A deck is an object of sections,
// and a section an object of keys; editors check and complete decks with it, and so can programs that write them.
#pragma once

#include <string>

namespace hyperplane {

/// The schema as text, for `hyperplane help --schema`.
std::string deck_json_schema();

}  // namespace hyperplane
