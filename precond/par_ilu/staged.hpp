// SPDX-License-Identifier: BSD-3-Clause
// The copies to shared memory of a staged sweep on a GPU (precond/par_ilu/staged_copies.cuh). A `Row` is one such copy:
// the blocks of one entry at the points of a run and in the planes beside it.
#pragma once

#include <vector>

#include "core/device/rtc.hpp"
#include "precond/par_ilu/sweeps_cuda.hpp"

namespace hyperplane {

/// Bytes of shared memory that a thread block of a sweep may take.
inline constexpr Index factor_sweep_shared_limit = 220 * 1024;

class FactorSweepRows {
public:
    explicit FactorSweepRows(const IluPattern& shape);

    /// Whether a sweep can be staged: for six or eight unknowns a point in the hyperplane layout, and for stencils
    /// whose pairs share much of what they read, whose blocks W fit in registers, and whose copies fit in shared
    /// memory.
    bool serves() const;
    rtc::Definitions definitions() const;
    Index shared_bytes() const;
    static constexpr unsigned threads = 32 * (8 + 2 + 2);  ///< as in precond/par_ilu/staged_copies.cuh
    static constexpr int planes = 2;                       ///< planes of a run

private:
    enum Kind { lower, inverse, upper };
    struct Term {
        int l, e, shift;  ///< e is -1 in terms that compute W
    };
    struct Row {
        Kind kind;
        int values, from, span;  ///< the entry copied; the entry at whose offset the row begins; additional planes
        std::vector<Term> terms;
    };

    void add_factors();
    void add_pairs();
    int most_span() const;
    Index doubles_but_rows() const;
    Index row_doubles() const;
    int ring() const;

    IluPattern shape_;
    std::vector<Row> rows_;
    std::vector<int> first_term_, last_term_, finished_;  ///< of each entry; entries that A has, in order of completion
};

}  // namespace hyperplane
