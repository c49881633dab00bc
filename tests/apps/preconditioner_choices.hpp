// SPDX-License-Identifier: BSD-3-Clause
// What tests try of a preconditioner: its defaults, and each choice of a key that is not one.
#pragma once

#include <string>
#include <vector>

#include "precond/registry.hpp"

namespace hyperplane::testing_support {

/// A key of [preconditioner] set to a value; both empty: the defaults.
struct KeyChoice {
    std::string key, value;
};

inline std::vector<KeyChoice> choices_of(const PreconditionerRow& row) {
    std::vector<KeyChoice> list{{}};
    for (const ParameterSpec& spec : row.parameters)
        for (const std::string& value : spec.choices)
            if (value != spec.default_value) list.push_back({spec.key, value});
    // By default the small grids of tests are one subdomain.
    if (has_key(row.parameters, "preconditioner", "subdomain")) list.push_back({"subdomain", "4 3 2"});
    return list;
}

}  // namespace hyperplane::testing_support
