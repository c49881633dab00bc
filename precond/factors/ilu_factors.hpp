// SPDX-License-Identifier: BSD-3-Clause
// The factors of ILU(k) or IC(k) of a structured matrix: where they are stored, in which form, and in which precision.
//
// They have the form of Saad, Iterative Methods, section 10.3 (there for ILU(0)), for blocks and any fill level:
//
//     M = (D + E) D^-1 (D + F)
//
// E and F are the strict lower and upper parts of the factored matrix, D its block pivots. Fill level k keeps the
// stencil's level-k pattern, to which the matrix is padded with zeros (for star7, level 1 is diamond13). If elimination
// changes the diagonal alone (star7, k = 0), E and F may be the matrix's own entries, and only D^-1 is stored (D-ILU).
// A matrix with `lower` storage gives incomplete Cholesky: F = E^T is read from E.
//
// Factors in reduced precision, and all factors on a GPU except those of D-ILU, are stored as M = (I + W) D (I + G),
// W = E D^-1 and G = D^-1 F, so that both triangles have unit diagonals.
#pragma once

#include <optional>
#include <string>

#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/pattern.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/factors/triangle_shape.hpp"
#include "precond/factors/view.hpp"

namespace hyperplane {

/// Where a factorisation writes: D^-1 is entry 0 of `inverse`; for D-ILU `triangles` is not written.
struct FactorTarget {
    BlockView triangles, inverse;
};

class IluFactors {
public:
    explicit IluFactors(const Context& context) : context_(context) {}

    /// Allocates the factors of `a` in double precision; memory that has the right shape is reused. `of_system` is the
    /// layout of the matrix that the set-up was given, which `a` may be a copy of: on ranks a part of the whole grid.
    void allocate(const StructMatrix& a, const IluPattern& pattern, const Layout& of_system);
    /// That layout, which vectors have.
    const Layout& of_system() const { return of_system_; }
    /// Whether allocate has been called.
    bool allocated() const { return a_ != nullptr; }
    const StructMatrix& matrix() const { return *a_; }
    const IluPattern& pattern() const { return *pattern_; }
    const Stencil& stencil() const { return pattern_->stencil; }
    /// The layout of the factors.
    const Layout& layout() const { return pattern_->of_rank ? pattern_->layout : a_->layout(); }
    const Context& context() const { return context_; }

    /// The factors in double precision. triangles() has E and F, or W and G, as entries of stencil(); for D-ILU it is
    /// the matrix itself. pivots() has D^-1 as entry pivot_entry().
    const StructMatrix& triangles() const { return factor_ ? *factor_ : *a_; }
    const StructMatrix& pivots() const { return factor_ ? *factor_ : *inverse_; }
    int pivot_entry() const { return factor_ ? stencil().diagonal() : 0; }
    /// What this object stores in double precision: all factors, or D^-1 alone for D-ILU.
    StructMatrix& held() { return factor_ ? *factor_ : *inverse_; }
    const StructMatrix& held() const { return pivots(); }
    /// Where a factorisation writes if the result is `x`, a matrix of the shape of held().
    FactorTarget target(StructMatrix& x) const;

    bool unit() const { return reduced_ || unit_in_double(); }
    /// Whether the factors in double precision are W, D^-1 and G.
    bool unit_in_double() const { return factor_ && a_->backend() == Backend::cuda; }
    static bool unit(const IluPattern& pattern, Backend backend) {
        return is_reduced(pattern.storage) || (backend == Backend::cuda && !pattern.shares);
    }

    /// Rounds the factors to the pattern's storage and releases those in double precision. Throws SetupError if a value
    /// does not fit; `name` is the preconditioner's name in its message.
    void round(const std::string& name, SetupReport& report);
    /// The factors in reduced precision; null if the storage is double.
    const ReducedFactors* reduced() const { return reduced_ ? &*reduced_ : nullptr; }

    /// The matrix's blocks, by the slots of layout().
    ConstBlockView matrix_blocks() const;
    /// Views of the factors; `offsets` are those of stencil(), in the context's memory. view() needs the factors in
    /// double precision, triangle_factors() takes them in any storage.
    FactorView view(const Int3* offsets) const;
    TriangleFactors triangle_factors(const Int3* offsets) const;
    TriangleShape triangle_shape() const;
    /// The address of D^-1 on the device, in the pattern's storage.
    const void* inverse_address() const;

    Index bytes() const { return reduced_ ? reduced_->bytes() : pivots().bytes(); }
    /// Bytes held after a set-up, and bytes of the factors in double precision.
    static Index bytes(const IluPattern& pattern, Backend backend);
    static Index bytes_in_double(const IluPattern& pattern);
    /// Fewest bytes that the two solves of an application move. They read each value of the factors once for each
    /// triangle to which it belongs; the lower solve reads r and writes y, the upper one reads y and writes z.
    static Index bytes_per_apply(const IluPattern& pattern);

private:
    /// View of the blocks of a matrix that holds factors, in the order that its backend uses.
    template <class Matrix>
    auto blocks(Matrix& x) const {
        // On a GPU the StructMatrix serves as memory only: its values have no padding, and each block is contiguous.
        return a_->backend() == Backend::cuda ? blocks_together(x.values(0), x.layout().slots(), x.dof())
                                              : block_view(x);
    }

    Context context_;
    const StructMatrix* a_ = nullptr;
    std::optional<IluPattern> pattern_;
    Layout of_system_;
    std::optional<StructMatrix> factor_;     ///< E and F on the filled pattern; none for D-ILU
    std::optional<StructMatrix> inverse_;    ///< D^-1, for D-ILU
    std::optional<ReducedFactors> reduced_;  ///< replaces the two after rounding
};

}  // namespace hyperplane
