// SPDX-License-Identifier: BSD-3-Clause
// M^-1 r equals that of sequential block ILU(k), for stencils x unknowns a point x k x extents x layouts.
#include <gtest/gtest.h>

#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

struct Case {
    std::string stencil;
    int dof, fill_level;
    Box box;
    LayoutKind kind;
};

/// The last boxes of a list are longer along x than what an implementation may process at once.
std::vector<Box> boxes_for(int dof, int fill_level) {
    if (fill_level >= 2) return {{7, 5, 3}, {5, 4, 1}};
    if (dof > 8) return {{4, 3, 2}, {19, 2, 1}};
    if (dof > 3) return {{7, 5, 3}, {5, 4, 1}, {35, 2, 1}};
    std::vector<Box> boxes{{7, 5, 3}, {13, 7, 1}, {3, 1, 7}, {1, 9, 1}};
    if (dof + fill_level <= 2) boxes.push_back({17, 9, 5});
    if (fill_level == 0) boxes.push_back({dof == 1 ? 1031 : 521, 3, 1});
    return boxes;
}

/// Fewer and smaller dofs for higher fill levels, since the reference is slow.
std::vector<int> dofs_for(int fill_level) {
    if (fill_level == 0) return {std::begin(reference::all_dofs), std::end(reference::all_dofs)};
    if (fill_level == 1) return {1, 2, 3, 5, 8};
    if (fill_level == 2) return {1, 2, 4};
    return {1, 3};
}

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const auto& stencil : reference::all_stencils())
        for (int k = 0; k <= 3; ++k)
            for (int dof : dofs_for(k))
                for (const Box& box : boxes_for(dof, k))
                    for (LayoutKind kind : layout_kinds) list.push_back({stencil.name, dof, k, box, kind});
    return list;
}

class StructIluEquality : public testing::TestWithParam<Case> {
protected:
    void expect_equality(const StencilMatrix& data, const reference::BlockIlu& expected, MatrixStorage storage) {
        const StructMatrix a = reference::to_struct_matrix(
            context, layout_for(GetParam().kind, data, GetParam().stencil, GetParam().fill_level), data, storage,
            GetParam().stencil);
        const auto m = make("struct_ilu", a, {{"fill_level", std::to_string(GetParam().fill_level)}});
        const SetupReport report = m->setup(a);
        EXPECT_EQ(report.pivots_modified, 0);
        EXPECT_TRUE(m->traits().fixed);
        EXPECT_EQ(m->traits().symmetric, storage == MatrixStorage::lower);
        const std::vector<double> r = reference::Random(5).vector(int(a.unknowns()));
        EXPECT_LT(reference::relative_difference(apply(*m, a, r), reference::apply_inverse(expected, r)), 1e-13);
    }

    Context context = Context::cpu(1);
    std::vector<reference::Offset> offsets = reference::stencil_named(GetParam().stencil).offsets;
};

TEST_P(StructIluEquality, General) {
    const StencilMatrix data = reference::random_matrix(GetParam().box, offsets, GetParam().dof, 21);
    expect_equality(data, reference_ilu(data, GetParam().stencil, GetParam().fill_level), MatrixStorage::full);
}

TEST_P(StructIluEquality, Symmetric) {
    const StencilMatrix data = reference::random_spd_matrix(GetParam().box, offsets, GetParam().dof, 22);
    const reference::Pattern pattern =
        reference::stencil_pattern(data.box, filled(GetParam().stencil, GetParam().fill_level));
    expect_equality(data, reference::block_ic(reference::assembled(data), pattern), MatrixStorage::lower);
}

INSTANTIATE_TEST_SUITE_P(All, StructIluEquality, testing::ValuesIn(cases()), [](const auto& info) {
    const Case& c = info.param;
    return c.stencil + "_k" + std::to_string(c.fill_level) + "_dof" + std::to_string(c.dof) + "_" +
           reference::name_of(c.box) + "_" + to_string(c.kind);
});

}  // namespace
}  // namespace hyperplane
