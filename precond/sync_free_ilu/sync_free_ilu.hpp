// SPDX-License-Identifier: BSD-3-Clause
// sync_free_ilu: ILU(k) or IC(k) of a general matrix in the order of its rows.
//
// Freire, Dufrechou and Ezzatti, A synchronization-free incomplete LU factorization for GPUs with level-set analysis. A
// set-up has two parts:
//
//     symbolic   the pattern of the fill level (precond/general/pattern/fill.hpp) and the order in which rows are
//                handed out; both are kept as long as matrices have the same pattern
//     numeric    the factors; repeated if the pivot policy says so
//
// Factors in reduced precision are rounded after that, and those in double are released until the next set-up.
//
// On a CPU the rows of a level are shared by the threads (precond/general/solves/row_walk.hpp). On a GPU rows are
// handed out in the order of their levels, and wait for each other (precond/general/solves/waiting.cuh); the solves
// read a copy of the factors in that order (precond/general/orders/slices.hpp).
//
// On several ranks, each of which has some rows, all couplings between them are kept, also those of fill, so that
// factors and solves have the bits of one rank. A rank's factors lie in the order of the slots in memory
// (precond/general/pattern/rank_pattern.hpp): of earlier ranks' rows that its own rows depend on, it has a copy of the
// diagonal block and of what is above the diagonal in its columns; then come its own rows. So the loops and kernels of
// one rank compute them. On CPUs an elimination and exact solves go stage by stage
// (precond/general/solves/rank_stages.hpp). On GPUs ranks factor one after the other, and in exact solves they work at
// the same time (precond/general/solves/between_ranks.hpp). Sweeps exchange between them what the next one reads.
#pragma once

#include <memory>
#include <string>

#include "precond/factors/ldu.hpp"
#include "precond/general/solves/general_solve.hpp"
#include "precond/general/solves/rank_stages.hpp"
#include "precond/registry_row.hpp"
#include "precond/sync_free_ilu/general_ilu.hpp"

namespace hyperplane {

class FactorRowsCuda;
class FixedPointCuda;
struct GpuPattern;
class SyncFreeCuda;

class SyncFreeIlu final : public GeneralIlu, public HasLduFactors {
public:
    SyncFreeIlu(const Context& context, const SyncFreeOptions& options);
    ~SyncFreeIlu() override;

    void apply(const Vector& r, Vector& z) const override { solve_->apply(r, z); }
    Index bytes_per_apply() const override { return solve_->bytes_per_apply(); }
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;
    /// The numeric part alone.
    NumericSetup numeric_setup(const SystemMatrix& matrix) override;
    /// A rank that shares rows with others has not all factors.
    bool has_ldu() const override { return !options_.couples_ranks; }
    LduFactors ldu() const override;
    std::string solve_way() const override { return solve_ ? solve_->way() : ""; }
    /// Steps of a set-up, for those who decide about pivots.
    void prepare(const BsrMatrix& a) override;
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) override;
    void hand_on() override;
    Index factor_bytes() const override;

    static PreconditionerPlan plan(const SyncFreeOptions& options, const PreconditionerSetting& setting);
    /// What NVRTC compiles on a GPU.
    static std::vector<KernelSet> kernels(const SyncFreeOptions& options, const PreconditionerSetting& setting);

private:
    void forget() override;
    void find_pattern(const BsrMatrix& a) override;
    Rounding rounded(const BsrMatrix& a) override { return solve_->round(factors_, a); }
    /// The places of the factors' diagonal blocks, in their memory.
    const Buffer<Index>& diagonals() const;
    /// The pattern of the factors; on a GPU gpu_pattern_, too.
    Symbolic analysed_pattern(const BsrMatrix& a);
    /// What computes the factors, and what solves with them.
    void make_for_gpu(const BsrMatrix& a, Symbolic& symbolic);
    void make_for_host(const BsrMatrix& a);
    /// Brings rows of other ranks up to date between fixed-point sweeps, if there are such.
    general_cpu::ShareRows share_rows();

    GraphParts parts_;                         ///< of options_.parts
    std::shared_ptr<const RowSlab> slab_;      ///< of the factors, where ranks are coupled
    RowWalk lower_;                            ///< of an elimination on a CPU
    RankStages stages_;                        ///< in its place, where ranks are coupled
    std::unique_ptr<GpuPattern> gpu_pattern_;  ///< on a GPU
    std::unique_ptr<FactorRowsCuda> between_;  ///< on a GPU, where ranks are coupled
    std::unique_ptr<SyncFreeCuda> cuda_;  ///< on a GPU, unless fixed-point sweeps take the place of the elimination
    std::unique_ptr<FixedPointCuda> fixed_point_;  ///< on a GPU, in its place
    std::unique_ptr<GeneralSolve> solve_;
};

PreconditionerRow sync_free_ilu_row();

/// The options that a deck gives for a general matrix.
using ReadOptions = SyncFreeOptions (*)(const Parameters&, const PreconditionerSetting&);
/// `row`, which may be for matrices on a grid, with this family for general ones.
PreconditionerRow with_general(PreconditionerRow row, ReadOptions read);
/// Whether rows depend on rows of other ranks.
bool couples_ranks(const Parameters& parameters, const PreconditionerSetting& setting);

/// The preconditioners `jacobi_sweeps`, `par_ilu` and `subdomain_ildu0` of matrices on a grid, which take general ones,
/// too: these are served with the same keys by the factors of this family. Only the size of subdomains has other keys.
PreconditionerRow with_general_sweeps(PreconditionerRow jacobi_sweeps);
PreconditionerRow with_general_fixed_point(PreconditionerRow par_ilu);
PreconditionerRow with_general_parts(PreconditionerRow subdomain_ildu0);

}  // namespace hyperplane
