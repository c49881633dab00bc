// SPDX-License-Identifier: BSD-3-Clause
// The pivots of a factorisation, recorded in the memory of its backend by loops or kernels.
#pragma once

#include "precond/factors/pivots.hpp"

namespace hyperplane {

/// The log of pivots that cannot be used, and the smallest ratio of a pivot to A's diagonal in each of several parts,
/// such as tiles.
class PivotRecord {
public:
    PivotRecord(const Context& context, Index parts) : log_(context, label, 1), ratios_(context, label, parts) {}

    PivotLog* log() { return log_.data(); }
    PivotRatio* ratios() { return ratios_.data(); }  ///< [part]
    /// Removes the events; where kernels compare with ratios instead of setting them, these must be removed, too.
    void clear_log();
    void clear_ratios();
    /// Hands events and the smallest ratio, that of all parts and `other`, to an inverter.
    void report(PivotInverter& inverter, PivotRatio other = {}) const;

    static Index bytes(Index parts) { return parts * Index(sizeof(PivotRatio)) + Index(sizeof(PivotLog)); }

private:
    static constexpr const char* label = "preconditioner: pivots";
    Buffer<PivotLog> log_;
    Buffer<PivotRatio> ratios_;
};

}  // namespace hyperplane
