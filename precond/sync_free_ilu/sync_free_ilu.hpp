// SPDX-License-Identifier: BSD-3-Clause
// sync_free_ilu: ILU(k) or IC(k) of a general matrix in the order of its rows.
//
// Freire, Dufrechou and Ezzatti, A synchronization-free incomplete LU factorization for GPUs with level-set analysis. A
// set-up has two parts:
//
//     symbolic   the pattern of the fill level (precond/general/pattern/fill.hpp) and the order in which rows are
//     handed out;
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
#include <string>

#include "precond/counted.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/factors/stored_values.hpp"
#include "precond/general/solves/row_walk.hpp"
#include "precond/row.hpp"
#include "precond/sync_free_ilu/general_ilu.hpp"
#include "precond/tells_solve_way.hpp"

namespace hyperplane {

class FixedPointCuda;
struct GpuPattern;
class PartSolve;
class RoundedFactors;
class SlicedSolve;
class SweptFactors;
class SyncFreeCuda;

class SyncFreeIlu final : public GeneralIlu, public HasLduFactors, public TellsSolveWay {
public:
    SyncFreeIlu(const Context& context, const SyncFreeOptions& options);
    ~SyncFreeIlu() override;

    void apply(const Vector& r, Vector& z) const override;
    Index bytes_per_apply() const override;
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;
    /// The numeric part alone.
    NumericSetup numeric_setup(const SystemMatrix& matrix) override;
    LduFactors ldu() const override;
    std::string solve_way() const override;
    /// Steps of a set-up, for those who decide about pivots.
    void prepare(const BsrMatrix& a) override;
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) override;
    void hand_on() override;

    static PreconditionerPlan plan(const SyncFreeOptions& options, const PreconditionerSetting& setting);
    /// What NVRTC compiles on a GPU.
    static std::vector<KernelSet> kernels(const SyncFreeOptions& options, const PreconditionerSetting& setting);

private:
    void forget() override;
    void find_pattern(const BsrMatrix& a) override;
    Rounding rounded(const BsrMatrix& a) override;
    /// The places of the factors' diagonal blocks, in their memory.
    const Buffer<Index>& diagonals() const;
    /// The pattern of the factors; on a GPU gpu_pattern_, too.
    Symbolic analysed_pattern(const BsrMatrix& a);
    /// Null in double.
    const StoredValues* reduced() const { return is_reduced(options_.storage) ? &reduced_ : nullptr; }
    /// The factors in reduced precision that solves compute with, as factors with unit triangles.
    GeneralFactors widened() const;

    GraphParts parts_;                         ///< of options_.parts
    RowWalk lower_, upper_;                    ///< on a CPU
    StoredValues reduced_;                     ///< on a CPU in reduced precision, in place of the factors' values
    std::unique_ptr<RoundedFactors> rounded_;  ///< on a GPU, until the solves have taken them over
    std::unique_ptr<SweptFactors> swept_;
    std::unique_ptr<GpuPattern> gpu_pattern_;  ///< on a GPU
    std::unique_ptr<SyncFreeCuda> cuda_;  ///< on a GPU, unless fixed-point sweeps take the place of the elimination
    std::unique_ptr<FixedPointCuda> fixed_point_;  ///< on a GPU, in its place
    std::unique_ptr<SlicedSolve> sliced_;          ///< on a GPU, unless sweeps or parts take the place of the solves
    std::unique_ptr<PartSolve> part_solve_;        ///< on a GPU, of options_.parts, unless there are sweeps
};

PreconditionerRow sync_free_ilu_row();

/// The options that a deck gives for a general matrix.
using ReadOptions = SyncFreeOptions (*)(const Parameters&, const PreconditionerSetting&);
/// `row`, which may be for matrices on a grid, with this family for general ones.
PreconditionerRow with_general(PreconditionerRow row, ReadOptions read);
/// Whether rows depend on rows of other ranks.
bool couples_ranks(const Parameters& parameters, const PreconditionerSetting& setting);

/// The memory of factors (precond/counted.hpp), with the deck's keys of each preconditioner.
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
