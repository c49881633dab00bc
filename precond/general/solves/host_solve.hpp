// SPDX-License-Identifier: BSD-3-Clause
// Exact solves with factors in the host's memory, in the order of walks over their rows (row_walk.hpp).
#pragma once

#include <utility>

#include "precond/factors/stored_values.hpp"
#include "precond/general/solves/general_solve.hpp"
#include "precond/general/solves/row_walk.hpp"

namespace hyperplane {

class HostSolve final : public GeneralSolve {
public:
    /// `factors` and the walk over their lower triangle, which an elimination may share, must exist as long as this
    /// object. In double the solves read the factors themselves.
    HostSolve(const Context& context, const GeneralFactors& factors, const RowWalk& lower, RowWalk upper,
              FactorStorage storage)
        : context_(context), factors_(factors), lower_(lower), upper_(std::move(upper)), storage_(storage) {}

    void take(const GeneralFactors& /*factors*/, const std::string& /*name*/) override {}
    Rounding round(const GeneralFactors& factors, const BsrMatrix& a) override;
    void apply(const Vector& r, Vector& z) const override;
    Index bytes_per_apply() const override;
    std::string way() const override;
    GeneralFactors widened(const GeneralFactors& shape) const override;

private:
    Context context_;
    const GeneralFactors& factors_;
    const RowWalk& lower_;
    RowWalk upper_;
    FactorStorage storage_;
    StoredValues reduced_;  ///< in place of the factors' values
};

}  // namespace hyperplane
