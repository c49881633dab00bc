// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps in place of triangular solves.
//
// Anzt, Chow, Dongarra, "Iterative sparse triangular solves for preconditioning", Euro-Par 2015; equations and modes
// are in precond/triangular/jacobi/sweeps.hpp.
//
// After the factors have been computed, the growth of the sweeps' error is measured for each triangle. It is the ratio
// ||N^n w|| / ||w|| for n from 1 to the number of sweeps, where N is the iteration matrix. If the ratio exceeds 10
// after the last sweep, or 1e8 after an earlier one, where rounding errors alone spoil the result, the set-up ends with
// a SetupError: the factor is too far from normal.
#pragma once

#include <memory>

#include "precond/registry_row.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"
#include "precond/triangular/triangular_solve.hpp"

namespace hyperplane {

/// Traits of a preconditioner whose solves are Jacobi sweeps. M is symmetric if the matrix is, the sweeps are
/// synchronous and there are as many lower as upper sweeps.
PreconditionerTraits jacobi_traits(const SweepOptions& options, bool symmetric);
/// The kernels that NVRTC compiles for synchronous sweeps on a GPU.
std::vector<KernelSet> jacobi_kernels(const TriangleShape& shape, const SweepOptions& options);
inline constexpr double most_growth = 1e8, most_growth_at_last = 10.0;
/// Throws SetupError unless the growths that were measured, one after the other until one is above most_growth, are
/// those of so many sweeps, and the last is at most most_growth_at_last. In the message `name` is the preconditioner's,
/// `exact` one with exact solves that takes the place of jacobi_sweeps, and `remedy` another remedy, "... , ".
void judge_growth(const std::vector<double>& growth, int sweeps, Side side, const std::string& name,
                  const std::string& exact, const std::string& remedy = "");
/// Throws SetupError if sweeps on the factors diverge; `name` is the preconditioner's name in its message.
void refuse_divergence(TriangleSweeps& sweeps, const TriangleFactors& factors, const SweepOptions& options,
                       const std::string& name);

/// Jacobi sweeps on the factors of an IluPreconditioner, which are not copied.
class JacobiSolve : public TriangularSolve {
public:
    explicit JacobiSolve(const SweepOptions& options) : options_(options) {}

    void analyse(const IluFactors& /*factors*/) override {}  // the form of M is known only in accept
    void accept(const IluFactors& factors, const std::string& name) override;
    void apply(const IluFactors& factors, const Vector& r, Vector& z) const override;

    /// In natural order, blocks of consecutive slots follow the dependencies, as asynchronous sweeps need.
    LayoutKind layout(Backend /*backend*/) const override { return LayoutKind::natural; }
    Index bytes(const IluPattern& pattern, Backend backend) const override;
    Index bytes_per_apply(const IluPattern& pattern, Backend backend) const override;
    PreconditionerTraits traits(bool symmetric) const override { return jacobi_traits(options_, symmetric); }
    std::vector<KernelSet> kernels(const IluPattern& pattern, bool single_vectors) const override;
    ApplicationCheck check(const Context& context, const TriangleFactors& triangles, const Vector& r,
                           const Vector& z) const override {
        return check_sweeps(context, triangles, options_, r, z);
    }
    int sweeps() const override { return options_.lower + options_.upper; }

    const SweepOptions& options() const { return options_; }

private:
    SweepOptions options_;
    std::vector<Int3> host_offsets_;
    Buffer<Int3> offsets_;  ///< of the factors' stencil
    std::unique_ptr<TriangleSweeps> sweeps_;
};

/// The keys for Jacobi sweeps in a deck, where `mode` is the key of the sweeps' mode; and the options read from them.
ParameterTable jacobi_parameters(const std::string& mode);
SweepOptions jacobi_options(const Parameters& parameters, const std::string& mode);

/// The same for a preconditioner whose solves are exact unless the deck has `triangular_solve = jacobi`. Here the key
/// of the sweeps' mode is `solve_mode`.
ParameterTable triangular_solve_parameters();
/// Whether a deck chooses Jacobi sweeps in place of exact solves.
bool sweeps_triangles(const Parameters& parameters);
SweepOptions triangular_solve_options(const Parameters& parameters);
/// The solve that a deck chooses.
std::unique_ptr<TriangularSolve> chosen_solve(const Parameters& parameters);

}  // namespace hyperplane
