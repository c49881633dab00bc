// SPDX-License-Identifier: BSD-3-Clause
// Factors that a fused pair of factorisation and solve hands out.
//
// Pairs such as multicolor keep their factors in an order of their own, or in a form of M that no other solve reads.
// For Jacobi sweeps, and for checks, they are copied once a set-up as
//
//     M = (I + W) D (I + G)
//
// in the matrix's layout; `storage` rounds the copy. A copy has a place for every offset that may lead to an earlier
// point, and one for every offset that may lead to a later one. Where the order of points is not the grid's
// (multicolor) these are all offsets, twice, and one place of each two holds zero.
#pragma once

#include <optional>
#include <string>

#include "core/interfaces/linear_operator.hpp"
#include "precond/factors/copy.hpp"
#include "precond/factors/triangle_shape.hpp"

namespace hyperplane {

/// What a fused pair offers besides being a preconditioner.
class ExportsFactors {
public:
    virtual ~ExportsFactors() = default;
    /// The shape of a copy in double precision and natural order, for matrices like this, before any set-up.
    virtual TriangleShape exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const = 0;
    /// Copies the factors, which must be in double precision, after a set-up.
    virtual void export_factors(const TriangleCopy& to) const = 0;
};

/// The copy: memory in the matrix's layout, rounded where its storage asks for that.
class FactorCopy {
public:
    explicit FactorCopy(FactorStorage storage) : storage_(storage) {}

    /// Copies the factors that `pair` has made of `a`. Throws SetupError, as preconditioner `name`, where a value does
    /// not fit the storage; notes the rounding and the copy's size in `report`.
    void fill(const ExportsFactors& pair, const StructMatrix& a, const std::string& name, SetupReport& report);

    const TriangleShape& shape() const { return shape_; }
    FactorStorage storage() const { return storage_; }
    TriangleFactors factors() const;

    /// Memory held once the copy has been made, and during a set-up besides that.
    static Index bytes(const TriangleShape& shape, Backend backend);
    static Index setup_bytes(const TriangleShape& shape);

private:
    void allocate(const ExportsFactors& pair, const StructMatrix& a);
    /// The copy in double precision.
    FactorView view() const;

    FactorStorage storage_;
    TriangleShape shape_;
    Buffer<Int3> offsets_;
    Buffer<double> values_;
    std::optional<NarrowFactors> reduced_;  ///< in place of values_ once set up, where storage asks for it
};

}  // namespace hyperplane
