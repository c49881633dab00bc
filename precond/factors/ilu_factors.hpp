// SPDX-License-Identifier: BSD-3-Clause
// The factors of ILU(k) or IC(k) of a structured matrix: where they lie, in which form, and how they are rounded.
//
// Written as Saad, Iterative Methods, section 10.3 does for ILU(0), for blocks and any fill level:
//
//     M = (D + E) D^-1 (D + F)
//
// E and F are the strict lower and upper parts of the factored matrix, D its block pivots. Fill level k keeps the
// stencil's level-k pattern, zero-padded (star7's level 1 is diamond13). Where elimination changes the diagonal alone
// (star7, k = 0) E and F may be the matrix's own entries and only D^-1 is stored (D-ILU). A matrix with `lower` storage
// gives incomplete Cholesky: F = E^T is read from E.
//
// On a GPU the factors of other matrices than D-ILU's, and everywhere all in reduced precision, are kept as
// M = (I + W) D (I + G), W = E D^-1 and G = D^-1 F, so that both triangles are unit.
#pragma once

#include <optional>
#include <string>

#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/pattern.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/factors/triangle_shape.hpp"
#include "precond/factors/view.hpp"

namespace hyperplane {

/// Where factorisations write: D^-1 is entry 0 of `inverse`; `triangles` is not written to for D-ILU.
struct FactorTarget {
    BlockView triangles, inverse;
};

class IluFactors {
public:
    explicit IluFactors(const Context& context) : context_(context) {}

    /// Makes room for the factors of `a` in double precision; what fits already is kept.
    void allocate(const StructMatrix& a, const IluPattern& pattern);
    /// Whether there has been a matrix.
    bool allocated() const { return a_ != nullptr; }
    const StructMatrix& matrix() const { return *a_; }
    const IluPattern& pattern() const { return *pattern_; }
    const Stencil& stencil() const { return pattern_->stencil; }
    const Context& context() const { return context_; }

    /// What is written and read in double precision: E and F, entries of stencil(), the matrix itself for D-ILU; and
    /// the matrix that holds D^-1, as entry pivot_entry().
    const StructMatrix& triangles() const { return factor_ ? *factor_ : *a_; }
    const StructMatrix& pivots() const { return factor_ ? *factor_ : *inverse_; }
    int pivot_entry() const { return factor_ ? stencil().diagonal() : 0; }
    /// The one of the two that belongs to the factors.
    StructMatrix& held() { return factor_ ? *factor_ : *inverse_; }
    const StructMatrix& held() const { return pivots(); }
    /// Places of the blocks of a matrix of held()'s shape.
    FactorTarget target(StructMatrix& x) const;

    bool unit() const { return reduced_ || unit_in_double(); }
    /// Whether factors in double precision are W, D^-1 and G.
    bool unit_in_double() const { return factor_ && a_->backend() == Backend::cuda; }
    static bool unit(const IluPattern& pattern, Backend backend) {
        return is_narrow(pattern.storage) || (backend == Backend::cuda && !pattern.shares);
    }

    /// Rounds the factors to the pattern's storage and releases those in double precision. Throws SetupError, as
    /// preconditioner `name`, where a value does not fit.
    void round(const std::string& name, SetupReport& report);
    /// What reduced storage keeps; null where the storage is double.
    const NarrowFactors* reduced() const { return reduced_ ? &*reduced_ : nullptr; }

    /// The factors where they lie; `offsets` are those of stencil(), in the context's memory. The first is of factors
    /// in double precision.
    FactorView view(const Int3* offsets) const;
    TriangleFactors triangle_factors(const Int3* offsets) const;
    TriangleShape triangle_shape() const;
    /// The address of D^-1 on the device, in the pattern's storage.
    const void* inverse_address() const;

    /// Copies on the host: E, D^-1 and F, or W, D^-1 and G, as entries of stencil(); D^-1 alone for D-ILU.
    StructMatrix on_host() const;
    /// Coefficient (row, col) of D^-1 at a point.
    double inverse_pivot(Int3 point, int row, int col) const;

    Index bytes() const { return reduced_ ? reduced_->bytes() : pivots().bytes(); }
    /// Memory held once set up, and in double precision.
    static Index bytes(const IluPattern& pattern, Backend backend);
    static Index bytes_in_double(const IluPattern& pattern);
    /// Fewest bytes that both solves of an application read of the factors, each value once for each triangle that it
    /// stands for, and of vectors: r, y; y, z.
    static Index bytes_per_apply(const IluPattern& pattern);

private:
    /// Places of the blocks of a matrix that holds factors, as its backend keeps them.
    ConstBlockView blocks(const StructMatrix& x) const;

    Context context_;
    const StructMatrix* a_ = nullptr;
    std::optional<IluPattern> pattern_;
    std::optional<StructMatrix> factor_;    ///< E and F on the filled pattern; none for D-ILU
    std::optional<StructMatrix> inverse_;   ///< then D^-1
    std::optional<NarrowFactors> reduced_;  ///< in place of both once rounded
};

}  // namespace hyperplane
