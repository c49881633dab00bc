// SPDX-License-Identifier: BSD-3-Clause
// The exact solves of a rank with its rows of factors that are coupled between ranks, stage by stage (rank_stages.hpp).
// They have the bits of one rank.
#pragma once

#include <memory>

#include "precond/general/solves/general_solve.hpp"
#include "precond/general/solves/rank_stages.hpp"
#include "precond/general/solves/staged_triangle.hpp"

namespace hyperplane {

class RankSolve final : public GeneralSolve {
public:
    /// `factors`: of the rows of `slab`, as precond/general/pattern/rank_pattern.hpp describes them, with a pattern but
    /// yet without values that count. `lower`: the order in which the own rows are factored, which must exist as long
    /// as this object. `of_vectors`: the slab of the vectors; if it is another one, solves are made in a vector of
    /// their own. All ranks must call it.
    RankSolve(const Context& context, const GeneralFactors& factors, std::shared_ptr<const RowSlab> slab,
              const RowSlab& of_vectors, const RankStages& lower, const std::string& label,
              FactorStorage storage = FactorStorage::double_precision);
    void take(const GeneralFactors& factors, const std::string& name) override;
    Rounding round(const GeneralFactors& factors, const BsrMatrix& a) override;
    void apply(const Vector& r, Vector& z) const override;
    Index bytes_per_apply() const override { return bytes_per_apply_; }

    /// Returns the bytes that it holds besides `lower`.
    static Index bytes(const FilledPattern& filled, const std::shared_ptr<const RowSlab>& slab,
                       const RowSlab& of_vectors, int dof, FactorStorage storage = FactorStorage::double_precision);

private:
    void solve(const double* r, double* z) const;

    Context context_;
    std::shared_ptr<const RowSlab> slab_;
    int dof_;
    Index bytes_per_apply_;
    const RankStages& lower_;
    RankStages upper_;
    StagedTriangle l_, u_;
    mutable Vector z_;  ///< where the factors' halo is not that of the vectors
};

}  // namespace hyperplane
