// SPDX-License-Identifier: BSD-3-Clause
// Incomplete LU as the combination of three choices: the pattern, the factorisation and the triangular solve.
//
// struct_ilu, jacobi_sweeps and par_ilu are such combinations. This class has what they share: the pattern, the pivot
// policy, the storage of the factors, and the plan of memory and traffic. A set-up has five steps:
//
//     1. The pattern of the fill level is derived from the matrix's stencil.
//     2. The symbolic parts of solve and factorisation are called; what they have made for the same pattern is kept.
//     3. The numeric part of the factorisation is called, and repeated if the pivot policy says so.
//     4. The factors are rounded if their storage is in reduced precision.
//     5. The solve accepts the factors, or refuses them with an error.
//
// Of several ranks on GPUs each factors and solves exactly in the hyperplane layout, on copies (HyperplaneCopy). With
// Jacobi sweeps in place of solves it has no copies. In either case the grid of the factors is the rank's planes and,
// at both ends, those of its halo (IluPattern::halo). Where that is periodic along z, sweeps read a copy of the matrix
// in which no coefficient leads around z (OpenCopy).
#pragma once

#include <memory>
#include <string>

#include "core/interfaces/preconditioner.hpp"
#include "precond/factors/unit_triangles.hpp"
#include "precond/ilu/factorisation.hpp"
#include "precond/ilu/hyperplane_copy.hpp"
#include "precond/ilu/open_copy.hpp"
#include "precond/registry_row.hpp"
#include "precond/smoother_passes.hpp"
#include "precond/triangular/triangular_solve.hpp"

namespace hyperplane {

struct IluOptions {
    int fill_level = 0;
    PivotOptions pivots;
    FactorStorage storage = FactorStorage::double_precision;
    /// Whether E and F may be the matrix's own entries if elimination changes the diagonal alone (D-ILU).
    bool may_share = true;
    /// Whether couplings to points of other ranks are dropped.
    bool within_rank = false;
    /// Whether the Eisenstat form is wanted, which takes memory and kernels of its own.
    bool eisenstat = false;
    std::string name = "struct_ilu";  ///< of the preconditioner, in messages
};

class IluPreconditioner : public Preconditioner, public SmootherPasses, public HasUnitTriangles {
public:
    IluPreconditioner(const Context& context, const IluOptions& options, std::unique_ptr<Factorisation> factorisation,
                      std::unique_ptr<TriangularSolve> solve);

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    /// For a symmetric matrix r^T z is a by-product of most exact solves.
    void apply_dot(const Vector& r, Vector& z, double* rz) const override;
    bool step(const Vector& b, double omega, Vector& x, Vector& t) const override {
        return !copy_ && solve_->step(factors_, b, omega, x, t);
    }
    bool apply(const SingleVector& r, SingleVector& z) const override {
        return !copy_ && solve_->apply_single(factors_, r, z);
    }
    bool step(const SingleMatrix& a, const SingleVector& b, double omega, SingleVector& x,
              SingleVector& t) const override {
        return !copy_ && solve_->step_single(factors_, a, b, omega, x, t);
    }
    int vectors_of_dot() const override { return solve_->vectors_of_dot(factors_); }
    const EisenstatForm* eisenstat() const override { return solve_->eisenstat(); }
    SweepCounts sweeps() const override;
    void set_setup_sweeps(int count) override { factorisation_->set_sweeps(count); }
    PreconditionerTraits traits() const override {
        return traits(factors_.allocated() && factors_.matrix().symmetric());
    }
    Index bytes_per_apply() const override;
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;

    UnitTriangles unit_triangles() const override;

    PreconditionerPlan plan(const PreconditionerSetting& setting) const;
    /// The kernels that NVRTC compiles for matrices like this on a GPU.
    std::vector<KernelSet> kernels(const PreconditionerSetting& setting) const;
    const IluFactors& factors() const { return factors_; }
    const TriangularSolve& solve() const { return *solve_; }
    /// One solve alone, for benchmarks and tests; the solve must be exact.
    void lower_solve(const Vector& r, Vector& y) const { exact_solve().lower(factors_, r, y); }
    void upper_solve(Vector& z) const { exact_solve().upper(factors_, z); }
    /// The kernels in use on a GPU, their tiles and shared memory; empty on a CPU.
    std::string describe() const;

private:
    /// The pattern of the factors of a matrix with these properties.
    IluPattern pattern(const Context& context, const Layout& layout, const Stencil& a, int dof, bool symmetric,
                       Backend backend) const;
    IluPattern pattern(const PreconditionerSetting& setting, Backend backend) const;
    /// The layout of matrix and vectors.
    Layout layout(const PreconditionerSetting& setting, Backend backend) const;
    /// Whether factors and solves have copies of matrix and vectors in hyperplane layout.
    bool on_copies(const Context& context, Backend backend) const;
    /// Whether copies have no planes of other ranks: couplings to these are dropped, or there are none, since every
    /// rank has the whole grid, as on coarse grids of multigrid.
    bool drops_couplings(const Layout& layout) const { return options_.within_rank || !layout.is_part(); }
    /// Whether sweeps need a copy of the matrix on an open grid.
    bool on_open_copy(const Context& context, const Layout& layout, Backend backend) const;
    /// The matrix that is factored: `a`, or the copy of it that this makes.
    const StructMatrix& factored(const StructMatrix& a);
    PreconditionerTraits traits(bool symmetric) const;
    const ExactSolve& exact_solve() const;
    void check(const StructMatrix& a) const;

    IluOptions options_;
    std::unique_ptr<HyperplaneCopy> copy_;
    std::unique_ptr<OpenCopy> open_copy_;
    IluFactors factors_;
    std::unique_ptr<Factorisation> factorisation_;
    std::unique_ptr<TriangularSolve> solve_;
};

/// The keys for pattern and pivots in a deck.
const ParameterTable& ilu_parameters();
/// The key of preconditioners that may drop the couplings between ranks (IluOptions::within_rank).
ParameterSpec scope_key();
/// The options read from the keys for pattern and pivots; `name` is the preconditioner's name in messages.
IluOptions ilu_options(const Parameters& parameters, const std::string& name);

/// Makes a preconditioner from a deck's parameters.
using MakeIlu = std::unique_ptr<IluPreconditioner> (*)(const Parameters&, const PreconditionerSetting&);
/// A row of the registry whose preconditioner is made by `make`; the row's plan also comes from what `make` returns.
PreconditionerRow ilu_row(const std::string& name, MakeIlu make);

}  // namespace hyperplane
