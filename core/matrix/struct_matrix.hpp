// SPDX-License-Identifier: BSD-3-Clause
// StructMatrix: a block matrix on a structured grid, one dof x dof block for each stencil entry.
//
//   values[entry][row][col][slot]      StructILU paper, section 4.4, vector-oriented layout
//
// With `lower` storage only entries 0 .. diagonal are held, for matrices that equal their transpose:
// the upper block at p is the transpose of the mirrored lower one, stored at p's neighbour. Offsets
// that leave the grid hold zero. Along a periodic axis they hold the wrapped coupling: apply follows
// it, factorisations and sweeps skip it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/interfaces/linear_operator.hpp"

namespace hyperplane {

enum class MatrixStorage { full, lower };

/// A matrix in compressed sparse rows; rows and columns in natural order, point by point, dof fastest.
struct CsrMatrix {
    Index rows = 0;
    std::vector<Index> row_begin;  ///< rows + 1
    std::vector<Index> column;     ///< ascending in each row
    std::vector<double> value;
};

class StructMatrixCuda;

class StructMatrix : public LinearOperator {
public:
    /// All zero. Throws UsageError for a dof outside 1..32, or a periodic axis shorter than the
    /// stencil's diameter 2 radius + 1, where offsets would collide.
    StructMatrix(const Context& context, const Layout& layout, Stencil stencil, int dof,
                 MatrixStorage storage = MatrixStorage::full, std::string label = "matrix");

    const Context& context() const { return context_; }
    const Layout& layout() const { return layout_; }
    const Grid& grid() const { return layout_.grid(); }
    const Stencil& stencil() const { return stencil_; }
    int dof() const { return dof_; }
    bool symmetric() const { return storage_ == MatrixStorage::lower; }
    MatrixStorage storage() const { return storage_; }
    /// Entries held: all of the stencil's, or those up to the diagonal.
    int stored_entries() const { return symmetric() ? stencil_.diagonal() + 1 : stencil_.size(); }
    bool stores(int entry) const { return entry < stored_entries(); }
    Index unknowns() const { return layout_.slots() * dof_; }
    /// Entries of the matrix inside the grid, upper ones counted too.
    Index nonzeros() const;
    Backend backend() const { return values_.backend(); }
    Index bytes() const { return values_.size() * Index(sizeof(double)); }

    /// Values from one coefficient's first slot to the next one's: the slots, and up to 15 unused ones so
    /// that the streams of a block do not all fall into one set of a cache.
    static Index stride(Index slots) {
        const Index lines = (slots + 7) / 8;
        return 8 * (lines % 2 == 0 ? lines + 1 : lines);
    }
    /// Bytes of `coefficients` coefficients on `slots` slots.
    static Index bytes(Index coefficients, Index slots) { return coefficients * stride(slots) * Index(sizeof(double)); }

    /// The slots of one stored coefficient.
    double* values(int entry, int row = 0, int col = 0) { return values_.data() + plane(entry, row, col); }
    const double* values(int entry, int row = 0, int col = 0) const { return values_.data() + plane(entry, row, col); }
    /// Every coefficient of a stored entry becomes zero.
    void set_zero(int entry);
    /// Values of another matrix, of equal shape and on any backend.
    void assign(const StructMatrix& other);
    /// Values from one coefficient's first slot to the next one's.
    Index stride() const { return stride_; }
    /// Coefficient (row, col) of `entry` at a point, stored or mirrored; zero outside the grid.
    double at(Int3 point, int entry, int row = 0, int col = 0) const;
    /// Coefficients (row, col) of `entry` along a run: element t belongs to position t, for t in
    /// [neighbours.begin, neighbours.end); elsewhere the address may not even exist.
    const double* along(const Run& run, const RunNeighbours& neighbours, int entry, int row, int col) const {
        return stores(entry) ? values(entry, row, col) + run.slot
                             : values(stencil_.mirror(entry), col, row) + neighbours.slot;
    }

    void apply(const Vector& x, Vector& y) const override;
    void apply_dot(const Vector& x, Vector& y, double* product) const override;
    int vectors_of_dot() const override { return is_flat() && backend() == Backend::cpu ? 0 : 2; }
    /// Accurate as if computed in twice the working precision, then rounded: near convergence b and A x
    /// cancel, and in plain arithmetic the rounding of A x alone can exceed what is left.
    void residual(const Vector& b, const Vector& x, Vector& r) const override;
    Index bytes_per_apply() const override;

    /// Explicit zeros inside the grid are kept, so the pattern is the stencil's.
    CsrMatrix to_csr() const;
    /// Reads a CSR matrix of grid.points() * dof rows; an entry that does not fit the stencil is a
    /// UsageError that names the first such row and column (1-based).
    void assign(const CsrMatrix& csr);

private:
    Index plane(int entry, int row, int col) const { return (Index(entry * dof_ + row) * dof_ + col) * stride_; }
    /// Natural layout without wrapping: pieces of many lines at once. A neighbour outside the grid is
    /// some other point of the same array, multiplied by the zero that is stored there.
    /// Calls done(piece, first slot, points) after each piece.
    template <class Done>
    void apply_flat(const Vector& x, Vector& y, const Done& done) const;
    bool is_flat() const { return layout_.kind() == LayoutKind::natural && !grid().any_periodic(); }
    /// Any layout; wrapped couplings left out.
    void apply_runs(const Vector& x, Vector& y) const;
    template <class Body>
    void for_wrapped(const Run& run, const Body& body) const;
    /// Adds the wrapped couplings.
    void apply_wrapped(const Vector& x, Vector& y) const;

    /// The kernels for this shape, made at first use.
    const StructMatrixCuda& cuda() const;

    Context context_;
    mutable std::shared_ptr<const StructMatrixCuda> cuda_;
    Layout layout_;
    Stencil stencil_;
    int dof_;
    MatrixStorage storage_;
    Index stride_;
    Buffer<double> values_;
};

/// The matrix itself where the host can read it, else a copy that lives in `copy`.
const StructMatrix& on_host(const StructMatrix& a, std::optional<StructMatrix>& copy);

}  // namespace hyperplane
