// SPDX-License-Identifier: BSD-3-Clause
// Jacobi sweeps in place of triangular solves.
//
// Anzt, Chow, Dongarra, "Iterative sparse triangular solves for preconditioning", Euro-Par 2015; equations and modes
// are in precond/triangular/jacobi/sweeps.hpp.
//
// When the factors have their values, the growth of the sweeps' error is measured for either triangle, ||N^n w|| /
// ||w|| for n = 1 to the number of sweeps. Where the last sweep would leave more than ten times the error it began
// with, or one on the way more than 1e8 times, so that rounding alone spoils the result, the set-up ends with a
// SetupError: the factor is too far from normal.
#pragma once

#include <memory>

#include "precond/row.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"
#include "precond/triangular/triangular_solve.hpp"

namespace hyperplane {

/// What sweeps leave a preconditioner: as many lower as upper ones on a symmetric matrix give a symmetric M.
PreconditionerTraits jacobi_traits(const SweepOptions& options, bool symmetric);
/// Throws SetupError, as preconditioner `name`, where sweeps on the factors diverge.
void refuse_divergence(TriangleSweeps& sweeps, const TriangleFactors& factors, const SweepOptions& options,
                       const std::string& name);

/// Sweeps on the factors of an IluPreconditioner, where they lie.
class JacobiSolve : public TriangularSolve {
public:
    explicit JacobiSolve(const SweepOptions& options) : options_(options) {}

    void analyse(const IluFactors& /*factors*/) override {}  // the form of M is known once there are values
    void accept(const IluFactors& factors, const std::string& name) override;
    void apply(const IluFactors& factors, const Vector& r, Vector& z) const override;

    /// In natural order the blocks of asynchronous sweeps come in the order of dependencies.
    LayoutKind layout(Backend /*backend*/) const override { return LayoutKind::natural; }
    Index bytes(const IluPattern& pattern, Backend backend) const override;
    Index bytes_per_apply(const IluPattern& pattern, Backend backend) const override;
    PreconditionerTraits traits(bool symmetric) const override { return jacobi_traits(options_, symmetric); }
    int sweeps() const override { return options_.lower + options_.upper; }

    const SweepOptions& options() const { return options_; }

private:
    SweepOptions options_;
    std::vector<Int3> host_offsets_;
    Buffer<Int3> offsets_;  ///< of the factors' stencil
    std::unique_ptr<TriangleSweeps> sweeps_;
};

/// What a deck can say about sweeps, their mode under the key `mode`; and that read.
ParameterTable jacobi_parameters(const std::string& mode);
SweepOptions jacobi_options(const Parameters& parameters, const std::string& mode);

/// The same for a factorisation whose solves are exact unless the deck has `triangular_solve = jacobi`; the sweeps'
/// mode is then `solve_mode`.
ParameterTable triangular_solve_parameters();
/// Whether triangles are swept.
bool sweeps_triangles(const Parameters& parameters);
SweepOptions triangular_solve_options(const Parameters& parameters);

}  // namespace hyperplane
