// SPDX-License-Identifier: BSD-3-Clause
// The rule for pivots, for host and kernels: which pivots can be used, what a boosted one is, and how a pivot compares
// with A's diagonal. Everything that inverts diagonal blocks follows it: PivotInverter on a CPU
// (precond/factors/pivots.hpp), PivotJudge, which also logs (precond/factors/pivot_log.hpp), block Jacobi, and par_ilu,
// whose pivots are guessed before the last sweep.
//
// `pivot` is the diagonal coefficient after elimination, `own` is A's coefficient there, and `scale` is the largest
// absolute coefficient of the block and of A's block. In a block of a general matrix that is zero in A and after
// elimination, nothing says how large a boosted pivot should be. A factorisation that fails at such a block is repeated
// with `by_row`: the scale is then the largest absolute coefficient of the row of A, among the entries that the factors
// keep.
#pragma once

#include "core/host_device.hpp"
#ifndef __CUDACC_RTC__
#include <cmath>
#endif

namespace hyperplane {

struct PivotRule {
    double tolerance;  ///< a pivot of at most this times `scale` is too small
    double boost;      ///< a boosted pivot has this times `scale`; 0: pivots are not boosted
    int definite;      ///< a pivot must have the sign of A's diagonal (incomplete Cholesky)
    int by_row = 0;    ///< a boosted pivot may have its scale from A's row

    HYPERPLANE_HD static bool is_number(double x) { return fabs(x) <= 1.7976931348623157e308; }

    static constexpr double without_inverse = 0x1p-1024;  ///< the largest number whose inverse is none
    /// Whether 1 / x is a number, too.
    HYPERPLANE_HD static bool has_inverse(double x) { return fabs(x) > without_inverse; }

    /// The product of both could underflow.
    HYPERPLANE_HD bool wrong_sign(double pivot, double own) const {
        return definite && (own > 0.0 ? pivot < 0.0 : own < 0.0 && pivot > 0.0);
    }
    /// Whether a pivot can be used as it is. `least`: tolerance times scale.
    HYPERPLANE_HD bool accepts(double pivot, double own, double least) const {
        // Both bounds by one comparison take 6 registers of 80 less than two. None holds where `least` is no number.
        return fabs(pivot) > (least <= without_inverse ? without_inverse : least) && is_number(pivot) &&
               !wrong_sign(pivot, own);
    }
    /// Whether a pivot that cannot be used is boosted.
    HYPERPLANE_HD bool boosts(double pivot, double scale) const {
        return is_number(pivot) && is_number(scale) && has_inverse(boost * scale);
    }
    /// The scale of a boosted pivot: that of the block, or of_row() where the rule has `by_row` and the block's
    /// cannot be used.
    template <class OfRow>
    HYPERPLANE_HD double scale_to_boost(double pivot, double scale, const OfRow& of_row) const {
        return by_row && !boosts(pivot, scale) ? of_row() : scale;
    }
    HYPERPLANE_HD double boosted(double pivot, double own, double scale) const {
        return copysign(boost * scale, wrong_sign(pivot, own) || pivot == 0.0 ? own : pivot);
    }
    /// What a fixed-point sweep uses instead while pivots are still guesses, or 0 if that is not a number.
    HYPERPLANE_HD double guess(double own, double scale) const {
        const double size = boost * scale;
        return !is_number(size) ? 0.0 : own < 0.0 ? -size : size;
    }
    /// |pivot| / |own|; 0 if the sign is wrong, 1 if there is nothing to compare with.
    HYPERPLANE_HD double ratio(double pivot, double own) const {
        if (own == 0.0 || !is_number(pivot)) return 1.0;
        return wrong_sign(pivot, own) ? 0.0 : fabs(pivot / own);
    }
};

}  // namespace hyperplane
