// SPDX-License-Identifier: BSD-3-Clause
// What the preconditioners of this family have in common: a symbolic part, which is kept as long as matrices have the
// same pattern, and a numeric part, which is repeated if the pivot policy says so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/interfaces/linear_operator.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/registry_row.hpp"
#include "precond/sync_free_ilu/options.hpp"
#include "precond/sync_free_ilu/symbolic.hpp"

namespace hyperplane {

class GeneralIlu : public Preconditioner {
public:
    SetupReport setup(const SystemMatrix& matrix) final;
    void suggest_shift(double alpha) final { options_.pivots.suggest_shift(alpha); }
    PreconditionerTraits traits() const final { return traits_of(options_, factors_.symmetric); }
    SweepCounts sweeps() const final { return sweep_counts(options_, factors_); }
    void set_setup_sweeps(int count) final {
        if (options_.fixed_point_sweeps > 0) options_.fixed_point_sweeps = count;
    }
    /// The symbolic part of a set-up.
    void analyse(const BsrMatrix& a);
    /// Rounds the factors of `a` to a reduced storage and releases those in double; returns the events of all ranks
    /// that share its rows.
    Rounding round(const BsrMatrix& a);
    const GeneralFactors& factors() const { return factors_; }
    double planned_seconds() const { return planned_seconds_; }
    /// What the factors and their pattern take.
    virtual Index factor_bytes() const;

protected:
    GeneralIlu(const Context& context, const SyncFreeOptions& options) : context_(context), options_(options) {}

    /// The numeric part of a set-up.
    SetupReport compute(const BsrMatrix& a);
    /// Allocates what a numeric part computes with, where it is not there.
    void allocate_values(Initially initially = Initially::zero);
    /// Seconds of the last symbolic part; 0 where the one before served.
    double symbolic_seconds() const { return symbolic_seconds_; }

    // The steps of both parts, in this order.

    /// Releases all that is for another pattern.
    virtual void forget() = 0;
    /// Finds the pattern of the factors, and all that follows from it.
    virtual void find_pattern(const BsrMatrix& a) = 0;
    /// Precedes the factorisations of a numeric part.
    virtual void prepare(const BsrMatrix& /*a*/) { allocate_values(); }
    /// The factors of A + alpha diag(A).
    virtual void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) = 0;
    /// The same as round(), without the release.
    virtual Rounding rounded(const BsrMatrix& /*a*/) { return {}; }
    /// Gives the factors to what solves with a copy of them.
    virtual void hand_on() = 0;

    Context context_;
    SyncFreeOptions options_;
    GeneralFactors factors_;
    general_cpu::FixedPointScratch scratch_;
    double planned_seconds_ = 0.0;  ///< what plans had taken to find what the last symbolic part took over

private:
    std::shared_ptr<const BlockPattern> served_;  ///< of the matrices that the symbolic part is for
    double symbolic_seconds_ = 0.0;
};

/// The symbolic part for `a`, a matrix or its shape.
template <class Matrix>
SymbolicKey key_of(const SyncFreeOptions& options, const Matrix& a, AcrossRanks ranks) {
    return {a.pattern(), a.dof(), options.fill_level, options.parts, a.symmetric(), ranks};
}
template <class Matrix>
SymbolicKey key_of(const SyncFreeOptions& options, const Matrix& a) {
    return key_of(options, a, options.couples_ranks ? AcrossRanks::by_row : AcrossRanks::none);
}

/// The kernels for a matrix of this shape.
std::vector<KernelSet> kernels_named(const std::string& name, const MatrixShape& a, FactorStorage storage,
                                     std::function<rtc::Programs()> programs);

}  // namespace hyperplane
