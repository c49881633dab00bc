// SPDX-License-Identifier: BSD-3-Clause
#include "precond/struct_ilu/struct_ilu.hpp"

#include "precond/struct_ilu/elimination.hpp"
#include "precond/triangular/jacobi/solve.hpp"
#include "precond/triangular/wavefront/wavefront.hpp"

namespace hyperplane {
namespace {

std::unique_ptr<IluPreconditioner> struct_ilu_of(const Parameters& parameters, const PreconditionerSetting& setting) {
    IluOptions options = ilu_options(parameters, "struct_ilu");
    options.within_rank = parameters.text("preconditioner", "scope") == "rank";
    options.eisenstat = setting.eisenstat;
    return make_struct_ilu(setting.context, options);
}

std::unique_ptr<IluPreconditioner> jacobi_sweeps_of(const Parameters& parameters,
                                                    const PreconditionerSetting& setting) {
    return make_exact_ilu(setting.context, ilu_options(parameters, "jacobi_sweeps"),
                          std::make_unique<JacobiSolve>(jacobi_options(parameters, "mode")));
}

}  // namespace

std::unique_ptr<IluPreconditioner> make_struct_ilu(const Context& context, const IluOptions& options,
                                                   const StructIluTuning& tuning) {
    return std::make_unique<IluPreconditioner>(context, options, std::make_unique<Elimination>(tuning),
                                               std::make_unique<WavefrontSolve>(tuning, options.eisenstat));
}

std::unique_ptr<IluPreconditioner> make_exact_ilu(const Context& context, const IluOptions& options,
                                                  std::unique_ptr<TriangularSolve> solve) {
    return std::make_unique<IluPreconditioner>(context, options, std::make_unique<Elimination>(), std::move(solve));
}

PreconditionerRow struct_ilu_row() {
    PreconditionerRow row = ilu_row("struct_ilu", struct_ilu_of);
    row.aliases = {"ilu"};
    row.regular_splitting = true;
    row.on_ranks = true;
    row.summary = "ILU(k), or IC(k) of a symmetric matrix; exact, parallel over hyperplanes";
    row.explanation =
        "Incomplete LU with fill level k on the stencil's level-k pattern, equal to sequential ILU(k) to rounding. "
        "Block pivots are inverted by Gauss-Jordan elimination. Symmetric matrices store and read one triangle. "
        "Source: Luo et al., StructILU, ICS 2025, Algorithms 1 and 2; Saad, Iterative Methods, section 10.3.";
    row.solver_variants = {"cg:eisenstat=true"};
    row.parameters = ilu_parameters();
    row.parameters.push_back(scope_key());
    return row;
}

PreconditionerRow jacobi_sweeps_row() {
    PreconditionerRow row = ilu_row("jacobi_sweeps", jacobi_sweeps_of);
    row.on_ranks = true;
    row.only_on_ranks = {{"mode", "sync"}};
    row.summary = "ILU(k) or IC(k) whose triangular solves are a few Jacobi sweeps";
    row.explanation =
        "The factors of struct_ilu; instead of solving with a triangle T of diagonal D, a few sweeps replace x by D^-1 "
        "(b - (T - D) x) at all points at the same time. With triangular_solve = jacobi, par_ilu solves with its "
        "factors in the same way, and multicolor, fgbilu and subdomain_ildu0 with a copy of theirs, which they hold in "
        "addition. If sweeps diverge, because a factor is too far from normal, the set-up ends with an error. "
        "fill_level and pivots are as in struct_ilu. Source: Anzt, Chow, Dongarra, Iterative sparse triangular solves "
        "for preconditioning, Euro-Par 2015.";
    row.parameters = ilu_parameters();
    const ParameterTable sweeps = jacobi_parameters("mode");
    row.parameters.insert(row.parameters.end(), sweeps.begin(), sweeps.end());
    return row;
}

}  // namespace hyperplane
