// SPDX-License-Identifier: BSD-3-Clause
// subdomain_ildu0 of a general matrix on several ranks on GPUs, with the bits of one GPU: each rank factors and solves
// whole parts as one GPU does (precond/sync_free_ilu/rank_parts.hpp). Parts that lie on one rank exchange nothing.
#pragma once

#include <memory>
#include <vector>

#include "precond/registry_row.hpp"
#include "precond/sync_free_ilu/rank_parts.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {

class RankPartsCuda final : public GeneralIlu {
public:
    RankPartsCuda(const Context& context, const SyncFreeOptions& options) : GeneralIlu(context, options) {}

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
    void forget() override;
    void find_pattern(const BsrMatrix& a) override;
    /// Makes a_ the solved rows of A.
    void prepare(const BsrMatrix& a) override;
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) override;
    Rounding rounded(const BsrMatrix& a) override;
    void hand_on() override { ilu_->hand_on(); }
    Index factor_bytes() const override { return ilu_->factor_bytes(); }

    std::shared_ptr<const SolvedParts> parts_;
    RowSlab there_, back_;              ///< their exchanges
    std::unique_ptr<BsrMatrix> a_;      ///< of the solved rows
    std::unique_ptr<SyncFreeIlu> ilu_;  ///< its factors
    Buffer<Index> own_blocks_, own_rows_, result_;
    std::vector<Given> given_;
    mutable Vector r_, z_;  ///< of the solved rows, where cuts divide parts
};

}  // namespace hyperplane
