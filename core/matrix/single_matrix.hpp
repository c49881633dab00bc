// SPDX-License-Identifier: BSD-3-Clause
// A copy of a StructMatrix of a whole grid in single precision, for residuals within a preconditioner.
//
//     values[entry][row][col][slot]      as in the matrix, with the same padding
#pragma once

#include <memory>
#include <optional>

#include "core/matrix/struct_matrix.hpp"
#include "core/vector/single_vector.hpp"

namespace hyperplane {

class SingleMatrixCuda;

class SingleMatrix {
public:
    explicit SingleMatrix(const StructMatrix& a, const std::string& label) : SingleMatrix(like(a, label)) { assign(a); }
    /// Memory for a copy of such a matrix.
    static SingleMatrix like(const StructMatrix& a, const std::string& label) { return {a, label, 0}; }

    /// Rounds the coefficients of a matrix of the same shape.
    void assign(const StructMatrix& a);
    /// Whether residuals are computed for a layout: on a GPU all, on a CPU those of natural layouts without periodic
    /// axes.
    static bool serves(const Layout& layout, Backend backend) {
        return backend == Backend::cuda || (layout.kind() == LayoutKind::natural && !layout.grid().any_periodic());
    }

    const Context& context() const { return values_.context(); }
    const Layout& layout() const { return layout_; }
    const Stencil& stencil() const { return stencil_; }
    int dof() const { return dof_; }
    MatrixStorage storage() const { return storage_; }
    bool stores(int entry) const { return storage_ == MatrixStorage::full || entry <= stencil_.diagonal(); }
    Index stride() const { return stride_; }
    Index bytes() const { return values_.size() * Index(sizeof(float)); }
    /// Bytes of the copy of a matrix that takes so many.
    static Index bytes(Index of_matrix) { return of_matrix / Index(sizeof(double) / sizeof(float)); }
    /// All values, for a writer of the whole copy.
    float* values() {
        lines_.reset();
        return values_.data();
    }
    const float* values(int entry, int row = 0, int col = 0) const {
        return values_.data() + (Index(entry * dof_ + row) * dof_ + col) * stride_;
    }
    /// Coefficients as StructMatrix::along.
    const float* along(const Run& run, const RunNeighbours& neighbours, int entry, int row, int col) const {
        return stores(entry) ? values(entry, row, col) + run.slot
                             : values(stencil_.mirror(entry), col, row) + neighbours.slot;
    }

    /// The equal lines of the matrix that was rounded, if they were known then; else null.
    const EqualLines* equal_lines() const { return lines_ ? &*lines_ : nullptr; }

    /// r = b - A x, summed in double precision.
    void subtract_product(const SingleVector& b, const SingleVector& x, SingleVector& r) const;

private:
    SingleMatrix(const StructMatrix& a, const std::string& label, int);

    Layout layout_;
    Stencil stencil_;
    int dof_;
    MatrixStorage storage_;
    Index stride_;
    Buffer<float> values_;
    std::optional<EqualLines> lines_;
    mutable std::shared_ptr<const SingleMatrixCuda> cuda_;  ///< loaded at first use
};

}  // namespace hyperplane
