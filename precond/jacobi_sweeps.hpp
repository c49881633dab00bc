// jacobi_sweeps: the factors of struct_ilu, their triangular solves replaced by a few Jacobi sweeps.
//
// Anzt, Chow, Dongarra, Euro-Par 2015; equations and modes are in precond/triangle_sweeps.hpp.
//
// Set-up: 1. factor A as struct_ilu does. 2. For either triangle, measure how the error of sweeps grows, ||N^n w|| /
// ||w|| for n = 1 to the number of sweeps. Where the last sweep would leave more than ten times the error it began
// with, or one on the way more than 1e8 times, so that rounding alone spoils the result, the set-up ends with a
// SetupError: the factor is too far from normal.
#pragma once

#include <memory>

#include "precond/struct_ilu.hpp"
#include "precond/triangle_sweeps.hpp"

namespace hyperplane {

class JacobiSweeps : public Preconditioner {
public:
    JacobiSweeps(const Context& context, const StructIluOptions& factorisation, const SweepOptions& sweeps)
        : context_(context), factorisation_(context, factorisation), options_(sweeps), name_(factorisation.name) {}

    SetupReport setup(const StructMatrix& a) override;
    void suggest_shift(double alpha) override { factorisation_.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return traits(options_, a_ && a_->symmetric()); }
    Index bytes_per_apply() const override;
    SweepCounts sweeps() const override;
    void set_setup_sweeps(int count) override { factorisation_.set_setup_sweeps(count); }

    /// As many lower as upper sweeps on a symmetric matrix give a symmetric M.
    static PreconditionerTraits traits(const SweepOptions& options, bool symmetric);
    static PreconditionerPlan plan(const StructIluOptions& factorisation, const SweepOptions& sweeps,
                                   const PreconditionerSetting& setting);

private:
    TriangleShape triangles() const;
    TriangleFactors factors() const;
    void check_growth(Direction direction) const;

    Context context_;
    StructIlu factorisation_;
    SweepOptions options_;
    std::string name_;  ///< what messages call it
    const StructMatrix* a_ = nullptr;
    Buffer<Int3> offsets_;  ///< of the factors' stencil
    std::unique_ptr<TriangleSweeps> sweeps_;
};

/// What a deck can say about sweeps, their mode under the key `mode`, and that it does not contradict itself; throws
/// UsageError.
ParameterTable triangle_sweep_parameters(const std::string& mode);
SweepOptions triangle_sweep_options(const Parameters& parameters, const std::string& mode);

PreconditionerRow jacobi_sweeps_row();

}  // namespace hyperplane
