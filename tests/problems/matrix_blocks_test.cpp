// SPDX-License-Identifier: BSD-3-Clause
// The blocks of matrices that were given by their scalar entries: found sizes and values, with and without gaps.
#include "problems/matrix_blocks.hpp"

#include <gtest/gtest.h>

#include "reference/general_matrices.hpp"

namespace hyperplane {
namespace {

/// The scalar entries of blocks, row by row; without those for which `leave_out` is true.
template <class LeaveOut>
CsrMatrix scalar_entries(const reference::BlockMatrix& a, const LeaveOut& leave_out) {
    CsrMatrix csr;
    csr.rows = Index(a.rows.size()) * a.dof;
    csr.row_begin.push_back(0);
    for (Index row = 0; row < csr.rows; ++row) {
        for (const auto& [column, block] : a.rows[std::size_t(row / a.dof)])
            for (int c = 0; c < a.dof; ++c)
                if (!leave_out(row, Index(column) * a.dof + c)) {
                    csr.column.push_back(Index(column) * a.dof + c);
                    csr.value.push_back(block(int(row % a.dof), c));
                }
        csr.row_begin.push_back(Index(csr.column.size()));
    }
    return csr;
}

class MatrixBlocks : public testing::TestWithParam<int> {};

TEST_P(MatrixBlocks, FullAndWithGaps) {
    const int dof = GetParam();
    for (const char* pattern : {"random", "arrow", "dense"}) {
        const auto blocks = reference::random_blocks(reference::pattern_named(pattern, 23, 5, 7), dof, 3);
        const CsrMatrix full = scalar_entries(blocks, [](Index, Index) { return false; });
        // Without its last column a block of the middle row has a gap.
        const CsrMatrix gaps = scalar_entries(
            blocks, [&](Index row, Index column) { return dof > 1 && row == 11 * dof + 1 && column == 11 * dof; });
        for (const int threads : {1, 3}) {
            const Context host = Context::cpu(threads);
            const auto made = in_blocks(host, full, dof, "deck:1", "test");
            const BsrMatrix expected = reference::to_bsr_matrix(host, blocks);
            ASSERT_EQ(made->pattern()->blocks(), expected.pattern()->blocks());
            for (Index row = 0; row <= made->pattern()->rows(); ++row)
                ASSERT_EQ(made->pattern()->row_begin()[row], expected.pattern()->row_begin()[row]);
            for (Index at = 0; at < made->pattern()->blocks(); ++at)
                ASSERT_EQ(made->pattern()->column()[at], expected.pattern()->column()[at]);
            for (Index at = 0; at < made->nonzeros(); ++at) ASSERT_EQ(made->values()[at], expected.values()[at]);
            const auto with_gap = in_blocks(host, gaps, dof, "deck:1", "test");
            const Index hole = (made->pattern()->find(11, 11) * dof + (dof > 1 ? 1 : 0)) * dof;
            for (Index at = 0; at < made->nonzeros(); ++at)
                ASSERT_EQ(with_gap->values()[at], dof > 1 && at == hole ? 0.0 : made->values()[at]) << at;
        }
        if (pattern == std::string("dense")) continue;  // all of it is full blocks of other sizes, too
        EXPECT_EQ(found_block_size(full), dof);
        EXPECT_EQ(found_block_size(gaps), 1);
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatrixBlocks, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 13, 32));

}  // namespace
}  // namespace hyperplane
