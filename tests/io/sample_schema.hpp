// SPDX-License-Identifier: BSD-3-Clause
// The keys of a small program: every type, ranges, a required key, components with aliases.
#pragma once

#include "io/deck.hpp"

namespace hyperplane {

inline ParameterSpec integer(const char* section, const char* key, const char* value,
                             std::optional<Bound> minimum = {}) {
    return {section, key, ParameterType::integer, value, "An integer", "", minimum};
}

inline DeckSchema sample_schema() {
    DeckSchema s;
    s.common = {
        {"problem", "name", ParameterType::text, "poisson", "Which PDE"},
        {"grid", "cells", ParameterType::integers, "", "Cells", "", Bound{1}, std::nullopt, {}, 3, true},
        {"solver", "name", ParameterType::choice, "cg", "Which method", "", {}, {}, {"cg", "gmres"}},
        {"solver", "rtol", ParameterType::real, "1e-8", "Tolerance", "", Bound{0.0}},
        integer("solver", "max_iterations", "2000", Bound{0}),
        {"output", "file", ParameterType::path, "run.h5", "The record"},
        {"output", "note", ParameterType::text, "", "Remark"},
        {"output", "fields", ParameterType::boolean, "true", "Write fields"},
    };
    s.components = {
        {"problem", "poisson", {}, {{"problem", "coefficient", ParameterType::real, "1", "Conductivity"}}},
        {"problem",
         "convection_diffusion",
         {"convdiff", "cd"},
         {{"problem", "peclet", ParameterType::real, "100", "Peclet number"}}},
        {"problem",
         "matrix_market",
         {},
         {{"problem", "matrix_file", ParameterType::path, "", "The matrix", "", {}, {}, {}, 0, true}}},
        {"solver", "cg", {}, {}},
        {"solver",
         "gmres",
         {},
         {integer("solver", "restart", "30", Bound{1}),
          {"solver", "orthogonalisation", ParameterType::choice, "cgs", "How", "", {}, {}, {"cgs", "mgs"}},
          {.section = "solver",
           .key = "twice",
           .type = ParameterType::choice,
           .default_value = "false",
           .description = "",
           .choices = {"true", "false"},
           .only_with = Condition{"orthogonalisation", "cgs"}},
          {.section = "solver",
           .key = "tolerance",
           .type = ParameterType::real,
           .default_value = "0.7",
           .description = "",
           .only_with = Condition{"twice", "true"}}}},
    };
    return s;
}

}  // namespace hyperplane
