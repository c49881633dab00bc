// SPDX-License-Identifier: BSD-3-Clause
// The settings of a preconditioner that tests try: its defaults, and each choice of a key that is not the default.
#pragma once

#include <string>
#include <vector>

#include "precond/registry.hpp"

namespace hyperplane::testing_support {

/// A key of [preconditioner] and its value; both are empty for the defaults.
struct KeyChoice {
    std::string key, value;
};

inline std::vector<KeyChoice> choices_of(const PreconditionerRow& row) {
    std::vector<KeyChoice> list{{}};
    for (const ParameterSpec& spec : row.parameters)
        for (const std::string& value : spec.choices)
            if (value != spec.default_value) list.push_back({spec.key, value});
    // By default a small grid is a single subdomain.
    if (has_key(row.parameters, "preconditioner", "subdomain")) list.push_back({"subdomain", "4 3 2"});
    return list;
}

}  // namespace hyperplane::testing_support
