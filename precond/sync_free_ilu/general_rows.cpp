// SPDX-License-Identifier: BSD-3-Clause
// jacobi_sweeps, par_ilu and subdomain_ildu0 on general matrices, by the keys that they have on a grid.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <type_traits>

#include "core/error.hpp"
#include "precond/choice_key.hpp"
#include "precond/ilu/ilu_preconditioner.hpp"
#include "precond/sync_free_ilu/rank_parts_cuda.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {
namespace {

/// Refuses reduced storage for sweeps in place of solves, and `modes`, keys that say how sweeps for the factors go,
/// other than `sync`.
SyncFreeOptions ilu_options_of(const Parameters& parameters, const std::string& name,
                               const std::vector<std::string>& modes = {}) {
    std::vector<std::string> errors;
    const bool is_swept = name == "jacobi_sweeps", may_be_swept = parameters.has("preconditioner", "triangular_solve");
    if (is_reduced(factor_storage(parameters)) && (is_swept || (may_be_swept && sweeps_triangles(parameters))))
        errors.push_back(
            fmt::format("{}: of a general matrix, {} stores its factors in double alone{}; leave the key out{}",
                        parameters.where("preconditioner", "storage"), name,
                        is_swept ? "" : " where sweeps take the place of solves",
                        is_swept ? "" : ", or set triangular_solve = exact"));
    for (const std::string& key : modes)
        if (parameters.text("preconditioner", key) != "sync")
            errors.push_back(
                fmt::format("{}: on a general matrix, {} sweeps synchronously; set {} = sync, or leave the key out",
                            parameters.where("preconditioner", key), name, key));
    if (!errors.empty()) throw UsageError(fmt::format("{}", fmt::join(errors, "\n")));
    SyncFreeOptions options;
    options.name = name;
    if (parameters.has("preconditioner", "fill_level"))
        options.fill_level = int(parameters.integer("preconditioner", "fill_level"));
    options.pivots = pivot_options(parameters);
    options.storage = factor_storage(parameters);
    return options;
}

SyncFreeOptions jacobi_sweeps_options(const Parameters& parameters) {
    SyncFreeOptions options = ilu_options_of(parameters, "jacobi_sweeps");
    options.sweeps = jacobi_options(parameters, "mode");
    return options;
}

SyncFreeOptions par_ilu_options(const Parameters& parameters, Backend backend, bool with_ranks) {
    SyncFreeOptions options = ilu_options_of(parameters, "par_ilu", {"mode"});
    options.fixed_point_sweeps = int(parameters.integer("preconditioner", "sweeps"));
    if (sweeps_triangles(parameters))
        options.sweeps = triangular_solve_options(parameters);
    else
        options.way = read_solve_way(parameters, backend, with_ranks);
    return options;
}

ParameterTable part_parameters() {
    return {choice_key("parts", "metis",
                       "of a general matrix, how its rows are divided into subdomains; metis: parts of the graph with "
                       "few couplings between them; consecutive: rows that follow each other, in the order of "
                       "[ordering]. They do not depend on the number of ranks",
                       {"metis", "consecutive"}),
            {.section = "preconditioner",
             .key = "part_rows",
             .type = ParameterType::integer,
             .default_value = "auto",
             .description = "of a general matrix, block rows of a subdomain at most; times the unknowns of a block row "
                            "at most 16384, which fit a GPU's shared memory. auto: 2048 for up to 3 unknowns, fewer "
                            "for more",
             .minimum = Bound{1},
             .choices = {"auto"}}};
}

/// What the keys say, where `dof` is all that is known of the matrix.
SyncFreeOptions part_options_of(const Parameters& parameters, Backend backend, int dof) {
    const std::string section = "preconditioner", name = "subdomain_ildu0";
    SyncFreeOptions options = ilu_options_of(parameters, name);
    if (parameters.text(section, "subdomain") != "auto")
        throw RefusedKey(
            parameters, section, "subdomain",
            ": a general matrix has no boxes of points; leave the key out, and set preconditioner.part_rows");
    options.part_variant = subdomain_variant(parameters.text(section, "variant"));
    if (options.part_variant != SubdomainVariant::level && backend == Backend::cpu)
        throw UsageError(fmt::format(
            "{}: on a general matrix, variant {} is a way in which threads of a GPU work; a CPU has one thread a "
            "subdomain. Set variant = level, which gives the same M, or device.backend = cuda",
            parameters.where(section, "variant"), name_of(options.part_variant)));
    options.parts = PartOptions{PartOptions::default_rows(dof), parameters.text(section, "parts") == "consecutive"};
    if (parameters.text(section, "part_rows") != "auto") {
        options.parts->most_rows = parameters.integer(section, "part_rows");
        if (const Index most = PartOptions::largest_rows(dof); options.parts->most_rows > most)
            throw UsageError(fmt::format(
                "{}: {} block rows of {} unknowns are more than {}, the most that fit a GPU's shared memory; make "
                "subdomains smaller",
                parameters.where(section, "part_rows"), options.parts->most_rows, dof, most));
    }
    if (sweeps_triangles(parameters)) options.sweeps = triangular_solve_options(parameters);
    return options;
}

SyncFreeOptions part_options(const Parameters& parameters, const PreconditionerSetting& setting) {
    SyncFreeOptions options = part_options_of(parameters, setting.context.backend(), setting.matrix.dof());
    if (options.part_variant != SubdomainVariant::level && setting.matrix.pattern()->slab())
        throw UsageError(fmt::format(
            "{}: {} does not work on several ranks that share the rows of a general matrix; set variant = level, or "
            "take one rank",
            parameters.where("preconditioner", "variant"), name_of(options.part_variant)));
    return options;
}

/// Refuses keys that mean something on general matrices alone.
void refuse_parts_on_grid(const Parameters& parameters) {
    for (const char* key : {"parts", "part_rows"})
        if (parameters.is_given("preconditioner", key))
            throw RefusedKey(
                parameters, "preconditioner", key,
                ": on a grid, subdomains are boxes of points; leave the key out, and set preconditioner.subdomain");
}

}  // namespace

bool couples_ranks(const Parameters& parameters, const PreconditionerSetting& setting) {
    const std::string section = "preconditioner";
    return setting.matrix.kind() == MatrixKind::general && setting.matrix.pattern()->slab() &&
           !(parameters.has(section, "scope") && parameters.text(section, "scope") == "rank");
}

namespace {

/// Refuses reduced storage of those variants of parts whose kernels, of a GPU, read factors in double alone.
void check_storage(const SyncFreeOptions& options, const Parameters& parameters, Backend backend) {
    if (!is_reduced(options.storage) || backend != Backend::cuda) return;
    if (options.parts && !reads_reduced_factors(options.part_variant))
        throw RefusedKey(
            parameters, "preconditioner", "storage",
            fmt::format(": of a general matrix, {} stores its factors in double alone on a GPU with variant = {}; "
                        "leave the key out, or set variant = level",
                        options.name, name_of(options.part_variant)));
}

/// Calls body(Class(), options) with the options for a matrix on a backend and the class that serves them: on several
/// ranks a GPU solves whole parts.
template <class Body>
auto with_class(ReadOptions read, const Parameters& parameters, const PreconditionerSetting& setting, Backend backend,
                const Body& body) {
    SyncFreeOptions options = read(parameters, setting);
    options.couples_ranks = couples_ranks(parameters, setting);
    check_storage(options, parameters, backend);
    if constexpr (cuda_built)
        if (backend == Backend::cuda && options.couples_ranks && options.parts && !options.sweeps)
            return body(std::type_identity<RankPartsCuda>(), options);
    return body(std::type_identity<SyncFreeIlu>(), options);
}

}  // namespace

PreconditionerRow with_general(PreconditionerRow row, ReadOptions read) {
    const bool takes_grids = row.takes(MatrixKind::structured);
    if (!row.takes(MatrixKind::general)) row.kinds.push_back(MatrixKind::general);
    row.exports_factors = true;
    const auto general = [=](const PreconditionerSetting& setting) {
        return !takes_grids || setting.matrix.kind() == MatrixKind::general;
    };
    row.create = [=, on_grid = row.create](const Parameters& parameters, const PreconditionerSetting& setting) {
        if (!general(setting)) return on_grid(parameters, setting);
        return with_class(read, parameters, setting, setting.context.backend(),
                          [&]<class Ilu>(std::type_identity<Ilu>, const SyncFreeOptions& options) {
                              return std::unique_ptr<Preconditioner>(new Ilu(setting.context, options));
                          });
    };
    row.plan = [=, on_grid = row.plan](const Parameters& parameters, const PreconditionerSetting& setting) {
        if (!general(setting)) return on_grid(parameters, setting);
        return with_class(read, parameters, setting, setting.context.backend(),
                          [&]<class Ilu>(std::type_identity<Ilu>, const SyncFreeOptions& options) {
                              return Ilu::plan(options, setting);
                          });
    };
    row.kernels = [=, on_grid = row.kernels](const Parameters& parameters, const PreconditionerSetting& setting) {
        if (!general(setting)) return on_grid ? on_grid(parameters, setting) : std::vector<KernelSet>{};
        return with_class(read, parameters, setting, Backend::cuda,
                          [&]<class Ilu>(std::type_identity<Ilu>, const SyncFreeOptions& options) {
                              return Ilu::kernels(options, setting);
                          });
    };
    return row;
}

PreconditionerRow with_general_sweeps(PreconditionerRow jacobi_sweeps) {
    jacobi_sweeps.on_general_ranks = true;
    jacobi_sweeps.plan_by_counts = [](const Parameters& parameters, const Context& context, const BlockCounts& a) {
        return by_counts(jacobi_sweeps_options(parameters), context, a);
    };
    return with_general(std::move(jacobi_sweeps), [](const Parameters& parameters, const PreconditionerSetting&) {
        return jacobi_sweeps_options(parameters);
    });
}

PreconditionerRow with_general_fixed_point(PreconditionerRow par_ilu) {
    par_ilu.on_general_ranks = true;
    par_ilu.plan_by_counts = [](const Parameters& parameters, const Context& context, const BlockCounts& a) {
        return by_counts(par_ilu_options(parameters, context.backend(), false), context, a);
    };
    par_ilu.boosts_general_alone = true;
    ParameterSpec solve = solve_key();
    solve.only_with = {"triangular_solve", "exact"};
    par_ilu.parameters.push_back(solve);
    par_ilu.plan = [on_grid = par_ilu.plan](const Parameters& parameters, const PreconditionerSetting& setting) {
        if (parameters.is_given("preconditioner", "solve"))
            throw RefusedKey(parameters, "preconditioner", "solve",
                             ": on a grid, solves follow the wavefront, and there is one way alone; leave the key out");
        return on_grid(parameters, setting);
    };
    return with_general(std::move(par_ilu), [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return par_ilu_options(parameters, setting.context.backend(), couples_ranks(parameters, setting));
    });
}

PreconditionerRow with_general_parts(PreconditionerRow subdomain_ildu0) {
    subdomain_ildu0.on_general_ranks = true;
    subdomain_ildu0.plan_by_counts = [](const Parameters& parameters, const Context& context, const BlockCounts& a) {
        return by_counts(part_options_of(parameters, context.backend(), a.dof), context, a);
    };
    const ParameterTable keys = part_parameters();
    subdomain_ildu0.parameters.insert(subdomain_ildu0.parameters.begin() + 1, keys.begin(), keys.end());
    subdomain_ildu0.plan = [on_grid = subdomain_ildu0.plan](const Parameters& parameters,
                                                            const PreconditionerSetting& setting) {
        refuse_parts_on_grid(parameters);
        return on_grid(parameters, setting);
    };
    return with_general(std::move(subdomain_ildu0), part_options);
}

}  // namespace hyperplane
