// SPDX-License-Identifier: BSD-3-Clause
#include "problems/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "problems/artificial_compressibility.hpp"
#include "problems/block_laplacian.hpp"
#include "problems/cahn_hilliard.hpp"
#include "problems/convection_diffusion.hpp"
#include "problems/domain.hpp"
#include "problems/euler.hpp"
#include "problems/matrix.hpp"
#include "problems/matrix_market.hpp"
#include "problems/navier_stokes.hpp"
#include "problems/poisson.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {
namespace {

/// The defaults of grid.lengths that a problem has of its own, as a phrase.
std::string own_lengths(const ProblemRow& row) {
    std::string text;
    for (const OwnLengths& own : row.lengths) {
        text += (text.empty() ? "" : ", ") + (own.meaning.empty() ? own.text() : own.meaning);
        if (own.with.key != "name") text += " with problem." + own.with.text();
    }
    return text;
}

ParameterSpec& lengths_in(ParameterTable& table) {
    return *std::find_if(table.begin(), table.end(), [](const auto& spec) { return spec.name() == "grid.lengths"; });
}

}  // namespace

const std::vector<ProblemRow>& problems() {
    static const std::vector<ProblemRow> rows{
        {{"poisson",
          {},
          "Poisson's equation on nodes or cells, constant or variable coefficient",
          "-div(K grad u) = f on a box. On nodes: second-order differences with a constant diagonal K (star7), or one "
          "of\n"
          "three 27-point operators (box27). On cells: two-point fluxes with a coefficient that may jump by orders of\n"
          "magnitude. Source: E. Bueler, PETSc for Partial Differential Equations, chapter 6 (nodes).",
          poisson_parameters(),
          create_poisson},
         /* has_grid */ true,
         poisson_lengths()},
        {{"convection_diffusion",
          {"convdiff", "cd"},
          "A scalar carried by a wind while it diffuses, steady or in implicit steps",
          "u_t + div(b u) - nu Laplace(u) = f on a box, with a divergence-free wind b. Upwind, central or "
          "Scharfetter-Gummel\n"
          "fluxes on nodes; the preconditioner may be built from another scheme than the operator. By default a "
          "Gaussian\n"
          "in a rotating wind, one implicit Euler step at a Courant number of 38.",
          convection_diffusion_parameters(),
          create_convection_diffusion}},
        {{"navier_stokes",
          {"ns"},
          "Incompressible flow: lid-driven cavities, Kovasznay's and Ethier and Steinman's flows",
          "u_t + u . grad u + grad p - nu Laplace(u) = 0, p_t / beta + div u = 0: artificial compressibility, "
          "stabilised\n"
          "trilinear elements on a tensor grid, four unknowns a node (box27). Steps in pseudo-time to a steady state, "
          "or\n"
          "in time; two nodes along z make a plane flow. By default a cubic cavity at Reynolds number 100.",
          navier_stokes_parameters(),
          create_navier_stokes},
         /* has_grid */ true,
         navier_stokes_lengths()},
        {{"euler",
          {},
          "The compressible Euler equations: pulse, vortex, shock tube, blast, vortex array",
          "U_t + div F(U) = 0 of an ideal gas, U = (rho, rho u, rho v, rho w, E), on cells: slopes of density, "
          "velocity "
          "and\n"
          "pressure, limited or not, and HLLC or Rusanov fluxes (star13). The matrix is the exact derivative or a "
          "simpler "
          "one;\n"
          "the preconditioner is built from the first-order scheme's unless told otherwise.",
          euler_parameters(),
          create_euler},
         /* has_grid */ true,
         euler_lengths()},
        {{"artificial_compressibility",
          {"ac7"},
          "Lid-driven cavities by finite volumes, 4 unknowns a cell, and up to 32 made of several flows",
          "Upwind fluxes with |A| and third-order states in the residual, a first-order matrix on star7: steps correct "
          "a\n"
          "defect towards the steady state. Several sets and scalars give 4 to 32 unknowns a cell; a Householder "
          "reflection\n"
          "makes their blocks full without changing how solvers converge. Plane flow where there is one cell along z.",
          artificial_compressibility_parameters(),
          create_artificial_compressibility}},
        {{"cahn_hilliard",
          {"ch"},
          "Phases that separate: a copolymer in a homopolymer, or one field",
          "tau u_t = Laplace(W_u - eps_u^2 Laplace u) for two coupled fields u and v, the second with a long-range "
          "term, "
          "or\n"
          "for u alone; cells, fourth derivatives (diamond25). The energy is recorded at every step; it falls for any "
          "step\n"
          "with problem.scheme = avf.",
          cahn_hilliard_parameters(),
          create_cahn_hilliard},
         /* has_grid */ true,
         cahn_hilliard_lengths()},
        {{"block_laplacian",
          {"bsr3"},
          "A Laplacian of three coupled unknowns a point",
          "A = L7 (x) K + h^2 I (x) R on the interior nodes of a box, with dense 3 x 3 blocks, or, for three "
          "temperatures,\n"
          "diagonal ones off the centre and a tridiagonal one at it. Symmetric positive definite.",
          block_laplacian_parameters(),
          create_block_laplacian},
         /* has_grid */ true,
         /* lengths */ {},
         /* has_picture */ false},
        {{"matrix",
          {},
          "A general sparse linear system read from Matrix Market or PETSc files",
          "Takes any square sparse matrix whose rows have entries, without a grid: block rows of 1 to 32 unknowns in "
          "compressed rows. "
          "Preconditioners\n"
          "that need a grid are refused; hyperplane list preconditioners says which kinds of matrices each one takes.",
          matrix_parameters(),
          create_matrix},
         /* has_grid */ false,
         /* lengths */ {},
         /* has_picture */ false},
        {{"matrix_market",
          {},
          "A linear system on the points of a grid, read from Matrix Market or PETSc files",
          "Takes a sparse matrix as a structured one: grid.cells and problem.dof say which point and unknown a row "
          "stands\n"
          "for, and the smallest stencil that holds every entry is used; it must have radius 2 or less.",
          matrix_market_parameters(),
          create_matrix_market},
         /* has_grid */ true,
         /* lengths */ {},
         /* has_picture */ false},
    };
    return rows;
}

Showing showing_of(const ProblemRow& problem) {
    return {"inputs/" + problem.name + ".ini", problem.has_picture ? "docs/problems/" + problem.name + ".png" : ""};
}

ParameterTable common_problem_parameters() {
    ParameterSpec name{.section = "problem",
                       .key = "name",
                       .type = ParameterType::choice,
                       .default_value = "",
                       .description = "the problem to solve",
                       .required = true};
    for (const auto& row : problems()) {
        name.choices.push_back(row.name);
        name.choices.insert(name.choices.end(), row.aliases.begin(), row.aliases.end());
    }
    ParameterTable table{std::move(name)};
    for (ParameterTable part : {grid_parameters(), time_parameters()})
        table.insert(table.end(), part.begin(), part.end());
    std::string others;
    for (const ProblemRow& row : problems())
        if (!row.lengths.empty())
            others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", row.name, own_lengths(row));
    lengths_in(table).description += "; problems with other defaults: " + others;
    return table;
}

ParameterSpec lengths_parameter(const ProblemRow& row) {
    ParameterTable table = grid_parameters();
    ParameterSpec spec = lengths_in(table);
    if (row.lengths.empty()) return spec;
    spec.description += "; default " + own_lengths(row);
    for (const OwnLengths& own : row.lengths)
        if (own.with.key == "name") spec.default_value = own.text();
    return spec;
}

}  // namespace hyperplane
