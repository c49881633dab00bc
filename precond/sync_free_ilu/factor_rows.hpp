// SPDX-License-Identifier: BSD-3-Clause
// Rows of factors as messages between ranks on CPUs (precond/general/solves/rank_stages.hpp): the inverse of the
// diagonal block, then what the receiver has above the diagonal.
#pragma once

#include <algorithm>
#include <vector>

#include "precond/general/factors/factors.hpp"
#include "precond/general/solves/rank_stages.hpp"

namespace hyperplane {

class FactorRows {
public:
    /// `inverse`: the inverses by row; null if they are where the factors have their diagonal blocks.
    FactorRows(const GeneralFactors& factors, double* values, double* inverse)
        : f_(factors), size_(Index(f_.dof) * f_.dof), values_(values), inverse_(inverse) {}

    Index size(const RankStages::Exchange& from, Index at) const {
        const Index* const begin = f_.pattern().row_begin() + from.rows[at];
        return (begin[1] - begin[0]) * size_;
    }
    void take(const RankStages::Exchange& from, Index at, const double* message) const {
        const int row = from.rows[at];
        std::copy_n(message, size(from, at), values_ + f_.filled.diagonal[row] * size_);
        std::copy_n(message, size_, diagonal(row));
    }
    void give(const RankStages::Exchange& to, Index at, std::vector<double>& message) const {
        const auto add = [&](const double* block) { message.insert(message.end(), block, block + size_); };
        const int row = to.rows[at], first = int(f_.filled.first);
        add(diagonal(row));
        const RowSlab::Columns& upper = to.with->upper;
        for (Index j = upper.begin[to.at[at]]; j < upper.begin[to.at[at] + 1]; ++j)
            add(values_ + f_.pattern().find(row, upper.column[j] + first) * size_);
    }

private:
    double* diagonal(int row) const {
        return inverse_ ? inverse_ + row * size_ : values_ + f_.filled.diagonal[row] * size_;
    }

    const GeneralFactors& f_;
    Index size_;
    double *values_, *inverse_;
};

}  // namespace hyperplane
