// SPDX-License-Identifier: BSD-3-Clause
// The factors of a general matrix on a CPU: elimination, fixed-point sweeps, and solves with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "precond/factors/pivots.hpp"
#include "precond/factors/storage.hpp"
#include "precond/factors/stored_values.hpp"
#include "precond/general/factors/factors.hpp"
#include "precond/general/factors/spread_rows.hpp"
#include "precond/general/solves/row_walk.hpp"

namespace hyperplane::general_cpu {

/// The factors of A + alpha diag(A) into `factors.values`.
void factorise(const BsrMatrix& a, double alpha, const RowWalk& walk, GeneralFactors& factors, PivotInverter& inverter);
/// Computes the factors of some rows alone, on one thread; `spread` is memory that calls for different rows share.
void factorise(const BsrMatrix& a, double alpha, const RowRange& rows, GeneralFactors& factors, PivotInverter& inverter,
               SpreadRows& spread);
/// Brings rows of other ranks, if the factors have such, up to date after a sweep: what they have above the diagonal in
/// `values`, and the inverses of their diagonal blocks.
using ShareRows = std::function<void(double* values, double* inverse)>;
inline void no_other_rows(double* /*values*/, double* /*inverse*/) {}

/// The memory of fixed-point sweeps besides the factors.
struct FixedPointScratch {
    Buffer<double> spare;    ///< a second set of factors
    Buffer<double> inverse;  ///< of the diagonal blocks, [row][row][col]
};
/// Allocates it for these factors, all zero.
inline FixedPointScratch fixed_point_scratch(const Context& context, const GeneralFactors& factors,
                                             const std::string& label) {
    return {Buffer<double>(context, label, factors.value_count()),
            Buffer<double>(context, label, factors.pattern().rows() * factors.dof * factors.dof)};
}
Index fixed_point_bytes(Index rows, Index blocks, int dof);
/// The same by `sweeps` fixed-point sweeps (precond/general/fixed_point/fixed_point_cpu.cpp).
void fixed_point(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules, FixedPointScratch& scratch,
                 GeneralFactors& factors, PivotInverter& inverter, const ShareRows& share = no_other_rows);

/// Makes `sweeps` further sweeps, beginning with X and the inverses in `scratch`, and turns the result into factors.
void sweep_to_factors(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules, FixedPointScratch& scratch,
                      GeneralFactors& x, PivotInverter& inverter, const ShareRows& share = no_other_rows);

// The parts of fixed_point, for callers that change the pattern between sweeps. `x` holds X, and `inverse` the inverses
// of its diagonal blocks.

/// Writes to `made` the result of a sweep that reads X or, if `inverse` is null, A + alpha diag(A) on the pattern of X.
void sweep(const BsrMatrix& a, double alpha, const GeneralFactors& x, const double* inverse, double* made);
/// Writes the inverses of the diagonal blocks of X to `inverse`.
void invert_diagonals(const BsrMatrix& a, const GeneralFactors& x, double* inverse, PivotInverter& inverter);
/// Turns X, in place, into L, U and the inverses of U's diagonal blocks.
void finish(const BsrMatrix& a, GeneralFactors& x, const double* inverse);
/// The rules for pivots before the last sweep: a pivot that cannot be used is boosted.
PivotRules rules_of_guesses(const PivotRules& rules);

// Products are fused by name: left to the compiler, some of the loops that it makes of a source round them by
// themselves and others do not. Then factors would differ in the last bit from those of a GPU, and solves of one rank
// from those of several.

/// out += sign x y, or sign x^T y if `mirrored`, for dof x dof blocks; m is the dof if it is known at compile time.
/// sign is 1 or -1.
template <int m = 0, bool mirrored = false>
void add_product(int known, double sign, const double* x, const double* y, double* out) {
    const int dof = m > 0 ? m : known;
    for (int row = 0; row < dof; ++row)
        for (int q = 0; q < dof; ++q) {
            const double factor = sign * (mirrored ? x[q * dof + row] : x[row * dof + q]);
            for (int col = 0; col < dof; ++col)
                out[row * dof + col] = std::fma(factor, y[q * dof + col], out[row * dof + col]);
        }
}

/// sum -= block v.
template <int m = 0>
void subtract_block(int known, const double* block, const double* v, double* sum) {
    const int dof = m > 0 ? m : known;
    for (int r = 0; r < dof; ++r)
        for (int c = 0; c < dof; ++c) sum[r] = std::fma(-block[r * dof + c], v[c], sum[r]);
}
/// z = inverse v, where z is none of v.
template <int m = 0>
void apply_inverse(int known, const double* inverse, const double* v, double* z) {
    const int dof = m > 0 ? m : known;
    for (int r = 0; r < dof; ++r) {
        double value = 0.0;
        for (int c = 0; c < dof; ++c) value = std::fma(inverse[r * dof + c], v[c], value);
        z[r] = value;
    }
}

/// The first place in [from, end) of a row whose column is at least `column`. Rows are mostly short; in a long
/// one the place is found by doubling steps and bisection. `columns` has operator[].
template <class Columns>
Index place_from(const Columns& columns, Index from, Index end, int column) {
    if (from >= end || columns[from] >= column) return from;
    Index step = 1;
    while (from + step < end && columns[from + step] < column) from += step, step *= 2;
    Index at = from + 1, after = std::min(from + step, end);  // the place is one of [at, after]
    while (at < after) {
        const Index middle = at + (after - at) / 2;
        if (columns[middle] < column)
            at = middle + 1;
        else
            after = middle;
    }
    return at;
}

/// Whether a search in so many entries for each of `few` others takes less time than a walk through them.
inline bool is_much_longer(Index entries, Index few) {
    return entries > 16 * few;
}

/// Calls body(mine, other) for the places of each column that the parts [mine, end) and [other, last) of two rows
/// share, in ascending order. Where one part is much longer than the other, the shorter one is walked through and the
/// longer one searched.
template <class Columns, class Body>
void for_each_shared(const Columns& columns, Index mine, Index end, Index other, Index last, const Body& body) {
    if (is_much_longer(last - other, end - mine)) {
        for (; mine < end && other < last; ++mine) {
            other = place_from(columns, other, last, columns[mine]);
            if (other < last && columns[other] == columns[mine]) body(mine, other);
        }
        return;
    }
    for (; other < last && mine < end; ++other) {
        mine = place_from(columns, mine, end, columns[other]);
        if (mine < end && columns[mine] == columns[other]) body(mine, other);
    }
}

/// The largest absolute coefficient of a row of A, among the entries that the factors keep.
inline double largest_of_row(const BsrMatrix& a, const FilledPattern& filled, Index row) {
    const Index* const begin = a.pattern()->row_begin();
    return hyperplane::largest_of_row(a.values(), filled.place.data(), begin[row], begin[row + 1], a.dof() * a.dof());
}

/// y = L^-1 r; y may be r. With `reduced` (reduced_rows.hpp) y = (I + W)^-1 r, and `factors` may be without values.
void lower_solve(const GeneralFactors& factors, const RowWalk& walk, const double* r, double* y,
                 const StoredValues* reduced = nullptr);
/// z = U^-1 z, or (I + G)^-1 D^-1 z.
void upper_solve(const GeneralFactors& factors, const RowWalk& walk, double* z, const StoredValues* reduced = nullptr);

/// The fewest bytes that both solves with this number of blocks move.
Index bytes_per_apply(Index rows, Index blocks, int dof, FactorStorage storage = FactorStorage::double_precision);

}  // namespace hyperplane::general_cpu
