// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps in place of both solves with a rank's rows of factors (precond/general/sweeps/swept.hpp), on any
// backend. Each sweep but the first exchanges the halo that the factors have, which may be another one than that of the
// vectors.
#pragma once

#include <memory>
#include <string>

#include "precond/general/sweeps/swept.hpp"

namespace hyperplane {

class RankSweeps {
public:
    /// `slab`: the rows of the factors; `of_vectors`: that of the vectors. If they are two, sweeps have
    /// vectors of their own. All ranks must call it.
    RankSweeps(const Context& context, const GeneralFactors& factors, std::shared_ptr<const RowSlab> slab,
               const RowSlab& of_vectors, const SweepOptions& options, const std::string& label);

    /// Takes over new values of the factors; `name`: the preconditioner, in messages.
    void take(const GeneralFactors& factors, const std::string& name) { swept_->take(factors, name); }
    void apply(const Vector& r, Vector& z) const;

    /// What it holds, and what a set-up needs besides: sweeps are tried with two vectors before they are used.
    static Index bytes(const FilledPattern& filled, const std::shared_ptr<const RowSlab>& slab,
                       const RowSlab& of_vectors, int dof, Backend backend);
    static Index setup_bytes(const std::shared_ptr<const RowSlab>& slab, int dof);

private:
    std::unique_ptr<SweptFactors> swept_;
    mutable Vector r_, z_;  ///< where the factors' halo is not that of the vectors
};

}  // namespace hyperplane
