// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilu/par_ilu.hpp"

#include "precond/ilu/ilu_preconditioner.hpp"
#include "precond/par_ilu/fixed_point.hpp"
#include "precond/triangular/jacobi/solve.hpp"
#include "precond/triangular/wavefront/wavefront.hpp"

namespace hyperplane {
namespace {

ParameterTable par_ilu_parameters() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    ParameterTable table = ilu_parameters();
    for (ParameterSpec& spec : table)
        if (spec.key == "pivot_policy") {
            spec.choices = {"fail", "shift"};
            spec.description =
                "what happens if a pivot cannot be used after the last sweep: an error with its cell (fail), or a "
                "growing shift of the whole diagonal (shift)";
        } else if (spec.key == "pivot_boost") {
            spec.description =
                "size of a pivot that cannot be used before the last sweep, as a fraction of its block's "
                "largest entry";
        }
    table.push_back({section, "sweeps", integer, "5",
                     "number of fixed-point sweeps over all stored entries, which begin with those of A", "", Bound{1},
                     Bound{10000}});
    table.push_back(
        choice_key("mode", "sync",
                   "sync: a sweep reads only values of the sweep before, and every run gives the same bits; async: "
                   "new entries replace the old ones as soon as they are computed, not deterministic; on a GPU, for "
                   "up to 8 unknowns a point, in memory for one set of factors",
                   {"sync", "async"}));
    const ParameterTable solves = triangular_solve_parameters();
    table.insert(table.end(), solves.begin(), solves.end());
    return table;
}

std::unique_ptr<IluPreconditioner> par_ilu_of(const Parameters& parameters, const PreconditionerSetting& setting) {
    const FactorSweepMode mode =
        parameters.text("preconditioner", "mode") == "async" ? FactorSweepMode::async : FactorSweepMode::sync;
    const int sweeps = int(parameters.integer("preconditioner", "sweeps"));
    std::unique_ptr<TriangularSolve> solve;
    if (sweeps_triangles(parameters))
        solve = std::make_unique<JacobiSolve>(triangular_solve_options(parameters));
    else
        solve = std::make_unique<WavefrontSolve>();
    return std::make_unique<IluPreconditioner>(setting.context, ilu_options(parameters, "par_ilu"),
                                               std::make_unique<FixedPointFactorisation>(sweeps, mode),
                                               std::move(solve));
}

}  // namespace

PreconditionerRow par_ilu_row() {
    PreconditionerRow row = ilu_row("par_ilu", par_ilu_of);
    row.summary = "ILU(k) or IC(k) by fixed-point sweeps; exact solves or Jacobi sweeps";
    row.explanation =
        "Each sweep improves all entries of the factors at the same time, the first one those of A, so that L U "
        "approaches A on the pattern of ILU(k); many sweeps give the factors of struct_ilu. A symmetric matrix is "
        "factored as incomplete Cholesky. Source: Chow and Patel, Fine-grained parallel incomplete LU factorization, "
        "SIAM J. Sci. Comput. 37, 2015.";
    row.parameters = par_ilu_parameters();
    return row;
}

}  // namespace hyperplane
