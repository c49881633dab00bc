// SPDX-License-Identifier: BSD-3-Clause
// The factors of precond/factors/view.hpp, rounded to fewer bits: M = (I + W) D (I + G), W = E D^-1 and G = D^-1 F.
//
// W, D^-1 and G are rounded on either backend, so that M is the same operator on both. A row of a point has one scale
// for its part of W, one for that of G and one for that of D^-1 (half_scaled alone). Of a symmetric matrix W is kept,
// G_u(p) being the transpose of the mirrored block at p + u, whose rows have the scales of p + u.
//
//     apart       values[entry][row][col][slot]      as StructMatrix, padded likewise; what a CPU reads best
//     together    values[entry][slot][row][col]      as blocks_together (precond/factors/view.hpp)
//
// with W, D^-1 and G in the places of E, D and F.
#pragma once

#include <variant>

#include "precond/factors/reduced_values.hpp"
#include "precond/factors/storage.hpp"
#include "precond/factors/view.hpp"

namespace hyperplane {

/// Exponents of rows.
struct RowExponentView {
    RowExponent* values = nullptr;
    Index slot_stride = 0, row_stride = 0;

    HYPERPLANE_HD RowExponent& at(Index slot, int row) const { return values[slot * slot_stride + row * row_stride]; }
};

/// W, D^-1 and G where they lie, widened when read: as FactorView's of unit triangles. T is float or Half.
template <class T>
struct NarrowFactorView {
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

private:
    HYPERPLANE_HD double value(int entry, const RowExponentView& scales, Index slot, int row, int col) const {
        const double kept = widened(values.at(entry, slot, row, col));
        return RowRounding<T>::scales ? kept * scale_of(scales.at(slot, row)) : kept;
    }
};

/// Factors in the storage that they are kept in.
using TriangleFactors = std::variant<FactorView, NarrowFactorView<float>, NarrowFactorView<Half>>;

/// How the coefficients of a block lie.
enum class BlockPlaces { apart, together };
/// As struct_ilu's sweeps, and those of precond/triangular/jacobi/sweeps.hpp, want it.
inline BlockPlaces places_on(Backend backend) {
    return backend == Backend::cuda ? BlockPlaces::together : BlockPlaces::apart;
}

class NarrowFactors {
public:
    /// `storage` is single_precision or half_scaled; `offsets` are those of W's entries, (0,0,0) and those of G's.
    NarrowFactors(const Context& context, FactorStorage storage, const Layout& layout, const std::vector<Int3>& offsets,
                  int dof, bool symmetric, BlockPlaces places);

    /// Takes the factors of a view of this shape; its offsets are not needed. Of a point's row those of W, D^-1 and G
    /// are rows of their own.
    Rounding round(const FactorView& factors);

    /// z = D^-1 r, a thread a point; r and z may be the same vector.
    void apply_inverse(const Vector& r, Vector& z) const;
    Index bytes_of_apply_inverse() const { return bytes_of_apply_inverse(storage_, layout_.slots(), dof_); }
    static Index bytes_of_apply_inverse(FactorStorage storage, Index slots, int dof);

    FactorStorage storage() const { return storage_; }
    bool serves(FactorStorage storage, const Layout& layout, const std::vector<Int3>& offsets, int dof,
                bool symmetric) const;
    Index bytes() const { return bytes(storage_, places_, layout_.slots(), entries(), dof_, symmetric_); }
    /// Memory held, in bytes; `entries`: of W, D^-1 and G.
    static Index bytes(FactorStorage storage, BlockPlaces places, Index slots, int entries, int dof, bool symmetric);
    /// Bytes of what both sweeps of an apply read, each value once for each triangle that it stands for.
    static Index bytes_of_sweeps(FactorStorage storage, Index slots, int entries, int dof);

    /// T is float or Half, as the storage has it.
    template <class T>
    BasicBlockView<const T> values() const {
        return {reinterpret_cast<const T*>(values_.data()), strides_.entry_stride, strides_.slot_stride,
                strides_.row_stride, strides_.col_stride};
    }
    template <class T>
    NarrowFactorView<T> view() const {
        return {layout_, values<T>(), of_lower(), of_upper(), of_inverse(), offsets_.data(), lower(), symmetric_};
    }
    /// The same in whichever storage they are kept.
    TriangleFactors triangle_factors() const {
        if (storage_ == FactorStorage::single_precision) return view<float>();
        return view<Half>();
    }
    /// Values of W, D^-1 and G from one entry's to the next one's.
    Index entry_stride() const { return strides_.entry_stride; }
    /// half_scaled's exponents; where D^-1 is all there is, its own alone. Of blocks together one byte a row for the
    /// lower sweep, of W, and two for the upper one, of G (or, of a symmetric matrix, of W) and of D^-1.
    RowExponentView of_lower() const { return exponents(0); }
    RowExponentView of_upper() const { return exponents(1); }
    RowExponentView of_inverse() const { return exponents(2); }
    /// W, D^-1 and G as they are widened, on the host; of offsets that are a stencil's.
    StructMatrix widened() const;

private:
    int entries() const { return int(host_offsets_.size()); }
    int lower() const { return entries() / 2; }
    RowExponentView exponents(int part) const;
    template <int m, class T>
    void inverse_product(const Vector& r, Vector& z) const;
    template <class T>
    void inverse_product(const Vector& r, Vector& z) const;
    template <class T>
    void widen_to(StructMatrix& host) const;
    template <class T>
    void round_to(const FactorView& factors, RoundingLog* log);

    Context context_;
    BlockPlaces places_;
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
