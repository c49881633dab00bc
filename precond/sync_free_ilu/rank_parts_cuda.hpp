// SPDX-License-Identifier: BSD-3-Clause
// subdomain_ildu0 of a general matrix on several ranks on GPUs, with the bits of one GPU: each rank factors and solves
// whole parts as one GPU does (precond/sync_free_ilu/rank_parts.hpp). Parts that lie on one rank exchange nothing.
#pragma once

#include <memory>
#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "precond/registry_row.hpp"
#include "precond/sync_free_ilu/rank_parts.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {

class RankPartsCuda final : public Preconditioner {
public:
    RankPartsCuda(const Context& context, const SyncFreeOptions& options) : context_(context), options_(options) {}

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    PreconditionerTraits traits() const override { return traits_of(options_, a_ && a_->symmetric()); }
    void apply(const Vector& r, Vector& z) const override;
    Index bytes_per_apply() const override { return ilu_->bytes_per_apply(); }
    static PreconditionerPlan plan(const SyncFreeOptions& options, const PreconditionerSetting& setting);
    static std::vector<KernelSet> kernels(const SyncFreeOptions& options, const PreconditionerSetting& setting);

private:
    /// Blocks of own rows of A that another rank factors, and a copy of them.
    struct Given {
        int rank;
        Buffer<Index> blocks;
        Buffer<double> copy;
    };
    /// Releases all that is for another pattern.
    void forget();
    /// The symbolic part. Returns the seconds that plans had taken to find what it takes over.
    double analyse(const BsrMatrix& a);
    /// Makes a_ the solved rows of A.
    void gather_rows(const BsrMatrix& a);
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter);
    /// Rounds the factors to a reduced storage; returns the events of all ranks, with the rows of the whole matrix.
    Rounding round(const BsrMatrix& a);

    Context context_;
    SyncFreeOptions options_;
    std::shared_ptr<const BlockPattern> served_;  ///< of the matrices that the symbolic part is for
    std::shared_ptr<const SolvedParts> parts_;
    RowSlab there_, back_;              ///< their exchanges
    std::unique_ptr<BsrMatrix> a_;      ///< of the solved rows
    std::unique_ptr<SyncFreeIlu> ilu_;  ///< its factors
    Buffer<Index> own_blocks_, own_rows_, result_;
    std::vector<Given> given_;
    mutable Vector r_, z_;  ///< of the solved rows, where cuts divide parts
};

}  // namespace hyperplane
