// SPDX-License-Identifier: BSD-3-Clause
// CSR and BSR rows, compared with StructMatrix::to_csr, an independent implementation.
#include "precond/cusparse_ilu/compressed_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

/// The dense matrix, row by row; a coefficient that is stored twice is added twice.
std::vector<double> dense_of(const CompressedRows& rows) {
    const int m = rows.block(), n = rows.rows() * m;
    std::vector<double> dense(std::size_t(n) * n);
    for (int row = 0; row < rows.rows(); ++row)
        for (int at = rows.row_begin()[row]; at < rows.row_begin()[row + 1]; ++at)
            for (int r = 0; r < m; ++r)
                for (int c = 0; c < m; ++c)
                    dense[std::size_t(row * m + r) * n + rows.column()[at] * m + c] +=
                        rows.values()[(std::size_t(at) * m + r) * m + c];
    return dense;
}

std::vector<double> dense_of(const CsrMatrix& csr) {
    std::vector<double> dense(std::size_t(csr.rows) * csr.rows);
    for (Index row = 0; row < csr.rows; ++row)
        for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at)
            dense[row * csr.rows + csr.column[at]] += csr.value[at];
    return dense;
}

struct Sample {
    Context context = Context::cpu(1);
    StructMatrix a;

    Sample(const std::string& stencil, int dof, LayoutKind kind, MatrixStorage storage, reference::Box box = {5, 4, 3})
        : a(made(context, stencil, dof, kind, storage, box)) {}

    static StructMatrix made(const Context& context, const std::string& stencil, int dof, LayoutKind kind,
                             MatrixStorage storage, const reference::Box& box) {
        const auto data = reference::random_spd_matrix(box, reference::stencil_named(stencil).offsets, dof, 5);
        return reference::to_struct_matrix(context, layout_for(kind, data, stencil, 0), data, storage, stencil);
    }
};

TEST(CompressedRows, AreTheMatrixInNaturalOrder) {
    for (const char* stencil : {"star7", "star13", "diamond25", "box27"})
        for (int dof : {1, 3})
            for (LayoutKind kind : layout_kinds)
                for (MatrixStorage storage : storages) {
                    SCOPED_TRACE(std::string(stencil) + " " + std::to_string(dof) + " " + to_string(kind));
                    const Sample sample(stencil, dof, kind, storage);
                    const CsrMatrix csr = sample.a.to_csr();
                    const CompressedRows scalars(sample.context, sample.a, sample.a.stencil(), RowFormat::csr,
                                                 RowPart::full);
                    ASSERT_EQ(scalars.rows(), csr.rows);
                    ASSERT_EQ(scalars.entries(), Index(csr.value.size()));
                    for (Index row = 0; row <= csr.rows; ++row) ASSERT_EQ(scalars.row_begin()[row], csr.row_begin[row]);
                    for (std::size_t at = 0; at < csr.value.size(); ++at) {
                        ASSERT_EQ(scalars.column()[at], csr.column[at]);
                        ASSERT_EQ(scalars.values()[at], csr.value[at]);
                    }
                    const CompressedRows blocks(sample.context, sample.a, sample.a.stencil(), RowFormat::bsr,
                                                RowPart::full);
                    EXPECT_EQ(blocks.block(), dof);
                    EXPECT_EQ(dense_of(blocks), dense_of(csr));
                    EXPECT_EQ(blocks.bytes(), CompressedRows::bytes(sample.a.grid(), sample.a.stencil(), dof,
                                                                    RowFormat::bsr, RowPart::full));
                }
}

TEST(CompressedRows, LowerPartHoldsTheDiagonalBlocksAndWhatIsBelow) {
    const int dof = 2;
    const Sample sample("box27", dof, LayoutKind::hyperplane, MatrixStorage::lower);
    const CompressedRows rows(sample.context, sample.a, sample.a.stencil(), RowFormat::csr, RowPart::lower);
    std::vector<double> expected = dense_of(sample.a.to_csr());
    const int n = int(sample.a.unknowns());
    for (int row = 0; row < n; ++row)
        for (int col = (row / dof + 1) * dof; col < n; ++col) expected[std::size_t(row) * n + col] = 0.0;
    EXPECT_EQ(dense_of(rows), expected);
}

TEST(CompressedRows, ArePaddedWithZerosAndTakeNewValues) {
    const Sample sample("star7", 2, LayoutKind::natural, MatrixStorage::full);
    const Stencil pattern = sample.a.stencil().filled(1);
    CompressedRows rows(sample.context, sample.a, pattern, RowFormat::bsr, RowPart::full);
    const StructMatrix padded(sample.context, sample.a.layout(), pattern, 2);
    EXPECT_EQ(Index(rows.entries()) * 4, padded.nonzeros());
    EXPECT_EQ(dense_of(rows), dense_of(sample.a.to_csr()));
    Sample other("star7", 2, LayoutKind::natural, MatrixStorage::full);
    for (Index slot = 0; slot < other.a.layout().slots(); ++slot) other.a.values(3, 1, 0)[slot] = 7.0 + double(slot);
    rows.assign(other.a);
    EXPECT_EQ(dense_of(rows), dense_of(other.a.to_csr()));
}

TEST(CompressedRows, LeaveOutWhatWraps) {
    const Sample periodic("star7", 1, LayoutKind::natural, MatrixStorage::full, {5, 4, 3, {true, false, true}});
    StructMatrix plain(periodic.context, Layout(LayoutKind::natural, {5, 4, 3}, {}), periodic.a.stencil(), 1);
    for (int e = 0; e < plain.stencil().size(); ++e)
        for (Index slot = 0; slot < plain.layout().slots(); ++slot)
            if (plain.grid().contains(plain.layout().point(slot) + plain.stencil()[e]))
                plain.values(e)[slot] = periodic.a.values(e)[slot];
    const CompressedRows rows(periodic.context, periodic.a, periodic.a.stencil(), RowFormat::csr, RowPart::full);
    EXPECT_EQ(dense_of(rows), dense_of(plain.to_csr()));
}

TEST(CompressedRows, VectorsAreConvertedAndConvertedBack) {
    const Grid grid{5, 4, 3};
    for (LayoutKind kind : layout_kinds) {
        Vector x(Context::cpu(1), Layout(kind, grid, {1, 2}), 3, "x"),
            back = Vector(Context::cpu(1), x.layout(), 3, "x");
        for (Index at = 0; at < x.size(); ++at) x.data()[at] = double(at + 1);
        std::vector<double> rows(std::size_t(x.size()));
        to_rows(x, rows.data());
        for (Index row = 0; row < grid.points(); ++row)
            for (int c = 0; c < 3; ++c) EXPECT_EQ(rows[row * 3 + c], x(grid.point(row), c));
        from_rows(rows.data(), back);
        for (Index at = 0; at < x.size(); ++at) EXPECT_EQ(back.data()[at], x.data()[at]);
    }
}

TEST(CompressedRows, AreRoundedToSinglePrecisionAndAssignedAgain) {
    for (int dof : {1, 3})
        for (RowFormat format : {RowFormat::csr, RowFormat::bsr})
            for (RowPart part : {RowPart::full, RowPart::lower}) {
                const Sample sample("star7", dof, LayoutKind::hyperplane, MatrixStorage::full);
                const Grid& grid = sample.a.grid();
                CompressedRows rows(sample.context, sample.a, sample.a.stencil(), format, part);
                const Index scalars = CompressedRows::scalars(grid, sample.a.stencil(), dof, part);
                const std::vector<double> before(rows.values(), rows.values() + scalars);
                for (int repeat = 0; repeat < 2; ++repeat) {
                    const Rounding rounding = rows.round(sample.context, grid);
                    EXPECT_EQ(rounding.overflows, 0);
                    EXPECT_EQ(rounding.flushed, 0);
                    for (Index at = 0; at < scalars; ++at) ASSERT_EQ(rows.singles()[at], float(before[at]));
                    EXPECT_EQ(rows.bytes(), CompressedRows::bytes(grid, sample.a.stencil(), dof, format, part, 4));
                    rows.assign(sample.a);
                    for (Index at = 0; at < scalars; ++at) ASSERT_EQ(rows.values()[at], before[at]);
                }
            }
}

TEST(CompressedRows, ReportWhatSinglePrecisionCannotHold) {
    for (RowFormat format : {RowFormat::csr, RowFormat::bsr})
        for (const auto& [value, overflows, flushed] :
             {std::tuple{1e60, 1, 0}, {1e-40, 1, 0}, {1e-60, 1, 1}, {-1e-40, 1, 0}, {0x1p-126, 0, 0}}) {
            Sample sample("star7", 2, LayoutKind::natural, MatrixStorage::full);
            StructMatrix& a = sample.a;
            a.values(a.stencil().diagonal(), 1, 1)[a.layout().slot({3, 2, 1})] = value;
            CompressedRows rows(sample.context, a, a.stencil(), format, RowPart::full);
            const Rounding rounding = rows.round(sample.context, a.grid());
            EXPECT_EQ(rounding.overflows, overflows) << value;
            EXPECT_EQ(rounding.flushed, flushed) << value;
            if (overflows == 0) continue;
            EXPECT_EQ(rounding.overflow.cell, (Int3{3, 2, 1}));
            EXPECT_EQ(rounding.overflow.component, 1);
            EXPECT_EQ(rounding.overflow.value, value);
        }
}

TEST(CompressedRows, TakeVectorsOfAnySizeToSinglePrecision) {
    const Sample sample("star7", 2, LayoutKind::hyperplane, MatrixStorage::full);
    const Layout& layout = sample.a.layout();
    for (const double size : {1.0, 1e150, 1e-150, 0x1p-101, 0.0}) {
        Vector x(sample.context, layout, 2, "x"), back(sample.context, layout, 2, "x");
        double square = 0.0;
        for (Index at = 0; at < x.size(); ++at) {
            x.data()[at] = std::sin(1.0 + double(at)) * size;
            square += x.data()[at] * x.data()[at];
        }
        std::vector<float> rows(std::size_t(x.size()));
        to_rows(x, rows.data(), &square);
        for (const float value : rows) EXPECT_LE(std::abs(value), 1.0f);
        from_rows(rows.data(), back, &square);
        for (Index at = 0; at < x.size(); ++at)
            ASSERT_NEAR(back.data()[at], x.data()[at], 0x1p-24 * std::abs(x.data()[at]));
        // Without a norm, numbers are not scaled.
        to_rows(x, rows.data());
        from_rows(rows.data(), back);
        for (Index at = 0; at < x.size(); ++at) ASSERT_EQ(back.data()[at], double(float(x.data()[at])));
    }
}

}  // namespace
}  // namespace hyperplane
