// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation, -div(K grad u) = f on a box, u = g on its boundary.
//
// On nodes, with a constant K = diag(kx, ky, kz) (Bueler, PETSc for PDEs, c/ch6/fish.c) and h = (hx hy hz)^(1/3):
//   star7     a_d = k_d h^2 / h_d^2;  diagonal 2 (ax + ay + az), neighbours -a_d, right-hand side h^2 f
//   box27     with the second differences D_d = (1, -2, 1) and cubic cells,
//             A = -w1 sum_d D_d - w2 sum_{d<e} D_d D_e - w3 D_x D_y D_z = w1 h^2 (-Laplace)
//             hpcg (9, 3, 1): 26 and -1;  q1 (1, 1/3, 1/12): trilinear elements, 8/3, 0, -1/6, -1/12;
//             mehr (1, 1/6, 1/30): (128, -14, -3, -1) / 30, fourth order with f + h^2 Laplace(f) / 12
// On cells, with a variable K and two-point fluxes:
//   a face between cells a and b has the transmissibility T = vol / h_d^2  2 Ka Kb / (Ka + Kb), a Dirichlet
//   face 2 K vol / h_d^2, a Neumann face 0. Off-diagonal coefficients are -T, the diagonal is the sum of the T.
#pragma once

#include <memory>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"
#include "problems/domain.hpp"
#include "problems/exact_solution.hpp"
#include "problems/source_term.hpp"

namespace hyperplane {

ParameterTable poisson_parameters();
std::vector<OwnLengths> poisson_lengths();
std::unique_ptr<Problem> create_poisson(const Parameters& parameters, const Context& context, const InputFiles& files);

/// Data that nodes and cells share: f, and the solution if it is known, which also gives g.
struct PoissonData {
    SourceKind source = SourceKind::exact;
    ExactSolution exact;
    std::array<double, 3> k{1.0, 1.0, 1.0};  ///< constant diagonal of K
    std::uint64_t seed = 0;
};

/// Reads problem.right_hand_side. `automatic` is the meaning of auto for an operator that is not singular; for a
/// singular one it is random. Throws UsageError for data that the boundary conditions do not allow.
PoissonData poisson_data(const Parameters& parameters, const Domain& domain, const std::string& automatic,
                         bool singular);

/// Norms of the error if the solution is known: a manufactured one, or 1 for b = A 1.
std::vector<ErrorNorm> poisson_errors(const Vector& u, const Domain& domain, const PoissonData& data);
std::vector<std::string> poisson_error_names(const PoissonData& data);

/// u and, if the solution is known, its error.
std::vector<Field> poisson_fields(const Domain& domain, const PoissonData& data);

std::unique_ptr<Problem> create_poisson_nodes(const Parameters& parameters);
std::unique_ptr<Problem> create_poisson_cells(const Parameters& parameters, const Context& context,
                                              const InputFiles& files);

}  // namespace hyperplane
