// SPDX-License-Identifier: BSD-3-Clause
// sync_free_ilu: ILU(k) or IC(k) of a general matrix in the order of its rows.
//
// Freire, Dufrechou and Ezzatti, A synchronization-free incomplete LU factorization for GPUs with level-set analysis. A
// set-up has two parts:
//
//     symbolic   the pattern of the fill level (precond/graph/fill.hpp) and the order in which rows are handed out;
//                both are kept as long as matrices have the same pattern
//     numeric    the factors; repeated if the pivot policy says so
//
// Factors in reduced precision are rounded after that, and those in double are released until the next set-up.
//
// On a CPU the rows of a level are shared by the threads (precond/general/solves/row_walk.hpp). On a GPU rows are
// handed out in the order of their levels, and wait for each other (precond/general/solves/waiting.cuh); the solves
// read a copy of the factors in that order (precond/general/orders/slices.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/interfaces/linear_operator.hpp"
#include "precond/counted.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/storage.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/factors/reduced_rows.hpp"
#include "precond/general/solves/solve_way.hpp"
#include "precond/row.hpp"
#include "precond/subdomain_variant.hpp"
#include "precond/sync_free_ilu/symbolic.hpp"
#include "precond/tells_solve_way.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"

namespace hyperplane {

class FixedPointCuda;
struct GpuPattern;
class PartSolve;
class RoundedFactors;
class SlicedSolve;
class SweptFactors;
class SyncFreeCuda;

struct SyncFreeOptions {
    int fill_level = 0;
    PivotOptions pivots;
    FactorStorage storage = FactorStorage::double_precision;  ///< reduced ones without `sweeps`
    FactorVariant variant = FactorVariant::automatic;         ///< on a GPU
    SolveWay way = SolveWay::automatic;                       ///< of the solves, unless sweeps or parts replace them
    std::string name = "sync_free_ilu";                       ///< of the preconditioner, in messages
    std::optional<SweepOptions> sweeps;                       ///< Jacobi sweeps in place of the solves
    int fixed_point_sweeps = 0;                               ///< in place of the elimination; 0: the elimination
    std::optional<PartOptions> parts;                         ///< couplings between parts of the rows are left out
    SubdomainVariant part_variant = SubdomainVariant::level;  ///< how a GPU solves the parts
};

PreconditionerTraits traits_of(const SyncFreeOptions& options, bool symmetric);
/// Returns what the message about a pivot adds: that the factors come from sweeps, and what to do about an indefinite
/// matrix.
std::string remark_on_pivots(const SyncFreeOptions& options, bool symmetric);
/// Enters in the report what was met when the factors of `a` were rounded. Throws SetupError, with the row, if a value
/// did not fit.
void judge_rounding(const Rounding& met, const BsrMatrix& a, const SyncFreeOptions& options, SetupReport& report);
/// The sweeps of a set-up and of an application with these factors.
SweepCounts sweep_counts(const SyncFreeOptions& options, const GeneralFactors& factors);

class SyncFreeIlu : public Preconditioner, public HasLduFactors, public TellsSolveWay {
public:
    SyncFreeIlu(const Context& context, const SyncFreeOptions& options);
    ~SyncFreeIlu() override;

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return traits_of(options_, factors_.symmetric); }
    SweepCounts sweeps() const override { return sweep_counts(options_, factors_); }
    void set_setup_sweeps(int count) override {
        if (options_.fixed_point_sweeps > 0) options_.fixed_point_sweeps = count;
    }
    Index bytes_per_apply() const override;
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;
    /// The parts of setup, for those who decide about pivots: the symbolic part, the factors of A + alpha diag(A), and
    /// what solves with a copy of them takes it over.
    void analyse(const BsrMatrix& a);
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter);
    void hand_on();
    /// The numeric part alone.
    NumericSetup numeric_setup(const SystemMatrix& matrix) override;

    const GeneralFactors& factors() const { return factors_; }
    LduFactors ldu() const override;
    std::string solve_way() const override;

    static PreconditionerPlan plan(const SyncFreeOptions& options, const PreconditionerSetting& setting);
    /// What NVRTC compiles on a GPU.
    static std::vector<KernelSet> kernels(const SyncFreeOptions& options, const PreconditionerSetting& setting);

private:
    /// The places of the factors' diagonal blocks, in their memory.
    const Buffer<Index>& diagonals() const;
    /// The pattern of the factors; on a GPU gpu_pattern_, too.
    Symbolic analysed_pattern(const BsrMatrix& a);
    /// Allocates what a numeric part computes with, where it is not there.
    void allocate_values();
    SetupReport factorise(const BsrMatrix& a);
    /// Rounds the factors to the storage, and releases those in double.
    void round(const BsrMatrix& a, SetupReport& report);
    /// The factors in reduced precision that solves compute with, as factors with unit triangles.
    GeneralFactors widened() const;

    Context context_;
    SyncFreeOptions options_;
    std::shared_ptr<const BlockPattern> served_;  ///< of the matrices that the symbolic part is for
    double symbolic_seconds_ = 0.0;
    GeneralFactors factors_;
    GraphParts parts_;       ///< of options_.parts
    RowWalk lower_, upper_;  ///< on a CPU
    general_cpu::FixedPointScratch scratch_;
    std::unique_ptr<ReducedRows> reduced_;     ///< on a CPU in reduced precision, in place of the factors' values
    std::unique_ptr<RoundedFactors> rounded_;  ///< on a GPU, until the solves have taken them over
    std::unique_ptr<SweptFactors> swept_;
    std::unique_ptr<GpuPattern> gpu_pattern_;  ///< on a GPU
    std::unique_ptr<SyncFreeCuda> cuda_;  ///< on a GPU, unless fixed-point sweeps take the place of the elimination
    std::unique_ptr<FixedPointCuda> fixed_point_;  ///< on a GPU, in its place
    std::unique_ptr<SlicedSolve> sliced_;          ///< on a GPU, unless sweeps or parts take the place of the solves
    std::unique_ptr<PartSolve> part_solve_;        ///< on a GPU, of options_.parts, unless there are sweeps
};

PreconditionerRow sync_free_ilu_row();

/// What to do about a pivot of a symmetric matrix that is not positive enough, for the message of preconditioner
/// `name`; empty if the matrix is not symmetric or its pivots may have either sign.
std::string advice_if_indefinite(bool symmetric, const PivotRules& rules, const std::string& name);

/// The preconditioner with these options and its plan; of several ranks, with the couplings that the deck's scope, if
/// it has one, asks for.
std::unique_ptr<Preconditioner> make_general_ilu(const SyncFreeOptions& options, const Parameters& parameters,
                                                 const PreconditionerSetting& setting);
PreconditionerPlan plan_general_ilu(const SyncFreeOptions& options, const Parameters& parameters,
                                    const PreconditionerSetting& setting);
/// Whether rows depend on rows of other ranks.
bool couples_ranks(const Parameters& parameters, const PreconditionerSetting& setting);
/// What NVRTC compiles for it on a GPU.
std::vector<KernelSet> kernels_of_general_ilu(const SyncFreeOptions& options, const Parameters& parameters,
                                              const PreconditionerSetting& setting);

/// The memory of values of so many rows and blocks, with what sweeps need: what is held, and what a set-up holds
/// besides.
struct ValueBytes {
    Index held, in_setup;
};
ValueBytes bytes_of_values(const SyncFreeOptions& options, const BlockCounts& factors, Backend backend);
/// The factors alone, once each.
Index bytes_of_factors(FactorStorage storage, const BlockCounts& factors);
/// The memory of factors (precond/counted.hpp).
CountedPlan by_counts(const SyncFreeOptions& options, const Context& context, const BlockCounts& a);
/// The same with the deck's keys of each preconditioner.
CountedPlan sync_free_ilu_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a);
CountedPlan jacobi_sweeps_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a);
CountedPlan par_ilu_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a);
CountedPlan subdomain_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a);

/// The preconditioners `jacobi_sweeps`, `par_ilu` and `subdomain_ildu0` of matrices on a grid, which take general ones,
/// too: these are served with the same keys by the factors of this family. Only the size of subdomains has other keys.
PreconditionerRow with_general_sweeps(PreconditionerRow jacobi_sweeps);
PreconditionerRow with_general_fixed_point(PreconditionerRow par_ilu);
PreconditionerRow with_general_parts(PreconditionerRow subdomain_ildu0);

}  // namespace hyperplane
