// SPDX-License-Identifier: BSD-3-Clause
// jacobi_sweeps: the factors of struct_ilu, their triangular solves replaced by a few Jacobi sweeps; other
// factorisations take the same sweeps as `triangular_solve = jacobi`.
//
// Anzt, Chow, Dongarra, Euro-Par 2015; equations and modes are in precond/triangular/jacobi/sweeps.hpp, where factors
// come from in precond/triangular/jacobi/source.hpp.
//
// Set-up: 1. factor A. 2. For either triangle, measure how the error of sweeps grows, ||N^n w|| / ||w|| for n = 1 to
// the number of sweeps. Where the last sweep would leave more than ten times the error it began with, or one on the way
// more than 1e8 times, so that rounding alone spoils the result, the set-up ends with a SetupError: the factor is too
// far from normal.
#pragma once

#include <memory>

#include "precond/triangular/jacobi/source.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"

namespace hyperplane {

class JacobiSweeps : public Preconditioner {
public:
    /// `name` is what messages call it.
    JacobiSweeps(const Context& context, std::unique_ptr<TriangleSource> source, const SweepOptions& sweeps,
                 const std::string& name)
        : context_(context), source_(std::move(source)), options_(sweeps), name_(name) {}
    /// On struct_ilu's factors, or par_ilu's, as the options say.
    JacobiSweeps(const Context& context, const StructIluOptions& factorisation, const SweepOptions& sweeps)
        : JacobiSweeps(context, std::make_unique<StructIluTriangles>(context, factorisation), sweeps,
                       factorisation.name) {}

    SetupReport setup(const StructMatrix& a) override;
    void suggest_shift(double alpha) override { source_->suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return traits(options_, symmetric_); }
    Index bytes_per_apply() const override;
    SweepCounts sweeps() const override;
    void set_setup_sweeps(int count) override { source_->set_setup_sweeps(count); }
    const TriangleSource& source() const { return *source_; }
    const SweepOptions& options() const { return options_; }

    /// As many lower as upper sweeps on a symmetric matrix give a symmetric M.
    static PreconditionerTraits traits(const SweepOptions& options, bool symmetric);
    /// From what is known of the source, the factors' shape among it.
    static PreconditionerPlan plan(const PreconditionerPlan& source, const TriangleShape& shape,
                                   const SweepOptions& sweeps);
    static PreconditionerPlan plan(const StructIluOptions& factorisation, const SweepOptions& sweeps,
                                   const PreconditionerSetting& setting);

private:
    void check_growth(Direction direction) const;

    Context context_;
    std::unique_ptr<TriangleSource> source_;
    SweepOptions options_;
    std::string name_;
    bool symmetric_ = false;
    std::unique_ptr<TriangleSweeps> sweeps_;
};

/// What a deck can say about sweeps, their mode under the key `mode`, and that it does not contradict itself; throws
/// UsageError.
ParameterTable triangle_sweep_parameters(const std::string& mode);
SweepOptions triangle_sweep_options(const Parameters& parameters, const std::string& mode);

/// The same for a factorisation whose solves are exact unless the deck has `triangular_solve = jacobi`; the sweeps'
/// mode is `solve_mode`.
ParameterTable triangular_solve_parameters();
/// Whether triangles are swept.
bool sweeps_triangles(const Parameters& parameters);
SweepOptions triangular_solve_options(const Parameters& parameters);
/// Of a factorisation whose factors are copied.
template <class Options>
Options in_double(Options options) {
    options.storage = FactorStorage::double_precision;
    return options;
}
/// Sweeps on a copy of the factors of `factorisation`, which keeps double precision; the deck's storage is the copy's.
std::unique_ptr<Preconditioner> create_swept(std::unique_ptr<CopiableFactorisation> factorisation,
                                             const std::string& name, const Parameters& parameters,
                                             const PreconditionerSetting& setting);
PreconditionerPlan plan_swept(const CopiableFactorisation& factorisation, const PreconditionerPlan& plan,
                              const Parameters& parameters, const PreconditionerSetting& setting);

PreconditionerRow jacobi_sweeps_row();

}  // namespace hyperplane
