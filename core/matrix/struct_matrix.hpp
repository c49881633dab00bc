// SPDX-License-Identifier: BSD-3-Clause
// StructMatrix: a block matrix on a structured grid, one dof x dof block for each stencil entry.
//
//   values[entry][row][col][slot]      StructILU paper, section 4.4, vector-oriented layout
//
// With `lower` storage, for matrices that equal their transpose, only entries 0 .. diagonal are stored:
// an upper block at p is the transpose of the mirrored lower one, which is stored at p's neighbour.
// Coefficients whose neighbour lies outside the grid are zero. Along a periodic axis they are the
// wrapped couplings instead: apply includes them, factorisations and triangular solves skip them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix/equal_lines.hpp"
#include "core/matrix/system_matrix.hpp"

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

/// Equal lines that were found of values, and whether these have been accessed for writing since, by any thread.
class KnownLines {
public:
    KnownLines() = default;
    KnownLines(KnownLines&& other) noexcept : lines_(std::move(other.lines_)), valid_(other.valid_.load()) {}
    KnownLines& operator=(KnownLines&& other) noexcept {
        lines_ = std::move(other.lines_);
        valid_ = other.valid_.load();
        return *this;
    }
    KnownLines(const KnownLines&) = delete;
    KnownLines& operator=(const KnownLines&) = delete;

    const EqualLines* get() const { return valid_.load(std::memory_order_relaxed) ? lines_.get() : nullptr; }
    void set(EqualLines&& lines) {
        lines_ = std::make_unique<const EqualLines>(std::move(lines));
        valid_ = true;
    }
    void forget() {
        if (valid_.load(std::memory_order_relaxed)) valid_.store(false, std::memory_order_relaxed);
    }

private:
    std::unique_ptr<const EqualLines> lines_;
    std::atomic<bool> valid_{false};
};

class StructMatrix final : public SystemMatrix {
public:
    /// A matrix of zeros. Throws UsageError if dof is outside 1..32, or if a periodic axis is shorter than the
    /// stencil's diameter 2 radius + 1, so that two offsets would lead to the same neighbour.
    StructMatrix(const Context& context, const Layout& layout, Stencil stencil, int dof,
                 MatrixStorage storage = MatrixStorage::full, std::string label = "matrix");

    const Layout& layout() const { return space().layout(); }
    const Grid& grid() const { return layout().grid(); }
    const Stencil& stencil() const { return stencil_; }
    MatrixStorage storage() const { return storage_; }
    /// Number of entries stored: all of the stencil's, or those up to the diagonal.
    int stored_entries() const { return symmetric() ? stencil_.diagonal() + 1 : stencil_.size(); }
    bool stores(int entry) const { return entry < stored_entries(); }
    /// Number of coefficients whose neighbour exists, including those that are not stored.
    Index nonzeros() const override;
    void share_halos() override;
    /// The addresses of all stored coefficients at slot 0.
    std::vector<double*> coefficients();
    std::vector<const double*> coefficients() const;
    Index stored() const override { return values_.size(); }
    Index bytes() const override { return values_.size() * Index(sizeof(double)); }

    /// Distance from one coefficient's first value to the next one's: the slots and up to 15 unused values, so
    /// that the coefficients of a block do not all map to one set of a cache.
    static Index stride(Index slots) {
        const Index lines = (slots + 7) / 8;
        return 8 * (lines % 2 == 0 ? lines + 1 : lines);
    }
    /// Bytes that `coefficients` coefficients on `slots` slots take, those of halos included.
    static Index bytes(Index coefficients, Index slots) { return coefficients * stride(slots) * Index(sizeof(double)); }

    /// The values of one stored coefficient, by slot.
    double* values(int entry, int row = 0, int col = 0) {
        lines_.forget();
        return values_.data() + plane(entry, row, col);
    }
    const double* values(int entry, int row = 0, int col = 0) const { return values_.data() + plane(entry, row, col); }
    /// Sets every coefficient of a stored entry to zero.
    void set_zero(int entry);
    /// Copies the values of a matrix of equal shape on any backend.
    void assign(const StructMatrix& other);
    /// Distance from one coefficient's first value to the next one's.
    Index stride() const { return stride_; }
    /// Coefficient (row, col) of `entry` at a point, stored or mirrored; zero outside the grid.
    double at(Int3 point, int entry, int row = 0, int col = 0) const;
    /// Coefficients (row, col) of `entry` along a run: element t belongs to position t, for t in
    /// [neighbours.begin, neighbours.end). Other elements may lie outside the array.
    const double* along(const Run& run, const RunNeighbours& neighbours, int entry, int row, int col) const {
        return stores(entry) ? values(entry, row, col) + run.slot
                             : values(stencil_.mirror(entry), col, row) + neighbours.slot;
    }

    /// Finds the equal lines of all coefficients, unless they are known, on a CPU in natural layout. Products,
    /// residuals and solves then read fewer lines, with the same bits. Values may no longer be written through
    /// addresses that were taken before; taking one for writing makes this void.
    void find_equal_lines() const;
    /// Takes equal lines that the writer of the values already knows.
    void set_equal_lines(EqualLines&& lines) { lines_.set(std::move(lines)); }
    /// Null if they are not known.
    const EqualLines* equal_lines() const { return lines_.get(); }

    void apply(const Vector& x, Vector& y) const override;
    void apply_dot(const Vector& x, Vector& y, double* product) const override;
    int vectors_of_dot() const override { return sums_products() ? 0 : 2; }
    /// The fewest points of a grid whose product and its sum are one pass on a GPU, and the most entries of its
    /// stencil. Vectors of fewer points lie in the second-level cache, and two passes take less time; so they do with
    /// 27 entries (docs/log/spmv.md).
    static constexpr Index fewest_summed = 8'000'000;
    static constexpr int most_entries_summed = 7;
    /// r = b - A x in plain arithmetic, which is enough where r is smoothed or preconditioned.
    void subtract_product(const Vector& b, const Vector& x, Vector& r) const;
    /// r = b - A x, as accurate as if it were computed in twice the working precision and then rounded. Near
    /// convergence b and A x cancel, and in plain arithmetic the rounding of A x alone can exceed the residual.
    void residual(const Vector& b, const Vector& x, Vector& r) const override;
    Index bytes_per_apply() const override;

    /// The matrix in CSR format. Explicit zeros inside the grid are kept, so the pattern is the stencil's.
    CsrMatrix to_csr() const;
    /// Takes the values of a CSR matrix of grid.points() * dof rows. Throws UsageError if the sizes differ or an entry
    /// does not fit the stencil; the message names the row and column (1-based).
    void assign(const CsrMatrix& csr);

private:
    Index plane(int entry, int row, int col) const {
        return (Index(entry * dof() + row) * dof() + col) * stride_ + space().halo_slots();
    }
    /// y = A x in natural layout: line by line (core/matrix/line_product.hpp) where lines are equal or an axis is
    /// periodic, otherwise in blocks of consecutive slots of a plane that extend over many lines. Where a neighbour
    /// lies outside the grid, some other value of x is multiplied by the zero stored there. Calls done(block, first
    /// slot, number of points) after each block of PlaneSums(space(), 1).
    template <class Done>
    void apply_flat(const Vector& x, Vector& y, const Done& done) const;
    bool sums_products() const;
    bool is_flat() const { return layout().kind() == LayoutKind::natural; }
    /// y = A x in other layouts, without the wrapped couplings.
    void apply_runs(const Vector& x, Vector& y) const;
    template <class Body>
    void for_wrapped(const Run& run, const Body& body) const;
    /// Adds the wrapped couplings to y.
    void apply_wrapped(const Vector& x, Vector& y) const;

    /// The GPU's kernels for this shape, loaded at first use.
    const StructMatrixCuda& cuda() const;

    mutable std::shared_ptr<const StructMatrixCuda> cuda_;
    mutable KnownLines lines_;
    Stencil stencil_;
    MatrixStorage storage_;
    Index stride_;
    Buffer<double> values_;
};

/// The structured matrix that `a` is. Throws Error (internal) if it is of another kind.
StructMatrix& structured(SystemMatrix& a);
const StructMatrix& structured(const SystemMatrix& a);

/// The matrix itself if the host can read it, otherwise a copy that is stored in `copy`.
const StructMatrix& on_host(const StructMatrix& a, std::optional<StructMatrix>& copy);

}  // namespace hyperplane
