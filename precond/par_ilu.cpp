#include "precond/par_ilu.hpp"

#include "core/error.hpp"
#include "precond/jacobi_sweeps.hpp"

namespace hyperplane {
namespace {

constexpr const char* solve_mode = "solve_mode";  ///< key of the triangles' sweeps; `mode` is the factors'

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
                     "ones as soon as they are made, in memory for one set of factors on a GPU, not deterministic",
                     "",
                     {},
                     {},
                     {"sync", "async"}});
    table.push_back({section,
                     "triangular_solve",
                     choice,
                     "exact",
                     "exact, as struct_ilu does, or jacobi: lower_sweeps and upper_sweeps Jacobi sweeps",
                     "",
                     {},
                     {},
                     {"exact", "jacobi"}});
    const ParameterTable solves = triangle_sweep_parameters(solve_mode);
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

/// Whether triangles are swept, too; throws UsageError where a key of such sweeps would mean nothing.
bool swept(const Parameters& parameters) {
    if (parameters.text("preconditioner", "triangular_solve") == "jacobi") return true;
    for (const ParameterSpec& spec : triangle_sweep_parameters(solve_mode))
        if (parameters.is_given(spec.section, spec.key))
            throw UsageError(parameters.where(spec.section, spec.key) +
                             ": exact triangular solves have no sweeps; leave it out, or set "
                             "preconditioner.triangular_solve = jacobi");
    return false;
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
        if (!swept(parameters)) return std::make_unique<StructIlu>(setting.context, factorisation);
        return std::make_unique<JacobiSweeps>(setting.context, factorisation,
                                              triangle_sweep_options(parameters, solve_mode));
    };
    row.plan = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        const StructIluOptions factorisation = factorisation_of(parameters);
        return swept(parameters)
                   ? JacobiSweeps::plan(factorisation, triangle_sweep_options(parameters, solve_mode), setting)
                   : StructIlu::plan(factorisation, setting);
    };
    return row;
}

}  // namespace hyperplane
