// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "reference/bridge.hpp"

namespace hyperplane {
namespace {

using reference::BlockMatrix;
using reference::Box;

/// Every coefficient of every block, including explicit zeros.
CsrMatrix to_csr(const BlockMatrix& a) {
    CsrMatrix csr;
    csr.rows = a.unknowns();
    csr.row_begin.push_back(0);
    for (const auto& row : a.rows)
        for (int r = 0; r < a.dof; ++r) {
            for (const auto& [j, block] : row)
                for (int c = 0; c < a.dof; ++c) {
                    csr.column.push_back(Index(j) * a.dof + c);
                    csr.value.push_back(block(r, c));
                }
            csr.row_begin.push_back(Index(csr.column.size()));
        }
    return csr;
}

void expect_equal(const CsrMatrix& actual, const CsrMatrix& expected) {
    EXPECT_EQ(actual.rows, expected.rows);
    EXPECT_EQ(actual.row_begin, expected.row_begin);
    EXPECT_EQ(actual.column, expected.column);
    EXPECT_EQ(actual.value, expected.value);
}

struct CsrCase {
    std::string stencil;
    int dof;
    Box box;
    LayoutKind kind;
};

std::vector<CsrCase> csr_cases() {
    std::vector<CsrCase> list;
    for (const auto& stencil : reference::all_stencils())
        for (int dof : {1, 3})
            for (const Box& box : {Box{7, 5, 3}, Box{9, 1, 1}, Box{1, 2, 5}, Box{7, 5, 5, {true, true, true}},
                                   Box{5, 2, 1, {true, false, false}}})
                for (LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane})
                    list.push_back({stencil.name, dof, box, kind});
    return list;
}

class MatrixCsr : public testing::TestWithParam<CsrCase> {
protected:
    Context context = Context::cpu(1);
    reference::NamedStencil named = reference::stencil_named(GetParam().stencil);
    Stencil stencil = reference::to_stencil(named);
    Layout layout{GetParam().kind, reference::to_grid(GetParam().box), stencil.level_map()};
};

TEST_P(MatrixCsr, ConvertedAndConvertedBackIsTheSame) {
    const auto data = reference::random_spd_matrix(GetParam().box, named.offsets, GetParam().dof, 11);
    const CsrMatrix expected = to_csr(reference::assembled(data));
    for (MatrixStorage storage : {MatrixStorage::full, MatrixStorage::lower}) {
        const StructMatrix a = reference::to_struct_matrix(context, layout, data, storage);
        expect_equal(a.to_csr(), expected);
        EXPECT_EQ(a.nonzeros(), Index(expected.column.size()));
        StructMatrix again(context, layout, stencil, GetParam().dof, storage);
        again.values(0)[0] = 99.0;  // assign must overwrite old values
        again.assign(expected);
        expect_equal(again.to_csr(), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(All, MatrixCsr, testing::ValuesIn(csr_cases()), [](const auto& info) {
    const CsrCase& c = info.param;
    return c.stencil + "_dof" + std::to_string(c.dof) + "_" + reference::name_of(c.box) + "_" + to_string(c.kind);
});

std::string refusal(StructMatrix& a, const CsrMatrix& csr) {
    try {
        a.assign(csr);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

TEST(MatrixAssign, NamesTheFirstEntryThatDoesNotFit) {
    const Context context = Context::cpu(1);
    Grid grid;
    grid.nx = 4;
    grid.ny = 3;
    StructMatrix a(context, Layout(LayoutKind::natural, grid, {}), Stencil::star7(), 2);
    CsrMatrix csr;
    csr.rows = 24;
    csr.row_begin.push_back(0);
    for (Index row = 0; row < 24; ++row) {
        csr.column.push_back(row);
        if (row == 4) csr.column.push_back(9);    // from cell 2, (2,0,0), to cell 4, (0,1,0)
        if (row == 10) csr.column.push_back(23);  // wrong, too, but later
        csr.row_begin.push_back(Index(csr.column.size()));
    }
    csr.value.assign(csr.column.size(), 1.0);
    const std::string message = refusal(a, csr);
    EXPECT_NE(message.find("row 5"), std::string::npos) << message;
    EXPECT_NE(message.find("column 10"), std::string::npos) << message;
    EXPECT_EQ(message.find("24"), std::string::npos) << message;
}

TEST(MatrixAssign, AWrapThatIsNotPeriodicDoesNotFit) {
    // Cells 3 and 4 are neighbours in memory but not on a 4 x 3 grid.
    const Context context = Context::cpu(1);
    Grid grid;
    grid.nx = 4;
    grid.ny = 3;
    CsrMatrix csr{12, {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {4}, {1.0}};
    StructMatrix a(context, Layout(LayoutKind::natural, grid, {}), Stencil::star7(), 1);
    const std::string message = refusal(a, csr);
    EXPECT_NE(message.find("row 4"), std::string::npos) << message;
    EXPECT_NE(message.find("column 5"), std::string::npos) << message;
}

TEST(MatrixAssign, RefusesAnotherNumberOfRows) {
    const Context context = Context::cpu(1);
    Grid grid;
    grid.nx = 3;
    StructMatrix a(context, Layout(LayoutKind::natural, grid, {}), Stencil::star7(), 1);
    EXPECT_NE(refusal(a, CsrMatrix{4, {0, 1, 2, 3, 4}, {0, 1, 2, 3}, {1, 1, 1, 1}}), "");
    EXPECT_EQ(refusal(a, CsrMatrix{3, {0, 1, 2, 3}, {0, 1, 2}, {1, 1, 1}}), "");
}

TEST(MatrixAssign, EntriesThatAreMissingAreZero) {
    const Context context = Context::cpu(1);
    Grid grid;
    grid.nx = 2;
    StructMatrix a(context, Layout(LayoutKind::natural, grid, {}), Stencil::star7(), 1);
    a.assign(CsrMatrix{2, {0, 1, 3}, {0, 0, 1}, {5, 6, 7}});
    expect_equal(a.to_csr(), CsrMatrix{2, {0, 2, 4}, {0, 1, 0, 1}, {5, 0, 6, 7}});
}

}  // namespace
}  // namespace hyperplane
