// SPDX-License-Identifier: BSD-3-Clause
// Pivots: when one cannot be used, what a policy does about it, and where it was.
#pragma once

#include <cmath>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/interfaces/linear_operator.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/parameters/parameters.hpp"
#include "precond/factors/pivot_log.cuh"

namespace hyperplane {

enum class PivotPolicy {
    fail,   ///< the set-up ends with the cell's place
    shift,  ///< factor A + alpha diag(A) with a growing alpha until all pivots can be used
    boost,  ///< replace the pivot by a multiple of the diagonal and count it
};

struct PivotRules {
    PivotPolicy policy = PivotPolicy::fail;
    double tolerance = 1e-14;  ///< a pivot is too small below this times the block's largest entry
    double boost = 1e-3;       ///< magnitude of a boosted pivot, relative to the same
};

/// Inverts the diagonal blocks met in a factorisation; threads share one.
class PivotInverter {
public:
    /// `definite`: a pivot must have the sign of A's diagonal (incomplete Cholesky).
    PivotInverter(const PivotRules& rules, const Grid& grid, int dof, bool definite)
        : rules_(rules), grid_(grid), dof_(dof), definite_(definite) {}

    /// Replaces the row-major `block` of `cell` by its inverse, the policy applied; `diagonal` is A's own
    /// block there. Where a pivot cannot be used the block becomes zero and the failure is kept.
    void invert(Int3 cell, const double* diagonal, double* block, PivotRatio& smallest) {
        const double pivot = block[0], own = diagonal[0];
        // The common case of one unknown a point, spared all bookkeeping: a usable pivot of A's own sign.
        if (dof_ == 1 && std::isfinite(pivot) && std::isfinite(own) && pivot * own > 0.0 &&
            std::abs(pivot) > rules_.tolerance * std::abs(own)) {
            block[0] = 1.0 / pivot;
            smallest.take(pivot / own, grid_.row(cell));
        } else {
            invert_block(cell, diagonal, block, smallest);
        }
    }
    /// Adds what invert collected for some points.
    void note(const PivotRatio& smallest);

    /// What a factorisation elsewhere met: how many pivots failed and were boosted, the first failure and the
    /// first boosts in natural order, the smallest ratio.
    void adopt(Index failures, PivotEvent first_failure, Index boosts, std::vector<PivotEvent> first_boosts,
               const PivotRatio& smallest);
    void adopt(const PivotLog& log, const PivotRatio& smallest);

    Index failures() const { return failures_; }
    /// True when the first failure is a NaN or infinity, which no policy can mend.
    bool not_finite() const;
    /// "the pivot at cell (1,2,3), component 0, is 0, ...": the first failure in natural order.
    std::string explain() const;
    /// Adds the failures that a shift is to mend: their count and the first's place.
    void add_failures_to(SetupReport& report) const;
    /// Adds counts, places and the smallest ratio to a report.
    void add_to(SetupReport& report) const;

private:
    void invert_block(Int3 cell, const double* diagonal, double* block, PivotRatio& smallest);
    void fail(PivotEvent event);

    PivotRules rules_;
    Grid grid_;
    int dof_;
    bool definite_;
    std::mutex mutex_;
    Index failures_ = 0;
    PivotEvent first_failure_{};
    Index boosts_ = 0;
    std::vector<PivotEvent> boosted_;
    PivotRatio smallest_;
};

/// A log of nothing.
PivotLog empty_pivot_log();

/// What a deck says of shift and pivots: the keys shift, pivot_policy, pivot_tolerance and pivot_boost.
struct PivotOptions {
    double shift = 0.0;          ///< alpha >= 0: A + alpha diag(A) is factored, A itself never changed
    bool shift_is_auto = false;  ///< Preconditioner::suggest_shift sets it
    PivotRules rules;

    void suggest_shift(double alpha) {
        if (shift_is_auto) shift = alpha;
    }
};
const ParameterTable& pivot_parameters();
PivotOptions pivot_options(const Parameters& parameters);

/// Factors A + alpha diag(A) by `build(alpha, inverter)`, from `shift` on with a growing alpha where the policy is
/// `shift`. Throws SetupError where pivots cannot be used: `name`, the first one's place, then `remark`. Of the report
/// factor_bytes is left to the caller.
SetupReport factor_with_policy(const StructMatrix& a, const PivotRules& rules, double shift, const std::string& name,
                               const std::function<void(double alpha, PivotInverter& inverter)>& build,
                               const std::string& remark = "");

}  // namespace hyperplane
