// SPDX-License-Identifier: BSD-3-Clause
// The rows of a general matrix's factors that ranks on GPUs give each other: of earlier ranks' rows that a rank depends
// on, it has copies of the diagonal blocks and of what is above the diagonal in its columns
// (precond/general/pattern/rank_pattern.hpp).
#pragma once

#include <string>
#include <vector>

#include "core/device/context.hpp"
#include "core/grid/row_slab.hpp"
#include "core/ranks/nccl.hpp"
#include "precond/general/pattern/fill.hpp"

namespace hyperplane {

class FactorRowsCuda {
public:
    /// `filled`: of the rows of `slab`, in the host's memory. Both must exist as long as this object. `with_inverses`:
    /// whether the inverses of the diagonal blocks lie by row in a buffer of their own, beside the factors.
    FactorRowsCuda(const Context& context, const FilledPattern& filled, const RowSlab& slab, int dof,
                   bool with_inverses, const std::string& label);

    /// Receives the rows of earlier ranks, after these have given theirs.
    void take(double* values) const;
    /// Gives own rows to the later ranks that depend on them.
    void give(const double* values);
    /// Does both at the same time.
    void exchange(double* values, double* inverse);

    static Index bytes(const Context& context, const RowSlab& slab, int dof, bool with_inverses);

private:
    /// What a later rank needs: the places of blocks, own rows where inverses are given, and copies of both.
    struct Given {
        int rank;
        Buffer<Index> blocks, rows;
        Buffer<double> copy, inverses;
    };

    /// Where the rows of each earlier rank go, and their inverses behind them.
    std::vector<RankPart> taken(double* values, double* inverse) const;
    /// Copies of the own rows for each later rank, and of their inverses behind them.
    std::vector<RankPart> collected(const double* values, const double* inverse);

    Context context_;
    const FilledPattern& filled_;
    const RowSlab& slab_;
    Index size_;  ///< of a block
    std::vector<Given> given_;
};

}  // namespace hyperplane
