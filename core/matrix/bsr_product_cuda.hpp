// SPDX-License-Identifier: BSD-3-Clause
// Products of a BsrMatrix on a GPU; bsr_product.cuh is the kernels' text.
#pragma once

#include "core/device/rtc.hpp"
#include "core/matrix/bsr_arguments.hpp"
#include "core/matrix/bsr_matrix.hpp"

namespace hyperplane {

/// The kernels of one matrix, and the pieces of its long rows.
class BsrProductCuda {
public:
    explicit BsrProductCuda(const BsrMatrix& a);

    /// y = A x
    void apply(const BsrMatrix& a, const Vector& x, Vector& y) const { launch(apply_, a, nullptr, x, y); }
    /// r = b - A x, in twice the working precision.
    void residual(const BsrMatrix& a, const Vector& b, const Vector& x, Vector& r) const {
        launch(residual_, a, &b, x, r);
    }

    /// How rows are divided among threads: so many threads a row; with `uneven`, a warp for a row of more than 32
    /// blocks.
    struct RowThreads {
        int lanes;
        bool uneven = false;
    };
    static RowThreads row_threads(const BlockPattern& pattern, int dof) {
        return row_threads(pattern.mean(), pattern.is_uneven(), dof);
    }
    static RowThreads row_threads(double mean, bool uneven, int dof);
    /// Threads of a row whose blocks are `mean` in number on average, where rows are not uneven.
    static int lanes_for(double mean, int dof);
    /// Whether rows read mostly x of rows that are not far away, by a sample of rows without those that are cut into
    /// pieces. Where they do not, each block of a row costs an access of its own, and bsr_rows, which has more threads
    /// and leaves more of the first-level cache to them, is the faster one.
    static bool reads_nearby(const BlockPattern& pattern);
    /// Bytes that are held for the long rows of a pattern, and for a row of so many blocks.
    static Index bytes(const BlockPattern& pattern, int dof);
    static Index bytes_of_row(Index blocks, int dof);
    /// The most that rows with so many blocks together can need.
    static Index most_bytes_of_rows(Index blocks, int dof);
    /// What NVRTC compiles for rows that are divided so among threads, or have so many blocks on average and are not
    /// uneven.
    static rtc::Programs programs(const RowThreads& rows, int dof);
    static rtc::Programs programs(double mean, int dof) { return programs(row_threads(mean, false, dof), dof); }

private:
    using Kernel = rtc::Kernel<BsrProductArguments>;
    struct Kernels {
        Kernel rows, rows_long, staged, staged_long;  ///< _long: for matrices with long rows
        Kernel few;                                   ///< bsr_short
    };
    static Kernels kernels(const Context& context, const RowThreads& rows, int dof, bool exact);
    /// Whether rows go through shared memory.
    bool stages(const Kernels& kernels, const BsrMatrix& a) const;
    void launch(const Kernels& kernels, const BsrMatrix& a, const Vector* b, const Vector& x, Vector& y) const;

    RowThreads rows_;
    bool staged_;              ///< rows go through shared memory, where the GPU and the values' address allow it
    Index capacity_;           ///< blocks that bsr_staged's shared memory has room for
    unsigned few_groups_ = 0;  ///< thread blocks of bsr_short that are resident; 0 where it is not used
    Index few_capacity_ = 0;
    Buffer<BlockRange> pieces_, long_rows_;
    mutable Buffer<double> partial_;    ///< [piece][dof][2]
    mutable Buffer<unsigned> arrived_;  ///< [long row]
    Kernels apply_, residual_;
};

}  // namespace hyperplane
