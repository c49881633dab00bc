// SPDX-License-Identifier: BSD-3-Clause
// A StructMatrix in the compressed rows that libraries of sparse matrices take: CSR, or BSR with dof x dof blocks.
//
// Rows and columns are in natural order, point by point, dof fastest; indices have 32 bits. A block row's entries lie
// in the stencil's order, so columns ascend. Couplings that wrap around a periodic axis are left out, as factorisations
// leave them out. All of it is done where the matrix lies.
#pragma once

#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

enum class RowFormat { csr, bsr };
/// Which entries: all, or those up to the diagonal block.
enum class RowPart { full, lower };

class CompressedRows {
public:
    /// `pattern` holds a's stencil; entries a lacks are zeros. Throws UsageError where a count does not fit 32 bits.
    CompressedRows(const Context& context, const StructMatrix& a, const Stencil& pattern, RowFormat format,
                   RowPart part);

    /// Values of a matrix of the same shape, in double precision.
    void assign(const StructMatrix& a);
    /// Rounds the values to single precision, as `singles`, and releases them until the next `assign`. Refused are also
    /// values on the diagonal whose inverses single precision cannot hold.
    Rounding round(const Context& context, const Grid& grid);

    RowFormat format() const { return format_; }
    int block() const { return format_ == RowFormat::bsr ? dof_ : 1; }
    int rows() const { return rows_; }        ///< scalar rows (csr), block rows (bsr)
    int entries() const { return entries_; }  ///< scalars (csr), blocks (bsr)
    const int* row_begin() const { return row_begin_.data(); }
    const int* column() const { return column_.data(); }
    const double* values() const { return values_.data(); }
    double* values() { return values_.data(); }
    float* singles() { return singles_.data(); }
    Index bytes() const { return 4 * (row_begin_.size() + column_.size()) + 8 * values_.size() + 4 * singles_.size(); }

    /// Scalars of such rows, and bytes with values of that size, before there are any.
    static Index scalars(const Grid& grid, const Stencil& stencil, int dof, RowPart part);
    static Index bytes(const Grid& grid, const Stencil& stencil, int dof, RowFormat format, RowPart part,
                       Index value_bytes = sizeof(double));

private:
    void fill(const StructMatrix& a, bool with_pattern);

    RowFormat format_;
    int dof_, kept_, rows_ = 0, entries_ = 0;
    Index scalars_;
    Buffer<Int3> offsets_;
    Buffer<int> a_entry_;  ///< of each entry of the pattern, -1 where a has none
    Buffer<int> row_begin_, column_;
    Buffer<double> values_;
    Buffer<float> singles_;
};

/// rows[natural row of p][c] = x(p, c), and back; on x's backend. T is double or float. With the `square` of a norm of
/// what is solved for, which lies there too, values are taken in units of a power of two near that norm, and back.
template <class T>
void to_rows(const Vector& x, T* rows, const double* square = nullptr);
template <class T>
void from_rows(const T* rows, Vector& x, const double* square = nullptr);

}  // namespace hyperplane
