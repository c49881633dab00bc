// SPDX-License-Identifier: BSD-3-Clause
// The inverse Z of a symmetric positive definite matrix of half bandwidth b, on a CPU or a GPU:
//
//     1. L D L', column by column, within the band: n b^2 / 2 multiplications, on the host
//     2. columns of Z, each by itself: L y = e_j from row j down, and L' z = D^-1 y from the last row up to row j,
//        n^2 b multiplications for all of them; what is above row j follows from the symmetry of Z
//
// Every sum takes its terms in the order in which the rows follow each other, each product rounded together with its
// sum (fma). So all backends, and any number of threads, give the same bits.
#pragma once

#include <vector>

#include "core/device/context.hpp"

namespace hyperplane::multigrid {

class PositiveInverse {
public:
    /// A matrix of zeros with so many rows; its values lie at most `band` columns from the diagonal. Matrix and factors
    /// are held in the memory of `host`.
    PositiveInverse(const Context& host, Index rows, Index band);

    Index rows() const { return n_; }
    Index band() const { return band_; }
    /// The value at (row, column), until factor(); row - column is in [0, band()].
    double& at(Index row, Index column) { return values_[row * (band_ + 1) + column - row + band_]; }

    /// Step 1, for step 2 on a backend: a CPU, or a GPU where serves_gpu(). Returns false where a pivot is at most
    /// 1e-12 of its diagonal value, or not finite.
    bool factor(Backend backend);

    /// Step 2: writes rows() rows of as many values to the host's memory. The columns are shared out to threads.
    void invert(const Context& context, double* inverse) const;
    /// Does the same in the memory of a GPU.
    void invert_on_gpu(const Context& context, double* inverse) const;
    /// Whether a GPU holds the part of a column that a row couples to in the registers of a warp.
    static bool serves_gpu(Index band) { return band <= widest_on_gpu; }
    /// What invert_on_gpu() allocates meanwhile.
    static Index gpu_bytes(Index rows, Index band);
    /// The bytes that the host holds: those of the matrix before it is factored, those of the factors afterwards, and
    /// both meanwhile.
    static Index matrix_bytes(Index rows, Index band) { return rows * (band + 1) * Index(sizeof(double)); }
    static Index factor_bytes(Index rows, Index band) { return rows * (stride_of(band) + 1) * Index(sizeof(double)); }

private:
    static constexpr Index rows_together = 4;  ///< of the columns of Z, on a CPU
    static constexpr Index widest_on_gpu = 32 * 7;
    static constexpr Index stride_of(Index band) { return band + rows_together - 1; }

    /// Puts the factors in the order in which a GPU reads them.
    void pack();
    /// l_ki for k = i + 1 ... i + b, and some zeros after them: stride_ values.
    const double* lower(Index i) const { return lower_.data() + i * stride_; }
    /// The columns [first, first + 8) of Z, from row `first` on; `column` has room for eight times as many values as
    /// rows and a further rows_together.
    void invert_columns(Index first, double* column, double* inverse) const;

    Context host_;
    Index n_, band_, stride_;
    Buffer<double> values_;                  ///< [row][column - row + band]; empty after factor()
    Buffer<double> lower_, inverse_pivots_;  ///< [column of L][stride_]; 1 / d_i
    std::vector<double> packed_;             ///< l_ki at [i][k - i - 1], l_ik at [i][i - k - 1], and 1 / d_i
};

}  // namespace hyperplane::multigrid
