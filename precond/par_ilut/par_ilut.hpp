// SPDX-License-Identifier: BSD-3-Clause
// par_ilut: incomplete factors of a general matrix whose pattern follows from the values.
//
// Anzt, Chow and Dongarra, ParILUT: a new parallel threshold ILU factorization, SIAM J. Sci. Comput. 40, 2018; Anzt,
// Ribizel, Flegar, Chow and Dongarra, ParILUT: a parallel threshold ILU for GPUs, IPDPS 2019. Beginning with X = A on
// the pattern of A, a round
//
//     adds the blocks of A - M that X does not have         precond/par_ilut/candidates.hpp
//     makes a fixed-point sweep                             precond/general/fixed_point/fixed_point_cpu.cpp
//     keeps the largest blocks of each triangle             precond/par_ilut/selection.hpp
//     makes another fixed-point sweep
//
// On the last pattern the factors are found by an elimination, or by fixed-point sweeps. A symmetric matrix has
// symmetric factors (ParICT). A sweep reads only the values from before it, so the bits do not depend on threads.
//
// On a GPU, kernels do the same in the same order where a row has one unknown (precond/par_ilut/rounds_cuda.hpp); the
// host finds factors of blocks. The solves are those of sync_free_ilu (precond/general/orders/slices.hpp), or Jacobi
// sweeps on a copy (precond/general/sweeps/swept.hpp), beside which a GPU keeps no factors: the host has them.
//
// Which blocks are kept depends on all rows. So where ranks share the rows, every rank gathers the matrix, its host
// finds the factors as one rank does, with the same bits, and it keeps its own rows of them. Exact solves then go stage
// by stage on CPUs (precond/general/solves/rank_solve.hpp), row by row on GPUs
// (precond/general/solves/between_ranks.hpp).
#pragma once

#include <memory>
#include <optional>

#include "core/interfaces/preconditioner.hpp"
#include "precond/counted_plan.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/solves/general_solve.hpp"
#include "precond/general/solves/rank_stages.hpp"
#include "precond/general/solves/solve_way.hpp"
#include "precond/registry_row.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"

namespace hyperplane {

struct FactorsOnGpu;

/// The options that a deck gives.
struct ParIlutOptions {
    double fill_limit = 2.0;  ///< blocks of a triangle of the factors, divided by those of A's triangle
    int rounds = 5;
    int sweeps = 0;          ///< on the last pattern; 0: an elimination
    int candidates = 2;      ///< of a row in one round, divided by the blocks of A's row
    double tolerance = 0.0;  ///< the rounds end when the norm of A - M falls by less than this times itself; 0: never
    PivotOptions pivots;
    SolveWay way = SolveWay::automatic;  ///< of the solves
    std::optional<SweepOptions> jacobi;  ///< Jacobi sweeps in their place
    bool in_rcm = false;                 ///< ordering.name = rcm, which is not advised then
};

class ParIlut : public Preconditioner, public HasLduFactors {
public:
    ParIlut(const Context& context, const ParIlutOptions& options);
    ~ParIlut() override;

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override { solve().apply(r, z); }
    PreconditionerTraits traits() const override { return traits_of(options_, factors_.symmetric); }
    SweepCounts sweeps() const override;
    void set_setup_sweeps(int count) override {
        if (options_.sweeps > 0) options_.sweeps = count;
    }
    Index bytes_per_apply() const override { return solve().bytes_per_apply(); }
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;

    /// In the host's memory; those of a GPU are copied there at the first call after a set-up.
    const GeneralFactors& factors() const;
    /// A rank that shares rows with others has not all factors.
    bool has_ldu() const override { return !slab_; }
    LduFactors ldu() const override;
    std::string solve_way() const override { return solve_ || on_gpu_ ? solve().way() : ""; }
    /// The number of rounds of the last set-up.
    int rounds() const { return rounds_; }

    /// The most blocks that factors of a matrix with the pattern can have, which the host can read.
    static Index most_blocks(const ParIlutOptions& options, const BlockPattern& a);
    static PreconditionerPlan plan(const ParIlutOptions& options, const PreconditionerSetting& setting);
    /// What NVRTC compiles on a GPU.
    static std::vector<KernelSet> kernels(const ParIlutOptions& options, const PreconditionerSetting& setting);

private:
    static PreconditionerTraits traits_of(const ParIlutOptions& options, bool symmetric);
    static PreconditionerPlan plan_of_rank(const ParIlutOptions& options, const PreconditionerSetting& setting);
    SetupReport setup_on_ranks(const BsrMatrix& a);
    const GeneralSolve& solve() const;
    /// The factors of a matrix, where it is, and what solves with them.
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter);
    /// Those of the factors, wherever they are; rows() is 0 before the first set-up.
    Index rows() const;
    Index blocks() const;
    bool has_the_pattern_of_a() const;
    /// Writes X after all rounds to factors_, and the inverses of its diagonal blocks to `inverse`; on a CPU.
    void make_pattern(const BsrMatrix& a, double alpha, const PivotRules& rules, Buffer<double>& inverse);

    Context context_;
    ParIlutOptions options_;
    mutable GeneralFactors factors_;  ///< in the host's memory; if a GPU finds them, empty until they are asked for
    std::shared_ptr<const RowSlab> slab_;   ///< of the factors, where ranks share the rows
    RowWalk lower_;                         ///< of an elimination on a CPU
    RankStages stages_;                     ///< of exact solves on CPUs where ranks share the rows
    std::unique_ptr<GeneralSolve> solve_;   ///< unless on_gpu_ solves
    std::unique_ptr<FactorsOnGpu> on_gpu_;  ///< what solves exactly on a GPU
    int rounds_ = 0;
};

/// The options in a deck. Throws UsageError for keys that mean nothing beside others. `couples_ranks`: whether the rows
/// of a rank depend on those of others.
ParIlutOptions read_par_ilut_options(const Parameters& parameters, Backend backend, bool couples_ranks);

PreconditionerRow par_ilut_row();
CountedPlan par_ilut_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a);

}  // namespace hyperplane
