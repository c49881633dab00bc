// SPDX-License-Identifier: BSD-3-Clause
// Keys of the section [preconditioner] whose value is one of a few words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/parameters/registry.hpp"

namespace hyperplane {

/// A key of the section [preconditioner] whose value is one of `choices`.
inline ParameterSpec choice_key(const std::string& key, const std::string& default_value,
                                const std::string& description, const std::vector<std::string>& choices,
                                const std::optional<Condition>& only_with = std::nullopt) {
    ParameterSpec spec{"preconditioner", key, ParameterType::choice, default_value, description};
    spec.choices = choices;
    spec.only_with = only_with;
    return spec;
}

}  // namespace hyperplane
