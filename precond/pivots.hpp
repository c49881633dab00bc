// Pivots: when one cannot be used, what a policy does about it, and where it was.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "core/linear_operator.hpp"
#include "core/struct_matrix.hpp"

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
    void invert(Int3 cell, const double* diagonal, double* block);

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
    /// Smallest |pivot| / |diagonal of A| met, at the first such row.
    struct Smallest {
        std::atomic<double> ratio{1.0};
        std::atomic<Index> row{0};
        bool beats(double other, Index at) const { return other > ratio || (other == ratio && at >= row); }
    };

    void fail(PivotEvent event);
    void note_ratio(double ratio, Index row);

    PivotRules rules_;
    Grid grid_;
    int dof_;
    bool definite_;
    std::mutex mutex_;
    Index failures_ = 0;
    PivotEvent first_failure_{};
    std::vector<PivotEvent> boosted_;
    Smallest smallest_;
};

}  // namespace hyperplane
