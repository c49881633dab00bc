// SPDX-License-Identifier: BSD-3-Clause
// General matrices whose factors have values that reduced precision cannot hold, or that become zero in it, and the
// preconditioners that round their factors, in tests of several ranks.
#pragma once

#include "core/graph/orderings.hpp"
#include "precond/general_cases.hpp"

namespace hyperplane::testing_support {

struct RoundingCase {
    std::string preconditioner;
    Settings settings;
};

/// With parts that cuts divide, whose rows are numbered in the order of rows and otherwise.
inline std::vector<RoundingCase> rounding_cases(FactorStorage storage) {
    std::vector<RoundingCase> list{{"sync_free_ilu", {}},
                                   {"par_ilu", {{"sweeps", "40"}}},
                                   {"subdomain_ildu0", {{"parts", "consecutive"}, {"part_rows", "900"}}}};
    if (metis_built()) list.push_back({"subdomain_ildu0", {{"part_rows", "300"}}});
    for (RoundingCase& c : list) c.settings.emplace_back("storage", to_string(storage));
    return list;
}

inline GeneralCase matrix_to_round() {
    return {"random", 8197, 1, 0};
}

/// The inverses of two pivots are too large, and so are multiples of their rows.
inline reference::BlockMatrix with_values_that_do_not_fit() {
    reference::BlockMatrix data = data_of(matrix_to_round());
    for (const int row : {4100, 8000})
        for (auto& [column, value] : data.rows[row]) value(0, 0) *= 1e-60;
    return data;
}
inline constexpr const char* first_that_does_not_fit = "a value of the factors in row 4101 is ";

/// Rows of W have values that half precision flushes to zero.
inline reference::BlockMatrix with_values_that_become_zero() {
    reference::BlockMatrix data = data_of(matrix_to_round());
    for (int row = 3; row < matrix_to_round().rows; row += 7)
        if (const int first = data.rows[row].begin()->first; first < row) data.rows[row].at(first)(0, 0) *= 1e-30;
    return data;
}

}  // namespace hyperplane::testing_support
