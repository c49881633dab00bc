// SPDX-License-Identifier: BSD-3-Clause
// The rows of blocks that a sweep over factors reads on a GPU, for precond/par_ilu/staged_copies.cuh.
#pragma once

#include <vector>

#include "core/device/rtc.hpp"
#include "precond/par_ilu/sweeps_cuda.hpp"

namespace hyperplane {

class FactorSweepRows {
public:
    explicit FactorSweepRows(const IluPattern& shape);

    /// Blocks of six or eight unknowns in the hyperplane layout, stencils whose pairs share much of what they read,
    /// whose factors W fit registers and whose rows fit shared memory.
    bool serves() const;
    rtc::Definitions definitions() const;
    Index shared_bytes() const;
    static constexpr unsigned threads = 32 * (8 + 2 + 2);  ///< precond/par_ilu/staged_copies.cuh's
    static constexpr int planes = 2;                       ///< of a run

private:
    enum Kind { lower, inverse, upper };
    struct Term {
        int l, e, shift;  ///< e: -1 where W is made
    };
    struct Row {
        Kind kind;
        int values, from, span;
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
    std::vector<int> first_term_, last_term_, finished_;  ///< of an entry; entries with A's as they are completed
};

}  // namespace hyperplane
