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

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/solves/general_solve.hpp"
#include "precond/general/solves/rank_stages.hpp"
#include "precond/registry_row.hpp"
#include "precond/sync_free_ilu/options.hpp"
#include "precond/sync_free_ilu/symbolic.hpp"

namespace hyperplane {

class FactorRowsCuda;
class FixedPointCuda;
struct GpuPattern;
class SyncFreeCuda;

class SyncFreeIlu final : public Preconditioner, public HasLduFactors {
public:
    SyncFreeIlu(const Context& context, const SyncFreeOptions& options);
    ~SyncFreeIlu() override;

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override { solve_->apply(r, z); }
    Index bytes_per_apply() const override { return solve_->bytes_per_apply(); }
    PreconditionerTraits traits() const override { return traits_of(options_, factors_.symmetric); }
    SweepCounts sweeps() const override;
    void set_setup_sweeps(int count) override {
        if (options_.fixed_point_sweeps > 0) options_.fixed_point_sweeps = count;
    }
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;
    /// The numeric part alone.
    NumericSetup numeric_setup(const SystemMatrix& matrix) override;
    /// A rank that shares rows with others has not all factors.
    bool has_ldu() const override { return !options_.couples_ranks; }
    LduFactors ldu() const override;
    std::string solve_way() const override { return solve_ ? solve_->way() : ""; }
    const GeneralFactors& factors() const { return factors_; }
    /// What the factors and their pattern take.
    Index factor_bytes() const;

    // The steps of a set-up, for those who decide about pivots themselves.

    /// The symbolic part.
    void analyse(const BsrMatrix& a);
    /// Seconds that plans had taken to find what the last symbolic part took over.
    double planned_seconds() const { return planned_seconds_; }
    /// Allocates what a numeric part computes with, where it is not there.
    void allocate_values();
    /// The factors of A + alpha diag(A).
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter);
    /// Rounds the factors of `a` to a reduced storage and releases those in double; returns the events of all ranks
    /// that share its rows.
    Rounding round(const BsrMatrix& a);
    /// Gives the factors to the solves, which may have a copy of them.
    void hand_on();

    static PreconditionerPlan plan(const SyncFreeOptions& options, const PreconditionerSetting& setting);
    /// What NVRTC compiles on a GPU.
    static std::vector<KernelSet> kernels(const SyncFreeOptions& options, const PreconditionerSetting& setting);

private:
    /// The numeric part.
    SetupReport compute(const BsrMatrix& a);
    /// Releases all that is for another pattern.
    void forget();
    /// The places of the factors' diagonal blocks, in their memory.
    const Buffer<Index>& diagonals() const;
    /// The pattern of the factors; on a GPU gpu_pattern_, too.
    Symbolic analysed_pattern(const BsrMatrix& a);
    /// What computes the factors, and what solves with them.
    void make_for_gpu(const BsrMatrix& a, Symbolic& symbolic);
    void make_for_host(const BsrMatrix& a);
    /// Brings rows of other ranks up to date between fixed-point sweeps, if there are such.
    general_cpu::ShareRows share_rows();

    Context context_;
    SyncFreeOptions options_;
    GeneralFactors factors_;
    general_cpu::FixedPointScratch scratch_;
    std::shared_ptr<const BlockPattern> served_;  ///< of the matrices that the symbolic part is for
    double symbolic_seconds_ = 0.0;               ///< of the last symbolic part; 0 where the one before served
    double planned_seconds_ = 0.0;
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

/// The symbolic part for `a`, a matrix or its shape.
template <class Matrix>
SymbolicKey key_of(const SyncFreeOptions& options, const Matrix& a, AcrossRanks ranks) {
    return {a.pattern(), a.dof(), options.fill_level, options.parts, a.symmetric(), ranks};
}
template <class Matrix>
SymbolicKey key_of(const SyncFreeOptions& options, const Matrix& a) {
    return key_of(options, a, options.couples_ranks ? AcrossRanks::by_row : AcrossRanks::none);
}

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
