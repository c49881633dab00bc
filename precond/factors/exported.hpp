// SPDX-License-Identifier: BSD-3-Clause
// Export of the factors of a fused pair, a class in which factorisation and triangular solve share an order of points.
//
// Pairs such as multicolor keep their factors in an order of their own, or in a form of M that no other solve reads.
// For Jacobi sweeps, and for checks, the factors are copied in each set-up, as
//
//     M = (I + W) D (I + G)
//
// in the matrix's layout; if the storage is in reduced precision, the copy is rounded. In the copy, every offset that
// may lead to an earlier point has an entry in the lower triangle, and every offset that may lead to a later point has
// one in the upper triangle. If points are not in natural order (multicolor), each offset has an entry in both
// triangles, and at every point one of these two blocks is zero.
//
// On several ranks on GPUs the copy is on the grid of a rank's planes and those of its halo, which sweeps read as a
// grid of its own (IluPattern::of_rank). Of the halo it has the rows of W that are blocks of G of a symmetric matrix;
// all else there is zero.
#pragma once

#include <optional>
#include <string>

#include "core/interfaces/preconditioner.hpp"
#include "precond/factors/copy.hpp"
#include "precond/factors/triangle_shape.hpp"

namespace hyperplane {

/// Interface of a fused pair whose factors can be exported.
class ExportsFactors {
public:
    virtual ~ExportsFactors() = default;
    /// The shape of a copy, in double precision and natural order, for a matrix with these properties. May be called
    /// before any set-up.
    virtual TriangleShape exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const = 0;
    /// Copies the factors, which must be in double precision. A set-up must have taken place.
    virtual void export_factors(const TriangleCopy& to) const = 0;
};

/// A copy of exported factors in the matrix's layout, or on the grid of a rank with its halo, rounded if the storage is
/// in reduced precision.
class FactorCopy {
public:
    explicit FactorCopy(FactorStorage storage) : storage_(storage) {}

    /// Copies the factors that `pair` has computed from `a`, and enters flushed values and the size of the copy in
    /// `report`. Throws SetupError if a value does not fit the storage; `name` is the preconditioner's name in its
    /// message.
    void fill(const ExportsFactors& pair, const StructMatrix& a, const std::string& name, SetupReport& report);

    const TriangleShape& shape() const { return shape_; }
    /// Whether the copy is on the grid of a rank with its halo, and so on another one than matrix and vectors.
    bool of_rank() const { return rank_.has_value(); }
    /// The layout of the copy for a matrix's.
    static Layout layout(const Layout& matrix, Backend backend) {
        return backend == Backend::cuda && matrix.is_part() ? matrix.with_halo_as_own_grid() : matrix;
    }
    FactorStorage storage() const { return storage_; }
    TriangleFactors factors() const;

    /// Bytes held after a set-up, and bytes held in addition during one.
    static Index bytes(const TriangleShape& shape, Backend backend);
    static Index setup_bytes(const TriangleShape& shape);

private:
    void allocate(const ExportsFactors& pair, const StructMatrix& a);
    /// Exchanges the rows of W next to cuts between ranks, of which G consists where it is not stored.
    void share_lower_rows(const StructMatrix& a);
    /// The blocks of the copy in double precision, by the slots of the matrix's layout.
    BlockView own_blocks();
    /// The copy in double precision.
    FactorView view() const;

    FactorStorage storage_;
    TriangleShape shape_;
    std::optional<PlanesOfRank> rank_;  ///< if the copy is on the grid of a rank with its halo
    Buffer<Int3> offsets_;
    Buffer<double> values_;
    std::optional<ReducedFactors> reduced_;  ///< replaces values_ after a set-up in reduced precision
};

}  // namespace hyperplane
