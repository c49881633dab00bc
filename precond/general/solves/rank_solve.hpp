// SPDX-License-Identifier: BSD-3-Clause
// The solves of a rank with its rows of factors that are coupled between ranks: exact ones stage by stage
// (rank_stages.hpp), or Jacobi sweeps. They have the bits of one rank.
#pragma once

#include <memory>
#include <optional>

#include "precond/general/solves/rank_stages.hpp"
#include "precond/general/solves/staged_triangle.hpp"
#include "precond/general/sweeps/rank_sweeps.hpp"

namespace hyperplane {

class RankSolve {
public:
    /// `factors`: of the rows of `slab`, as rank_pattern.hpp describes them, with a pattern but yet without values that
    /// count. `of_vectors`: the slab of the vectors; if it is another one, solves are made in a vector of their own.
    /// All ranks must call it.
    RankSolve(const Context& context, const GeneralFactors& factors, std::shared_ptr<const RowSlab> slab,
              const RowSlab& of_vectors, const std::optional<SweepOptions>& sweeps, const std::string& label,
              FactorStorage storage = FactorStorage::double_precision);
    /// Takes over new values of the factors; `name`: the preconditioner, in messages.
    void take(const GeneralFactors& factors, const std::string& name);
    /// The same in reduced precision, of the factors of `a`; returns the events of all ranks.
    Rounding round(const GeneralFactors& factors, const BsrMatrix& a);
    void apply(const Vector& r, Vector& z) const;
    /// The order in which the own rows are factored.
    const RankStages& lower() const { return lower_; }
    Index bytes_per_apply() const { return bytes_per_apply_; }

    /// What it holds, and the bytes of an application.
    static Index bytes(const FilledPattern& filled, const std::shared_ptr<const RowSlab>& slab,
                       const RowSlab& of_vectors, const std::optional<SweepOptions>& sweeps, int dof,
                       FactorStorage storage = FactorStorage::double_precision);
    static Index bytes_per_apply(const FilledPattern& filled, const RowSlab& slab,
                                 const std::optional<SweepOptions>& sweeps, int dof,
                                 FactorStorage storage = FactorStorage::double_precision);

private:
    void solve(const double* r, double* z) const;

    Context context_;
    std::shared_ptr<const RowSlab> slab_;
    int dof_;
    Index bytes_per_apply_;
    RankStages lower_, upper_;
    StagedTriangle l_, u_;  ///< unless there are sweeps
    std::unique_ptr<RankSweeps> swept_;
    mutable Vector z_;  ///< of exact solves, where the factors' halo is not that of the vectors
};

}  // namespace hyperplane
