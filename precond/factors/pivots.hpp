// SPDX-License-Identifier: BSD-3-Clause
// Pivots: when a pivot cannot be used, what the policies do in that case, and the record of where it happened.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "core/matrix/row_order.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/parameters/parameters.hpp"
#include "precond/factors/pivot_log.hpp"

namespace hyperplane {

enum class PivotPolicy {
    fail,   ///< the set-up ends with an error that names the cell
    shift,  ///< factor A + alpha diag(A) with a growing alpha until all pivots can be used
    boost,  ///< replace the pivot by a multiple of its block's largest entry and count it
};

struct PivotRules {
    PivotPolicy policy = PivotPolicy::fail;
    double tolerance = 1e-14;  ///< a pivot is too small if it is below this times the block's largest entry
    double boost = 1e-3;       ///< magnitude of a boosted pivot, relative to that entry
    bool indefinite = false;   ///< pivots of a symmetric matrix may have either sign: L D L^T
    bool by_row = false;       ///< a boosted pivot may have its scale from A's row; factor_with_policy sets it
};

inline PivotRule rule_of(const PivotRules& rules, bool definite) {
    return {rules.tolerance, rules.policy == PivotPolicy::boost ? rules.boost : 0.0, definite && !rules.indefinite,
            rules.by_row};
}

/// Inverts the diagonal blocks of a factorisation. All threads share one object.
class PivotInverter {
public:
    /// `definite`: a pivot must have the sign of A's diagonal (incomplete Cholesky). `order`: that of the rows of a
    /// general matrix, whose numbers in the given order are told; null for the given one.
    PivotInverter(const PivotRules& rules, const Grid& grid, int dof, bool definite,
                  std::shared_ptr<const RowOrder> order = nullptr)
        : rules_(rules), rule_(rule_of(rules, definite)), grid_(grid), dof_(dof), order_(std::move(order)) {}

    /// The rules to follow. For a general matrix `by_row` may be set here, which the options of a preconditioner never
    /// set.
    const PivotRules& rules() const { return rules_; }

    /// Replaces the row-major `block` of `cell` by its inverse; `diagonal` is A's block there. Pivots that cannot be
    /// used are boosted if that is the policy; otherwise the block becomes zero and the failure is recorded.
    /// `smallest` collects the smallest ratio of a pivot to A's diagonal.
    void invert(Int3 cell, const double* diagonal, double* block, PivotRatio& smallest) {
        invert(cell, diagonal, block, smallest, [] { return 0.0; });
    }
    /// Inverts a block of a general matrix in the same way; of_row() is the largest absolute coefficient of A's row.
    template <class OfRow>
    void invert(Int3 cell, const double* diagonal, double* block, PivotRatio& smallest, const OfRow& of_row) {
        const double pivot = block[0], own = diagonal[0];
        // Fast path without bookkeeping for one unknown a point and a usable pivot with the sign of A's diagonal.
        if (dof_ == 1 && PivotRule::is_number(own) && pivot * own > 0.0 &&
            rule_.accepts(pivot, own, rule_.tolerance * std::abs(own))) {
            block[0] = 1.0 / pivot;
            smallest.take(pivot / own, grid_.row(cell));
        } else {
            invert_block(cell, diagonal, block, smallest, std::cref(of_row));
        }
    }
    /// Merges the ratio that invert has collected over some points.
    void note(const PivotRatio& smallest);

    /// Takes over the results of a factorisation that inverted its pivots without this object: how many pivots failed
    /// and how many were boosted, the first failure and the first boosts in natural order, and the smallest ratio.
    void adopt(Index failures, PivotEvent first_failure, Index boosts, std::vector<PivotEvent> first_boosts,
               const PivotRatio& smallest);
    void adopt(const PivotLog& log, const PivotRatio& smallest);

    /// The number of the first block row of those that a kernel counts from 0; adopt adds it to the rows of its log.
    void set_first_row(Index row) { first_row_ = row; }
    /// The number in the whole grid of a row that a kernel counts. What lies before the grid counts as its first row.
    Index row_of(Index counted) const { return std::max<Index>(0, first_row_ + counted); }
    Int3 cell(Index row) const { return grid_.point(row); }

    /// Makes counts, places and the smallest ratio those of all ranks, on every rank.
    void gather(const Context& context);

    Index failures() const { return failures_; }
    /// Whether pivots could not be used so far, or were boosted. Threads may still be at work.
    bool has_events() {
        const std::lock_guard lock(mutex_);
        return failures_ + boosts_ > 0;
    }
    /// Whether the first failure is a NaN or an infinity, for which no policy is a remedy.
    bool not_finite() const;
    /// Whether it is zero.
    bool is_zero() const;
    /// "the pivot at cell (1,2,3), component 0, is 0, ...": the first failure in natural order.
    std::string explain() const;
    /// Adds to a report the failures because of which the matrix is shifted: their number and the place of the first.
    void add_failures_to(SetupReport& report) const;
    /// Adds to a report the number and places of boosted pivots and the smallest ratio.
    void add_to(SetupReport& report) const;

private:
    void invert_block(Int3 cell, const double* diagonal, double* block, PivotRatio& smallest,
                      const std::function<double()>& of_row);
    void fail(PivotEvent event);
    /// The cell as it is called in the given order.
    Int3 given(Int3 cell) const { return order_ ? Int3{order_->given[cell.x], 0, 0} : cell; }

    PivotRules rules_;
    PivotRule rule_;
    Grid grid_;
    int dof_;
    Index first_row_ = 0;
    std::shared_ptr<const RowOrder> order_;
    std::mutex mutex_;
    Index failures_ = 0;
    PivotEvent first_failure_{};
    Index boosts_ = 0;
    std::vector<PivotEvent> boosted_;
    PivotRatio smallest_;
};

/// A log without events.
PivotLog empty_pivot_log();

/// Options for shift and pivots, from the keys shift, pivot_policy, pivot_tolerance and pivot_boost of a deck.
struct PivotOptions {
    double shift = 0.0;          ///< alpha >= 0: A + alpha diag(A) is factored; A itself is not changed
    bool shift_is_auto = false;  ///< Preconditioner::suggest_shift sets it
    PivotRules rules;

    void suggest_shift(double alpha) {
        if (shift_is_auto) shift = alpha;
    }
};
const ParameterTable& pivot_parameters();
PivotOptions pivot_options(const Parameters& parameters);

/// The grid of a matrix, or what stands for it if there are plain rows.
Grid places_of(const SystemMatrix& a);
/// The order of the rows of a general matrix, if it is not the given one; else null.
std::shared_ptr<const RowOrder> order_of(const SystemMatrix& a);

/// Factors A + alpha diag(A) by calling build(alpha, inverter) with alpha = shift. While pivots cannot be used and the
/// policy is `shift`, alpha grows and the factorisation is repeated. If the policy is `boost` and a general matrix has
/// zero blocks, the factorisation is repeated once, with `by_row` in inverter.rules(), which build must follow. Throws
/// SetupError if pivots still cannot be used; its message has `name`, the place of the first such pivot and `remark`;
/// and `of_signs`, advice about pivots of the wrong sign, unless that pivot is zero. The caller fills in factor_bytes
/// of the report.
SetupReport factor_with_policy(const SystemMatrix& a, const PivotRules& rules, double shift, const std::string& name,
                               const std::function<void(double alpha, PivotInverter& inverter)>& build,
                               const std::string& remark = "", const std::string& of_signs = "");

}  // namespace hyperplane
