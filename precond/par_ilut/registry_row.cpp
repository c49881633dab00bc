// SPDX-License-Identifier: BSD-3-Clause
// The deck's keys of par_ilut.
#include <fmt/format.h>

#include "core/error.hpp"
#include "precond/par_ilut/par_ilut.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {
namespace {

ParIlutOptions options_of(const Parameters& parameters, const PreconditionerSetting& setting) {
    return read_par_ilut_options(parameters, setting.context.backend(), setting.matrix.pattern()->slab() != nullptr);
}

}  // namespace

ParIlutOptions read_par_ilut_options(const Parameters& parameters, Backend backend, bool couples_ranks) {
    const std::string section = "preconditioner";
    ParIlutOptions options;
    options.fill_limit = parameters.real(section, "fill_limit");
    options.rounds = int(parameters.integer(section, "rounds"));
    options.sweeps = int(parameters.integer(section, "sweeps"));
    options.candidates = int(parameters.integer(section, "candidates"));
    options.tolerance = parameters.real(section, "tolerance");
    options.pivots = pivot_options(parameters);
    options.in_rcm = parameters.has("ordering", "name") && parameters.text("ordering", "name") == "rcm";
    if (sweeps_triangles(parameters))
        options.jacobi = triangular_solve_options(parameters);
    else
        options.way = read_solve_way(parameters, backend, couples_ranks);
    const auto refuse = [&](const char* key, const char* needed) {
        if (parameters.is_given(section, key))
            throw RefusedKey(parameters, section, key,
                             fmt::format(" means nothing with preconditioner.rounds = 0{}; leave it out, or set {}",
                                         needed, "preconditioner.rounds"));
    };
    if (options.rounds == 0)
        for (const char* key : {"fill_limit", "candidates", "tolerance"}) refuse(key, "");
    if (options.rounds == 0 && options.sweeps == 0 && options.pivots.rules.policy != PivotPolicy::boost)
        refuse("pivot_boost", ", sweeps = 0 and no pivot_policy = boost");
    return options;
}

PreconditionerRow par_ilut_row() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    PreconditionerRow row;
    row.name = "par_ilut";
    row.summary = "threshold ILU, or IC of a symmetric matrix, of general matrices: the largest entries are kept";
    row.explanation =
        "ParILUT, of symmetric matrices ParICT: each round adds the entries of A - L U to the pattern, makes a "
        "fixed-point sweep, keeps the largest entries of each triangle, and makes another sweep. On the last pattern "
        "the factors are found by an elimination, or by fixed-point sweeps. Blocks are compared by their Frobenius "
        "norm. A GPU finds the factors with the bits of a CPU. On several ranks, the host of each finds all factors "
        "and keeps those of its rows. Source: Anzt, Chow, Dongarra, ParILUT: a new parallel threshold ILU "
        "factorization, SIAM J. Sci. Comput. 40, 2018.";
    row.kinds = {MatrixKind::general};
    row.on_general_ranks = true;
    row.only_on_ranks = {{"solve_mode", "sync"}};
    row.parameters = {
        {.section = section,
         .key = "fill_limit",
         .type = real,
         .default_value = "2",
         .description = "the most entries of a triangle of the factors, as a multiple of those of the matrix's "
                        "triangle; both with the diagonal",
         .minimum = Bound{1},
         .maximum = Bound{1000}},
        {.section = section,
         .key = "rounds",
         .type = integer,
         .default_value = "5",
         .description = "how often entries are added and removed; 0: the pattern of the matrix",
         .minimum = Bound{0},
         .maximum = Bound{1000}},
        {.section = section,
         .key = "sweeps",
         .type = integer,
         .default_value = "0",
         .description = "number of fixed-point sweeps on the last pattern, after the rounds; 0: the factors are found "
                        "by an elimination",
         .minimum = Bound{0},
         .maximum = Bound{10000}},
        {.section = section,
         .key = "candidates",
         .type = integer,
         .default_value = "2",
         .description = "the most entries that a round adds to a row, as a multiple of those of the matrix's row, of a "
                        "symmetric matrix from the diagonal on; the largest are taken. It bounds the memory of the "
                        "set-up",
         .minimum = Bound{1},
         .maximum = Bound{1000000}},
        {.section = section,
         .key = "tolerance",
         .type = real,
         .default_value = "0",
         .description = "no further round if the last one has reduced the Frobenius norm of A - L U by less than this "
                        "part of it; 0: all rounds",
         .minimum = Bound{0},
         .maximum = Bound{1}},
    };
    for (ParameterSpec& spec : triangular_solve_parameters()) row.parameters.push_back(std::move(spec));
    row.parameters.push_back(solve_key());
    row.parameters.back().only_with = {"triangular_solve", "exact"};
    for (ParameterSpec spec : pivot_parameters()) {
        if (spec.key == "pivot_boost") {
            spec.description += "; a pivot that cannot be used in a fixed-point sweep has the same size";
            spec.only_with.reset();
        }
        row.parameters.push_back(std::move(spec));
    }
    row.create = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return std::unique_ptr<Preconditioner>(new ParIlut(setting.context, options_of(parameters, setting)));
    };
    row.kernels = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return ParIlut::kernels(options_of(parameters, setting), setting);
    };
    row.exports_factors = true;
    row.plan_by_counts = par_ilut_by_counts;
    row.plan = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return ParIlut::plan(options_of(parameters, setting), setting);
    };
    return row;
}

}  // namespace hyperplane
