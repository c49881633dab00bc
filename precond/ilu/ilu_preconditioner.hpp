// SPDX-License-Identifier: BSD-3-Clause
// Incomplete LU as the combination of three choices: the pattern, the factorisation and the triangular solve.
//
// struct_ilu, jacobi_sweeps and par_ilu are such combinations. What they have in common stands here: which pattern is
// kept, what the policy does about pivots, in which storage the factors stay, and what all that costs.
//
// Set-up: 1. the pattern of the fill level, from the matrix's stencil. 2. The symbolic part of factorisation and solve,
// where the pattern is new. 3. The numeric part of the factorisation, under the pivot policy. 4. Rounding, where the
// storage asks for it. 5. The solve accepts the factors, or refuses them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/interfaces/linear_operator.hpp"
#include "precond/ilu/factorisation.hpp"
#include "precond/row.hpp"
#include "precond/triangular/triangular_solve.hpp"

namespace hyperplane {

struct IluOptions {
    int fill_level = 0;
    PivotOptions pivots;
    FactorStorage storage = FactorStorage::double_precision;
    /// Where elimination changes the diagonal alone, E and F are the matrix's own (D-ILU).
    bool may_share = true;
    std::string name = "struct_ilu";  ///< what messages call the preconditioner
};

class IluPreconditioner : public Preconditioner {
public:
    IluPreconditioner(const Context& context, const IluOptions& options, std::unique_ptr<Factorisation> factorisation,
                      std::unique_ptr<TriangularSolve> solve);

    SetupReport setup(const StructMatrix& a) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override { solve_->apply(factors_, r, z); }
    /// For a symmetric matrix r^T z falls out of the exact solves.
    void apply_dot(const Vector& r, Vector& z, double* rz) const override { solve_->apply_dot(factors_, r, z, rz); }
    int vectors_of_dot() const override { return solve_->vectors_of_dot(factors_); }
    SweepCounts sweeps() const override;
    void set_setup_sweeps(int count) override { factorisation_->set_sweeps(count); }
    PreconditionerTraits traits() const override {
        return traits(factors_.allocated() && factors_.matrix().symmetric());
    }
    Index bytes_per_apply() const override;

    PreconditionerPlan plan(const PreconditionerSetting& setting) const;
    const IluFactors& factors() const { return factors_; }
    const TriangularSolve& solve() const { return *solve_; }
    /// One solve alone, for benchmarks and tests; the solve must be exact.
    void lower_solve(const Vector& r, Vector& y) const { exact_solve().lower(factors_, r, y); }
    void upper_solve(Vector& z) const { exact_solve().upper(factors_, z); }
    /// The kernels in use on a GPU, their tiles and shared memory; empty on a CPU.
    std::string describe() const;

private:
    /// The pattern of a matrix's factors.
    IluPattern pattern(const Layout& layout, const Stencil& a, int dof, bool symmetric, Backend backend) const;
    PreconditionerTraits traits(bool symmetric) const;
    const ExactSolve& exact_solve() const;
    void check(const StructMatrix& a) const;

    IluOptions options_;
    IluFactors factors_;
    std::unique_ptr<Factorisation> factorisation_;
    std::unique_ptr<TriangularSolve> solve_;
};

/// What a deck can say about pattern and pivots.
const ParameterTable& ilu_parameters();
/// The same read; `name` is what messages call the preconditioner.
IluOptions ilu_options(const Parameters& parameters, const std::string& name);

/// Makes a preconditioner of a deck's parameters.
using MakeIlu = std::unique_ptr<IluPreconditioner> (*)(const Parameters&, const PreconditionerSetting&);
/// A row whose preconditioner is made by `make`, which its plan uses too.
PreconditionerRow ilu_row(const std::string& name, MakeIlu make);

}  // namespace hyperplane
