// SPDX-License-Identifier: BSD-3-Clause
// A StructMatrix or a BsrMatrix as compressed rows, as libraries for sparse matrices read them: CSR, or BSR with dof x
// dof blocks.
//
// Rows and columns are in natural order, point by point, with the unknowns of a point fastest; indices have 32 bits.
// The entries of a block row are in the stencil's order, so columns ascend. Couplings that wrap around a periodic axis
// are left out, as in all factorisations. The conversion runs on the matrix's backend. Rows of a general matrix are in
// its own order.
#pragma once

#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/storage.hpp"
#include "precond/general/pattern/fill.hpp"

namespace hyperplane {

enum class RowFormat { csr, bsr };
/// Which entries: all, or those up to the diagonal block.
enum class RowPart { full, lower };

class CompressedRows {
public:
    /// `pattern` contains a's stencil; entries that a does not have are zero. Throws UsageError if a count does not fit
    /// in 32 bits.
    CompressedRows(const Context& context, const StructMatrix& a, const Stencil& pattern, RowFormat format,
                   RowPart part);

    /// `pattern` is that of a's factors, in the host's memory; blocks that a does not have are zero.
    CompressedRows(const Context& context, const BsrMatrix& a, const FilledPattern& pattern, RowFormat format,
                   RowPart part);

    /// Copies the values of a matrix of the same shape, in double precision.
    void assign(const StructMatrix& a);
    void assign(const BsrMatrix& a);
    /// Rounds the values to single precision, in singles(), and releases those in double precision until the next call
    /// of assign. A value on the diagonal whose inverse does not fit in single precision counts as an overflow, too.
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
    Index bytes() const {
        return 4 * (row_begin_.size() + column_.size()) + 8 * (values_.size() + source_.size()) + 4 * singles_.size();
    }

    /// Number of scalars of such rows, and their bytes if values have `value_bytes` each, before any are allocated.
    static Index scalars(const Grid& grid, const Stencil& stencil, int dof, RowPart part);
    static Index bytes(const Grid& grid, const Stencil& stencil, int dof, RowFormat format, RowPart part,
                       Index value_bytes = sizeof(double));
    /// The same of a general matrix's rows.
    static Index scalars(const FilledPattern& pattern, int dof, RowPart part);
    static Index bytes(const FilledPattern& pattern, int dof, RowFormat format, RowPart part);

private:
    void count(Index rows, Index entries, Index unknowns);
    void fill(const StructMatrix& a, bool with_pattern);

    RowFormat format_;
    int dof_, kept_ = 0, rows_ = 0, entries_ = 0;
    Index scalars_;
    Buffer<Int3> offsets_;
    Buffer<int> a_entry_;   ///< a's entry for each entry of the pattern, or -1
    Buffer<Index> source_;  ///< of a general matrix: the place of each scalar in its values, or -1
    Buffer<int> row_begin_, column_;
    Buffer<double> values_;
    Buffer<float> singles_;
};

/// to_rows sets rows[number of p in natural order][c] = x(p, c), and from_rows does the reverse, on x's backend; T is
/// double or float. `square`, if given, is the address, on that backend, of the square of the right-hand side's norm.
/// Then to_rows divides values by a power of two near that norm, and from_rows multiplies them by it.
/// Vectors without a grid are copied as they are, so they come without `square`.
template <class T>
void to_rows(const Vector& x, T* rows, const double* square = nullptr);
template <class T>
void from_rows(const T* rows, Vector& x, const double* square = nullptr);

}  // namespace hyperplane
