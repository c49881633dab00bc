// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners of general matrices in tests: made from the keys of a deck, and applied to plain vectors.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "precond/factors/ldu.hpp"
#include "precond/scaling/scaled.hpp"
#include "precond/support.hpp"
#include "reference/general_matrices.hpp"

namespace hyperplane::testing_support {

inline PreconditionerSetting setting_of(const BsrMatrix& a) {
    return {a.context(), {a.pattern(), a.dof(), a.symmetric()}};
}

inline std::unique_ptr<Preconditioner> make_general(const std::string& name, const BsrMatrix& a,
                                                    const Settings& settings = {}) {
    check_matrix(find_preconditioner(name), setting_of(a));
    return find_preconditioner(name).create(parameters_of(name, settings), setting_of(a));
}

inline Parameters scaled_parameters(const std::string& scaling, const std::string& name, const Settings& settings) {
    Parameters parameters = parameters_of(name, settings);
    parameters.add(common_scaling_parameters());
    parameters.set("scaling", "name", scaling);
    return parameters;
}

inline std::unique_ptr<Preconditioner> make_scaled(const std::string& scaling, const std::string& name,
                                                   const BsrMatrix& a, const Settings& settings = {}) {
    return create_scaled(find_preconditioner(name), scaled_parameters(scaling, name, settings), setting_of(a));
}

inline std::vector<double> apply_general(const LinearOperator& m, const BsrMatrix& a, const std::vector<double>& r) {
    Vector z = reference::to_plain_vector(a.context(), a.dof(), std::vector<double>(r.size(), NAN));
    m.apply(reference::to_plain_vector(a.context(), a.dof(), r), z);
    return to_natural(z);
}

struct GeneralCase {
    std::string pattern;
    int rows, dof, fill_level;
    bool symmetric = false;
};

inline reference::BlockMatrix data_of(const GeneralCase& c) {
    const reference::BlockMatrix a =
        reference::random_blocks(reference::pattern_named(c.pattern, c.rows, 4, 17), c.dof, 23);
    return c.symmetric ? reference::symmetric_part(a) : a;
}

/// The reference's ILU(k) or IC(k).
inline reference::BlockIlu reference_of(const reference::BlockMatrix& a, const GeneralCase& c) {
    const reference::Pattern filled = reference::symbolic_ilu(reference::pattern_of(a), c.fill_level);
    return c.symmetric ? reference::block_ic(a, filled) : reference::block_ilu(a, filled);
}

/// Small systems that combine what lists otherwise vary one at a time: patterns with blocks, fill levels with each
/// number of unknowns, symmetric blocks, and one row.
inline std::vector<GeneralCase> combined_cases() {
    return {{"arrow", 17, 2, 3},
            {"dense_row", 17, 3, 2},
            {"dense_row", 17, 4, 1},
            {"lower", 17, 5, 2},
            {"empty_rows", 17, 6, 3},
            {"arrow", 17, 7, 0},
            {"dense_row", 17, 8, 3},
            {"lower", 9, 13, 1},
            {"empty_rows", 9, 16, 2},
            {"random", 9, 16, 0},
            {"arrow", 9, 32, 0},
            {"symmetric", 17, 1, 2, true},
            {"symmetric", 17, 3, 3, true},
            {"arrow", 17, 4, 0, true},
            {"symmetric", 17, 5, 1, true},
            {"arrow", 17, 6, 2, true},
            {"symmetric", 17, 7, 0, true},
            {"arrow", 17, 8, 3, true},
            {"symmetric", 9, 13, 2, true},
            {"symmetric", 9, 16, 0, true},
            {"symmetric", 9, 32, 1, true},
            {"dense", 1, 1, 1, true},
            {"dense", 1, 2, 0},
            {"dense", 1, 7, 0, true}};
}

/// Adds the combined cases; those of a method without fill levels have level 0.
inline std::vector<GeneralCase> with_combined_cases(std::vector<GeneralCase> list, bool levels = true) {
    for (GeneralCase c : combined_cases()) {
        if (!levels) c.fill_level = 0;
        list.push_back(c);
    }
    return list;
}

/// Systems for tests of factorisations.
inline std::vector<GeneralCase> general_cases() {
    std::vector<GeneralCase> list;
    for (const char* name : {"random", "arrow", "dense_row", "lower", "empty_rows"})
        for (int k : {0, 1, 2, 3}) list.push_back({name, 60, 1, k});
    for (int dof : {2, 3, 4, 5, 6, 7, 8, 13}) list.push_back({"random", 30, dof, dof % 4});
    for (int dof : {1, 3, 32}) list.push_back({"dense", 1, dof, 0});
    list.push_back({"random", 6, 32, 1});
    list.push_back({"random", 1500, 1, 1});
    for (const char* name : {"random", "arrow", "dense_row"}) list.push_back({name, 700, 3, 0});
    list.push_back({"arrow", 2000, 1, 0});
    for (int dof : {1, 2, 4, 8})
        for (int k : {0, 1, 2}) list.push_back({dof == 1 ? "arrow" : "symmetric", 40, dof, k, true});
    for (int k : {0, 1, 2, 3}) list.push_back({"symmetric", 80, 1, k, true});
    return with_combined_cases(std::move(list));
}

inline const auto name_of_general_case = [](const testing::TestParamInfo<GeneralCase>& info) {
    const GeneralCase& c = info.param;
    return c.pattern + "_" + std::to_string(c.rows) + "_" + std::to_string(c.dof) + "_" + std::to_string(c.fill_level) +
           (c.symmetric ? "_ic" : "");
};
/// L and U are transposes to the last bit.
inline void expect_transposed_triangles(const LduFactors& ldu) {
    std::map<std::pair<Index, Index>, double> lower, upper;
    for (Index row = 0; row < ldu.lower.rows; ++row) {
        for (Index at = ldu.lower.row_begin[row]; at < ldu.lower.row_begin[row + 1]; ++at)
            lower[{row, ldu.lower.column[at]}] = ldu.lower.value[at];
        for (Index at = ldu.upper.row_begin[row]; at < ldu.upper.row_begin[row + 1]; ++at)
            upper[{ldu.upper.column[at], row}] = ldu.upper.value[at];
    }
    EXPECT_EQ(lower, upper);
}

/// Expects that a set-up holds what was planned, and that the bytes of an application are those planned.
inline void expect_holds_what_it_plans(const std::string& name, const GeneralCase& c, const Settings& settings,
                                       const Context& context = Context::cpu(1)) {
    const BsrMatrix a = reference::to_bsr_matrix(context, data_of(c), c.symmetric);
    auto plan = find_preconditioner(name).plan(parameters_of(name, settings), setting_of(a));
    plan.kept.reset();  // a set-up that takes it over would allocate less
    const auto m = make_general(name, a, settings);
    const Index held = context.ledger().held();
    m->setup(a);
    apply_general(*m, a, reference::Random(9).vector(c.rows * c.dof));
    EXPECT_EQ(context.ledger().held() - held, plan.bytes);
    EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
    EXPECT_EQ(m->traits().symmetric, plan.traits.symmetric);
}

/// Systems for tests of sweeps.
inline std::vector<GeneralCase> general_swept_cases() {
    std::vector<GeneralCase> list;
    for (const char* name : {"random", "arrow", "dense_row", "lower", "empty_rows"})
        for (int k : {0, 1}) list.push_back({name, 50, 1, k});
    for (int dof : {2, 3, 4, 5, 6, 7, 8}) list.push_back({"random", 25, dof, dof % 3});
    for (int dof : {16, 32}) list.push_back({"random", 12, dof, 1});
    for (int dof : {1, 5}) list.push_back({"dense", 1, dof, 0});
    for (int dof : {1, 3}) list.push_back({"arrow", 300, dof, 0});
    list.push_back({"arrow", 300, 1, 0, true});
    // Rows of more than 2048 entries.
    for (const char* name : {"arrow", "dense_row"}) list.push_back({name, 2500, 1, 0});
    list.push_back({"arrow", 2500, 1, 0, true});
    for (int dof : {1, 3}) list.push_back({"symmetric", 40, dof, 1, true});
    return with_combined_cases(std::move(list));
}

}  // namespace hyperplane::testing_support
