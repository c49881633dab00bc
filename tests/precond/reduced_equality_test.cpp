// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners with factors in reduced precision, compared with the reference's factors rounded in the same way.
#include <gtest/gtest.h>

#include "precond/swept.hpp"
#include "reference/coloured_ilu.hpp"
#include "reference/rounded.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::relative_difference;
using enum FactorStorage;

/// A system, and a preconditioner with its storage. On a CPU, fgbilu with style = blocks is the same as struct_ilu.
struct Case : SweptCase {
    std::string name;
    Settings settings;
    FactorStorage factors;
    int number;  ///< in the list of cases
};

/// Boxes with odd extents, planes, grids that are one cell thick, and a periodic one.
std::vector<Box> boxes_for(int dof) {
    if (dof > 17) return {{3, 3, 2}, {1, 5, 1}};
    if (dof > 8) return {{4, 3, 2}, {9, 2, 1}, {1, 5, 3}};
    if (dof > 3) return {{7, 5, 3}, {9, 5, 1}, {1, 9, 4}, {5, 1, 7}, {1, 1, 1}};
    return {{7, 5, 3}, {9, 5, 1}, {1, 33, 1}, {1, 1, 9},
            {1, 9, 5}, {5, 1, 9}, {1, 1, 1},  {5, 5, 5, {true, false, true}}};
}

/// Each stencil and dof with all other choices, or with alternating layouts and matrix storages; from 17 unknowns on
/// always the latter.
std::vector<Case> cases(bool everything) {
    const std::vector<std::pair<std::string, Settings>> made{
        {"fgbilu", {{"style", "kernels"}}},
        {"fgbilu", {{"style", "blocks"}}},
        {"multicolor", {}},
    };
    std::vector<Case> list;
    int turn = 0;
    for (const auto& stencil : reference::all_stencils())
        for (int dof : reference::all_dofs)
            for (const auto& [name, settings] : made)
                for (const FactorStorage storage : reduced_factor_storages) {
                    ++turn;
                    for (int form = 0; form < 4; ++form) {
                        if ((!everything || dof > 8) && form != (turn + turn / 6) % 4) continue;
                        Case c{};
                        c.stencil = stencil.name;
                        c.dof = dof;
                        c.kind = layout_kinds[form % 2];
                        c.storage = storages[form / 2];
                        c.name = name;
                        c.settings = settings;
                        c.factors = storage;
                        c.number = int(list.size());
                        list.push_back(c);
                    }
                }
    return list;
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
    const Case& c = info.param;
    return c.name + (c.settings.empty() ? "" : "_" + c.settings[0].second) + "_" + c.stencil + "_dof" +
           std::to_string(c.dof) + "_" + to_string(c.kind) + (c.storage == MatrixStorage::full ? "_full_" : "_lower_") +
           to_string(c.factors);
}

/// The order of points in which a preconditioner is the ILU(0): natural, or by colour.
std::vector<int> order_of(const Case& c, const reference::StencilMatrix& data) {
    if (c.name == "multicolor") return reference::sorted_by_colour(linearly_coloured(data));
    return reference::sorted_by_colour(std::vector<int>(std::size_t(data.box.points()), 0));
}

reference::UnitFactors rounded_factors(const Case& c, const reference::BlockIlu& ilu) {
    using namespace reference;
    UnitFactors f = rounded(unit_factors(ilu), c.factors == half_scaled);
    if (c.storage == MatrixStorage::full) return f;
    for (int i = 0; i < int(f.inverse.size()); ++i)  // G is W transposed, with the rounding of W
        for (const auto& [j, block] : f.lower.rows[i]) f.upper.rows[j][i] = transpose(block);
    return f;
}

void expect_equality(const Context& context, Case c, const std::vector<Box>& boxes) {
    const double roundoff = unit_roundoff(c.factors);
    for (const Box& box : boxes) {
        SCOPED_TRACE(reference::name_of(box));
        c.box = box;
        const SweptSystem system(context, c);
        Settings settings = c.settings;
        settings.push_back({"storage", to_string(c.factors)});
        const auto m = make(c.name, system.a, settings);
        const SetupReport report = m->setup(system.a);
        EXPECT_EQ(report.pivots_modified, 0);
        EXPECT_EQ(report.values_flushed, 0);
        EXPECT_EQ(m->traits().symmetric, c.storage == MatrixStorage::lower);
        const std::vector<int> order = order_of(c, system.data);
        const reference::BlockIlu ilu = reference::coloured_ilu(system.data, order, c.storage == MatrixStorage::lower);
        const auto expected = reference::apply_in_order(rounded_factors(c, ilu), order, system.r);
        const std::vector<double> z = system.applied(*m);
        EXPECT_LT(relative_difference(z, expected), 1e-13);
        const double change = relative_difference(z, reference::apply_in_order(ilu, order, system.r));
        EXPECT_LT(change, 8.0 * roundoff);
        EXPECT_TRUE(z.size() <= 8 || change > 0.01 * roundoff) << "nothing was rounded: " << change;
        m->setup(system.a);
        EXPECT_EQ(system.applied(*m), z) << "set up again";
    }
}

class ReducedEquality : public testing::TestWithParam<Case> {};
class ReducedEqualityOnDevice : public DeviceTest, public testing::WithParamInterface<Case> {};

TEST_P(ReducedEquality, WithTheReferencesFactorsRoundedAlike) {
    expect_equality(Context::cpu(1), GetParam(), boxes_for(GetParam().dof));
}
TEST_P(ReducedEqualityOnDevice, WithTheReferencesFactorsRoundedAlike) {
    const std::vector<Box> boxes = first_and_others_in_turn(boxes_for(GetParam().dof), GetParam().number, 2);
    expect_equality(Context::cuda(), GetParam(), boxes);
}
INSTANTIATE_TEST_SUITE_P(All, ReducedEquality, testing::ValuesIn(cases(true)), name_of_case);
INSTANTIATE_TEST_SUITE_P(All, ReducedEqualityOnDevice, testing::ValuesIn(cases(false)), name_of_case);

}  // namespace
}  // namespace hyperplane
