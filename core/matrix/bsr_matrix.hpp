// SPDX-License-Identifier: BSD-3-Clause
// BsrMatrix: a general sparse matrix of dof x dof blocks in compressed rows; with dof = 1 it is CSR.
//
//   values[block][row][col]      of the blocks of a BlockPattern
//
// Vectors are values[block row][component]. A symmetric matrix stores both triangles, too. The sums of a row have one
// order, whatever the number of threads; on a GPU it depends on the pattern alone.
#pragma once

#include <memory>
#include <string>

#include "core/matrix/block_pattern.hpp"
#include "core/matrix/system_matrix.hpp"

namespace hyperplane {

class BsrProductCuda;
struct CsrMatrix;

class BsrMatrix final : public SystemMatrix {
public:
    /// A matrix of zeros. `pattern` is one that the host can read; a matrix on a GPU holds a copy of it there. Throws
    /// UsageError if dof is outside 1..32.
    BsrMatrix(const Context& context, std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric,
              std::string label = "matrix");
    /// Takes the values, which lie in the memory of a context of the CPU.
    BsrMatrix(std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric, Buffer<double> values);
    /// Reads values in the host's memory that the caller owns; they must exist as long as this matrix. It cannot change
    /// them, and the ledger does not count them.
    BsrMatrix(std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric, const double* values);
    /// Reads values that the caller owns in the memory of `context`, which may be a GPU's, in the same way.
    BsrMatrix(const Context& context, std::shared_ptr<const BlockPattern> pattern, int dof, bool symmetric,
              const double* values);

    /// As the host reads it. Matrices with the same pattern may share it.
    const std::shared_ptr<const BlockPattern>& pattern() const { return pattern_; }
    /// As the backend reads it.
    const BlockPattern& here() const { return *shared_here(); }
    const std::shared_ptr<const BlockPattern>& shared_here() const { return here_ ? here_ : pattern_; }
    /// Null if the caller owns the values.
    double* values() { return values_.data(); }
    const double* values() const { return read_ ? read_ : values_.data(); }
    Index nonzeros() const override { return pattern_->blocks() * dof() * dof(); }
    Index stored() const override { return nonzeros(); }
    Index bytes() const override { return bytes(*pattern_, dof(), backend()); }
    static Index bytes(const BlockPattern& pattern, int dof, Backend backend);
    /// Copies the values of a matrix of the same pattern on any backend.
    void assign(const BsrMatrix& other);

    /// Row by row in the given order with explicit zeros, for the host.
    CsrMatrix to_csr() const;

    void apply(const Vector& x, Vector& y) const override;
    /// r = b - A x, as accurate as if it were computed in twice the working precision and then rounded.
    void residual(const Vector& b, const Vector& x, Vector& r) const override;
    /// Values, columns and row pointers once, x and y once.
    Index bytes_per_apply() const override;

private:
    /// The GPU's kernels for this pattern, loaded at first use.
    const BsrProductCuda& cuda() const;

    std::shared_ptr<const BlockPattern> pattern_, here_;  ///< here_: the copy on a GPU
    Buffer<double> values_;
    const double* read_ = nullptr;  ///< values that the caller owns
    mutable std::shared_ptr<const BsrProductCuda> cuda_;
};

/// A pattern in another order, and for each of its blocks the place that it had.
struct ReorderedPattern {
    std::shared_ptr<const BlockPattern> pattern;
    Buffer<Index> from;
};
/// `pattern` is in the given order and readable by the host. The rows of the result are the equations of `order`.
ReorderedPattern in_order(const BlockPattern& pattern, std::shared_ptr<const RowOrder> order, const std::string& label);
/// P A P^T, or with E the order of equations E A P^T, for a matrix in the given order, which the host can read. The
/// second is called symmetric if its entries are.
std::unique_ptr<BsrMatrix> in_order(const BsrMatrix& a, std::shared_ptr<const RowOrder> order,
                                    const std::string& label);

/// Whether A equals its transpose to the last bit, explicit zeros included; computed where its values are.
bool equals_transpose(const BsrMatrix& a);

/// The general matrix that `a` is. Throws Error (internal) if it is of another kind.
BsrMatrix& general(SystemMatrix& a);
const BsrMatrix& general(const SystemMatrix& a);

/// The matrix itself if the host can read it, otherwise a copy that is stored in `copy`.
const BsrMatrix& on_host(const BsrMatrix& a, std::unique_ptr<BsrMatrix>& copy);

/// The entries of a matrix of any kind on any backend, explicit zeros included.
CsrMatrix csr_of(const SystemMatrix& a);

namespace bsr {
/// y = A x, or r = b - A x in twice the working precision, for block rows [first, last) on a CPU.
void multiply(const BlockPattern& pattern, int dof, const double* values, const double* x, double* y, Index first,
              Index last);
void subtract_exactly(const BlockPattern& pattern, int dof, const double* values, const double* b, const double* x,
                      double* r, Index first, Index last);
}  // namespace bsr

}  // namespace hyperplane
