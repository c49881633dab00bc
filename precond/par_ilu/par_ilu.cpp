// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilu/par_ilu.hpp"

#include "precond/triangular/jacobi/preconditioner.hpp"

namespace hyperplane {
namespace {

ParameterTable par_ilu_parameters() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    ParameterTable table = struct_ilu_parameters();
    for (ParameterSpec& spec : table)
        if (spec.key == "pivot_policy") {
            spec.choices = {"fail", "shift"};
            spec.description =
                "what a pivot that cannot be used after the last sweep leads to: an error with its cell (fail), or a "
                "growing shift of the whole diagonal (shift)";
        } else if (spec.key == "pivot_boost") {
            spec.description =
                "size of a pivot that cannot be used before the last sweep, as a fraction of its block's "
                "largest entry";
        }
    table.push_back({section, "sweeps", integer, "5", "fixed-point sweeps over all stored entries, from A's on", "",
                     Bound{1}, Bound{10000}});
    table.push_back({section,
                     "mode",
                     choice,
                     "sync",
                     "sync: a sweep reads the one before, the same bits in every run; async: entries replace the old "
                     "ones as soon as they are made, not deterministic; on a GPU, up to 8 unknowns a point, in memory "
                     "for one set of factors",
                     "",
                     {},
                     {},
                     {"sync", "async"}});
    const ParameterTable solves = triangular_solve_parameters();
    table.insert(table.end(), solves.begin(), solves.end());
    return table;
}

StructIluOptions factorisation_of(const Parameters& parameters) {
    StructIluOptions options = struct_ilu_options(parameters);
    options.sweeps = int(parameters.integer("preconditioner", "sweeps"));
    options.sweep_mode =
        parameters.text("preconditioner", "mode") == "async" ? FactorSweepMode::async : FactorSweepMode::sync;
    options.name = "par_ilu";
    return options;
}

}  // namespace

PreconditionerRow par_ilu_row() {
    PreconditionerRow row;
    row.name = "par_ilu";
    row.summary = "ILU(k) or IC(k) by fixed-point sweeps; exact solves or Jacobi sweeps";
    row.explanation =
        "All entries of the factors are improved at once, from those of A on, so that L U = A on the pattern of ILU(k) "
        "is met better with each sweep; many sweeps give struct_ilu's factors. "
        "A symmetric matrix is factored as incomplete Cholesky. "
        "Source: Chow and Patel, Fine-grained parallel incomplete LU factorization, SIAM J. Sci. Comput. 37, 2015.";
    row.parameters = par_ilu_parameters();
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.create = [](const Parameters& parameters,
                    const PreconditionerSetting& setting) -> std::unique_ptr<Preconditioner> {
        const StructIluOptions factorisation = factorisation_of(parameters);
        if (!sweeps_triangles(parameters)) return std::make_unique<StructIlu>(setting.context, factorisation);
        return std::make_unique<JacobiSweeps>(setting.context, factorisation, triangular_solve_options(parameters));
    };
    row.plan = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        const StructIluOptions factorisation = factorisation_of(parameters);
        return sweeps_triangles(parameters)
                   ? JacobiSweeps::plan(factorisation, triangular_solve_options(parameters), setting)
                   : StructIlu::plan(factorisation, setting);
    };
    return row;
}

}  // namespace hyperplane
