// SPDX-License-Identifier: BSD-3-Clause
// A field that a problem offers to whoever draws a state: a number or a vector at each point, computed from the
// unknowns there.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "core/types.hpp"

namespace hyperplane {

struct Field {
    std::string name;         ///< "velocity"; not empty, without '/'
    int components = 1;       ///< 3: a vector along the grid's axes
    std::string unit = "1";   ///< "1" if it has none
    std::string description;  ///< a phrase
    /// Writes the field's values at a point: `unknowns` are those of the state there, `values` has `components` places.
    /// Several threads may call it.
    std::function<void(const double* unknowns, Int3 point, double time, double* values)> at;
    /// Whether nothing but differences of the values has a meaning, so that files have them less their mean over the
    /// points. Only of a number.
    bool less_mean = false;
};

/// The unknowns from `first` on as a field.
inline Field field_of_unknowns(std::string name, int first, int components = 1, std::string unit = "1",
                               std::string description = "unknown of the system", bool less_mean = false) {
    return {.name = std::move(name),
            .components = components,
            .unit = std::move(unit),
            .description = std::move(description),
            .at =
                [first, components](const double* unknowns, Int3, double, double* values) {
                    for (int c = 0; c < components; ++c) values[c] = unknowns[first + c];
                },
            .less_mean = less_mean};
}

}  // namespace hyperplane
