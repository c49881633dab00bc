// SPDX-License-Identifier: BSD-3-Clause
// The factors of precond/factors/view.hpp in reduced precision: M = (I + W) D (I + G), W = E D^-1 and G = D^-1 F.
//
// Both backends round W, D^-1 and G, so that M is the same operator on both. With half_scaled, each row of a point has
// three scales: one for its coefficients in W, one for those in G and one for those in D^-1. For a symmetric matrix G
// is not stored: G_u(p) is the transpose of the mirrored block at p + u, whose rows have the scales of p + u. The
// coefficients of a block are stored in one of two orders:
//
//     apart       values[entry][row][col][slot]      as in StructMatrix, with the same padding; a CPU reads it fastest
//     together    values[entry][slot][row][col]      see precond/factors/coefficient_order.hpp
//
// where the entries of W, D^-1 and G take the places of those of E, D and F.
//
// A part of a grid has room for its halo, too: of a symmetric matrix, G_u(p) may be a block of another rank. On a GPU
// the factors of a rank are on a grid of its planes with those of the halo (IluPattern::of_rank), where the rows of
// the halo are rounded like its own.
#pragma once

#include <optional>
#include <variant>

#include "precond/factors/reduced_values.hpp"
#include "precond/factors/storage.hpp"
#include "precond/factors/view.hpp"

namespace hyperplane {

/// View of the exponents of the rows' scales.
struct RowExponentView {
    RowExponent* values = nullptr;
    Index slot_stride = 0, row_stride = 0;

    HYPERPLANE_HD RowExponent& at(Index slot, int row) const { return values[slot * slot_stride + row * row_stride]; }
};

/// View of W, D^-1 and G, with the interface of a FactorView with unit triangles. Values are widened to double when
/// they are read. T is float or Half.
template <class T>
struct ReducedFactorView {
    static constexpr bool unit = true;

    Layout layout;
    BasicBlockView<const T> values;
    RowExponentView of_lower, of_upper, of_inverse;
    const Int3* offsets = nullptr;
    int lower = 0;
    bool symmetric = false;

    HYPERPLANE_HD double inverse_at(Index slot, int row, int col) const {
        return value(lower, of_inverse, slot, row, col);
    }
    HYPERPLANE_HD double at(int entry, Index slot, Index there, int row, int col) const {
        if (symmetric && entry > lower) return value(2 * lower - entry, of_lower, there, col, row);
        return value(entry, entry < lower ? of_lower : of_upper, slot, row, col);
    }

    /// The addresses of stored values, which half_scaled multiplies by the scales of their rows.
    HYPERPLANE_HD const T* inverse_place(Index slot, int row, int col) const {
        return &values.at(lower, slot, row, col);
    }
    HYPERPLANE_HD const T* place(int entry, Index slot, Index there, int row, int col) const {
        if (symmetric && entry > lower) return &values.at(2 * lower - entry, there, col, row);
        return &values.at(entry, slot, row, col);
    }

private:
    HYPERPLANE_HD double value(int entry, const RowExponentView& scales, Index slot, int row, int col) const {
        const double kept = widened(values.at(entry, slot, row, col));
        return RowRounding<T>::scales ? kept * scale_of(scales.at(slot, row)) : kept;
    }
};

/// View of factors in any storage.
using TriangleFactors = std::variant<FactorView, ReducedFactorView<float>, ReducedFactorView<Half>>;

/// The order that triangular solves and Jacobi sweeps read on a backend.
inline CoefficientOrder places_on(Backend backend) {
    return backend == Backend::cuda ? CoefficientOrder::together : CoefficientOrder::apart;
}

/// A rank's part of a grid, for factors on a grid of its planes with `halo` planes of other ranks at either end.
struct PlanesOfRank {
    Layout part;
    int halo = 0;
};

class ReducedFactors {
public:
    /// `storage` is single_precision or half_scaled; `offsets` are those of W's entries, (0,0,0), those of G's entries.
    ReducedFactors(const Context& context, FactorStorage storage, const Layout& layout,
                   const std::vector<Int3>& offsets, int dof, bool symmetric, CoefficientOrder places);

    /// Rounds the factors of a view of this shape, whose member `offsets` is not used. In the result's numbers, the
    /// parts of a matrix row in W, D^-1 and G count as three rows. `rank` is given if the layout is that of a rank's
    /// planes with its halo; in double precision, the halo must hold the W of a symmetric matrix.
    Rounding round(const FactorView& factors, const std::optional<PlanesOfRank>& rank = std::nullopt);

    /// z = D^-1 r; r and z may be the same vector.
    void apply_inverse(const Vector& r, Vector& z) const;
    Index bytes_of_apply_inverse() const { return bytes_of_apply_inverse(storage_, layout_.slots(), dof_); }
    static Index bytes_of_apply_inverse(FactorStorage storage, Index slots, int dof);

    FactorStorage storage() const { return storage_; }
    bool serves(FactorStorage storage, const Layout& layout, const std::vector<Int3>& offsets, int dof,
                bool symmetric) const;
    Index bytes() const { return bytes(storage_, places_, layout_.slots_in_memory(), entries(), dof_, symmetric_); }
    /// Memory held, in bytes, for so many slots in memory; `entries` counts those of W, D^-1 and G.
    static Index bytes(FactorStorage storage, CoefficientOrder places, Index slots, int entries, int dof,
                       bool symmetric);
    /// Bytes of factors that the two solves of an application read, each value once for each triangle to which it
    /// belongs.
    static Index bytes_of_solves(FactorStorage storage, Index slots, int entries, int dof);

    /// By slots of the layout. T must be the type of the storage, float for single_precision and Half for half_scaled.
    template <class T>
    BasicBlockView<const T> values() const {
        const T* const first = reinterpret_cast<const T*>(values_.data()) + layout_.halo_slots() * strides_.slot_stride;
        return {first, strides_.entry_stride, strides_.slot_stride, strides_.row_stride, strides_.col_stride};
    }
    template <class T>
    ReducedFactorView<T> view() const {
        return {layout_, values<T>(), of_lower(), of_upper(), of_inverse(), offsets_.data(), lower(), symmetric_};
    }
    /// The view for the storage in use.
    TriangleFactors triangle_factors() const {
        if (storage_ == FactorStorage::single_precision) return view<float>();
        return view<Half>();
    }
    /// Distance between the values of consecutive entries.
    Index entry_stride() const { return strides_.entry_stride; }
    /// Exponents of half_scaled; factors that consist of D^-1 alone have only those of D^-1. If blocks are `together`,
    /// the lower solve reads one byte a row, the exponent for W, and the upper solve reads two adjacent bytes, the
    /// exponents for G (for a symmetric matrix, those for W once more) and for D^-1.
    RowExponentView of_lower() const { return exponents(0); }
    RowExponentView of_upper() const { return exponents(1); }
    RowExponentView of_inverse() const { return exponents(2); }

private:
    int entries() const { return int(host_offsets_.size()); }
    int lower() const { return entries() / 2; }
    RowExponentView exponents(int part) const;
    template <int m, class T>
    void inverse_product(const Vector& r, Vector& z) const;
    template <class T>
    void inverse_product(const Vector& r, Vector& z) const;
    template <class T>
    void round_to(const FactorView& factors, const std::optional<PlanesOfRank>& rank, RoundingLog* log);
    /// Exchanges the rows of W next to cuts between ranks, of which G consists where it is not stored.
    template <class T>
    void share_lower_rows();

    Context context_;
    CoefficientOrder places_;
    FactorStorage storage_;
    Layout layout_;
    std::vector<Int3> host_offsets_;
    int dof_;
    bool symmetric_;
    ConstBlockView strides_;
    Buffer<Int3> offsets_;
    Buffer<std::uint32_t> values_;
    mutable Buffer<RowExponent> exponents_;
};

}  // namespace hyperplane
