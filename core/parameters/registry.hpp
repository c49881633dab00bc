// SPDX-License-Identifier: BSD-3-Clause
// A room's registry: one row makes a component known to the deck reader, help, list and docs/deck.md.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// `Create` is the type of the function that makes the component.
template <class Create>
struct RegistryRow {
    std::string name;
    std::vector<std::string> aliases;
    std::string summary;      ///< one line, for `list`
    std::string explanation;  ///< paragraphs for `help`, with the source (paper, section)
    ParameterTable parameters;
    Create create;

    bool is_called(const std::string& other) const {
        return other == name || std::find(aliases.begin(), aliases.end(), other) != aliases.end();
    }
};

/// The row of that name or alias; throws UsageError, with all names, if there is none.
template <class Row>
const Row& find_row(const std::vector<Row>& rows, const std::string& kind, const std::string& name) {
    std::string known;
    for (const auto& row : rows) {
        if (row.is_called(name)) return row;
        known += (known.empty() ? "" : ", ") + row.name;
    }
    throw UsageError(fmt::format("no {} is called '{}'; there are {}", kind, name, known));
}

}  // namespace hyperplane
