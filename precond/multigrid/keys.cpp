// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "core/counted.hpp"
#include "core/error.hpp"
#include "precond/multigrid/dense_solve.hpp"

namespace hyperplane::multigrid {

ParameterTable parameters() {
    using enum ParameterType;
    return {
        {.section = section,
         .key = "cycle",
         .type = choice,
         .default_value = "v",
         .description = "how often a cycle visits the next grid: once (v), twice (w), or by an F-cycle and then a "
                        "V-cycle (f). An F-cycle is not symmetric, so cg does not take it",
         .choices = {"v", "w", "f"}},
        {.section = section,
         .key = "pre_smoothing",
         .type = integer,
         .default_value = "1",
         .description = "smoothing steps before the visit of the next grid",
         .minimum = Bound{0},
         .maximum = Bound{20}},
        {.section = section,
         .key = "post_smoothing",
         .type = integer,
         .default_value = "1",
         .description = "smoothing steps after it; cg needs as many as before, for a symmetric cycle",
         .minimum = Bound{0},
         .maximum = Bound{20}},
        {.section = section,
         .key = "strength",
         .type = real,
         .default_value = "0.5",
         .description = "an axis is coarsened if its couplings are at least this times those of the axis with the "
                        "strongest ones; 0 coarsens all axes, 1 the strongest alone",
         .minimum = Bound{0.0},
         .maximum = Bound{1.0}},
        {.section = section,
         .key = "coarsest_points",
         .type = integer,
         .default_value = "auto",
         .description =
             "a grid of at most so many points is the last one. auto: 512 with coarsest = dense for a symmetric matrix "
             "with one unknown a point and no periodic axes, whose inverse takes the time of its band, else 150. More "
             "points make a cycle shorter on a GPU, where small grids take the time of their launches, and a set-up "
             "longer. The inverse of n unknowns takes 8 n^2 bytes, and a set-up on a CPU up to as many besides",
         .minimum = Bound{1},
         .maximum = Bound{double(most_dense_unknowns)},
         .choices = {"auto"}},
        {.section = section,
         .key = "coarsest",
         .type = choice,
         .default_value = "dense",
         .description =
             "how the last grid is solved: dense multiplies by the inverse of its matrix; jacobi takes coarsest_sweeps "
             "steps of l1 Jacobi from zero, which suits a grid of any size and keeps cycles symmetric",
         .choices = {"dense", "jacobi"}},
        {.section = section,
         .key = "coarsest_sweeps",
         .type = integer,
         .default_value = "20",
         .description = "steps on the last grid, for coarsest = jacobi",
         .minimum = Bound{1},
         .maximum = Bound{10000}},
        {.section = section,
         .key = "grids",
         .type = integer,
         .default_value = "32",
         .description = "at most so many grids, the finest included",
         .minimum = Bound{1},
         .maximum = Bound{32}},
        {.section = section,
         .key = "replicated_points",
         .type = integer,
         .default_value = "auto",
         .description =
             "on several ranks: a coarse grid of at most so many points is not cut, but computed as a whole by every "
             "rank. auto: 4096 on CPUs, 300000 on GPUs. Results are the same for any number, unless smoother.scope = "
             "rank drops couplings on the grids that are cut; times and memory are not",
         .minimum = Bound{0},
         .maximum = Bound{1e9},
         .choices = {"auto"}},
        {.section = section,
         .key = "damping",
         .type = real,
         .default_value = "auto",
         .description =
             "omega, the part of a smoother's correction that is used. auto: min(1, 1.7 / lambda) on each grid, with "
             "lambda the largest eigenvalue of M^-1 A that the power method finds; for incomplete factorisations of "
             "M-matrices 1, or 0.95 where couplings to opposite neighbours differ by more than a factor of ten",
         .minimum = Bound{0.0, true},
         .maximum = Bound{2.0, true},
         .choices = {"auto"}},
        {.section = section,
         .key = "power_steps",
         .type = integer,
         .default_value = "12",
         .description = "steps of the power method on each grid",
         .minimum = Bound{1},
         .maximum = Bound{1000},
         .only_with = Condition{"damping", "auto"}},
        factor_storage_parameter({std::begin(all_factor_storages), std::end(all_factor_storages)},
                                 "of the smoothers' factors, unless smoother.storage says otherwise, and of "
                                 "interpolation weights, which are in single precision for half_scaled, too"),
        {.section = section,
         .key = "storage_from",
         .type = integer,
         .default_value = "0",
         .description = "the first grid for which storage = single or half_scaled holds; finer ones are stored in "
                        "double precision. A number that is too large for any matrix on the grid is refused; a run "
                        "warns where its own matrix leads to fewer grids",
         .minimum = Bound{0},
         .maximum = Bound{32}},
        {.section = section,
         .key = "vectors",
         .type = choice,
         .default_value = "double",
         .description =
             "for storage = single or half_scaled, from the grid storage_from on: single keeps the vectors of a cycle, "
             "and copies of the matrices, in single precision, and sums in double precision. It is faster where cycles "
             "wait for memory, and takes more of it. Input and output stay in double precision. One rank alone takes "
             "it. Take fgmres, not gmres, with it: the rounding of a sum is not that of its parts. Where diagonals of "
             "the matrix differ by a factor of more than 4e6, which single precision does not resolve, the matrices of "
             "coarse grids are not rounded, and a run says so; vectors still are, which costs one or two iterations of "
             "cg at a jump of 1e8",
         .choices = {"double", "single"}},
        {.section = section,
         .key = "coarse_smoother",
         .type = text,
         .default_value = "same",
         .description = "the smoother of all grids but the finest: same, which is that of [smoother] with its keys, or "
                        "another preconditioner that takes matrices on a grid, with its keys' defaults for smoothing"},
        {.section = smoother_section,
         .key = "name",
         .type = text,
         .default_value = "struct_ilu",
         .description = "the smoother: any other preconditioner that takes matrices on a grid (hyperplane help "
                        "smoother), with its keys"},
    };
}

std::string storage_without_effect(const CoarseningOptions& options, const std::string& source, int grids) {
    const int last = options.grids_to_round(grids) - 1;
    if (!options.rounded_from || *options.rounded_from <= last) return "";
    return fmt::format("has no effect: {} {}{}; {}", source, counted(grids, "grid"),
                       options.single_vectors ? "" : ", and the last one is solved in double precision",
                       last > 0 ? fmt::format("set it to {} or less", last) : "leave it out");
}

namespace {

/// Refuses a storage_from that is beyond the last grid whatever the values of the matrix: the number of grids depends
/// on them, since axes with weak couplings are coarsened later than others. Multigrid::setup warns where the values
/// decide.
void refuse_grids_that_cannot_be(const Parameters& parameters, const Grid& grid, const CoarseningOptions& options) {
    if (!options.rounded_from || *options.rounded_from == 0) return;
    const std::string what =
        storage_without_effect(options, fmt::format("{} x {} x {} points lead to at most", grid.nx, grid.ny, grid.nz),
                               most_grids(grid, options));
    if (!what.empty()) throw RefusedKey(parameters, section, "storage_from", fmt::format(" {}", what));
}

/// The given keys that say how grids are smoothed and how a cycle visits the next one.
std::vector<std::string> given_keys_of_cycles(const Parameters& parameters) {
    std::vector<std::string> given;
    for (const Parameters::Value& value : parameters.all()) {
        const ParameterSpec& spec = value.spec;
        const auto is_one_of = [&](std::initializer_list<const char*> keys) {
            return std::find(keys.begin(), keys.end(), spec.key) != keys.end();
        };
        if (!parameters.is_given(spec.section, spec.key)) continue;
        if (spec.section == smoother_section ||
            (spec.section == section && is_one_of({"cycle", "pre_smoothing", "post_smoothing", "strength", "damping",
                                                   "power_steps", "coarse_smoother"})))
            given.push_back(spec.section + "." + spec.key);
    }
    return given;
}

}  // namespace

MultigridOptions options_of(const Parameters& parameters, const PreconditionerSetting& setting) {
    MultigridOptions options;
    const std::string& cycle = parameters.text(section, "cycle");
    options.cycle = cycle == "w" ? CycleKind::w : cycle == "f" ? CycleKind::f : CycleKind::v;
    options.pre_smoothing = int(parameters.integer(section, "pre_smoothing"));
    options.post_smoothing = int(parameters.integer(section, "post_smoothing"));
    const int from = int(parameters.integer(section, "storage_from"));
    if (is_reduced(factor_storage(parameters)))
        options.coarsening.rounded_from = from;
    else if (from > 0)
        throw RefusedKey(parameters, section, "storage_from",
                         " means nothing with preconditioner.storage = double; leave it out, or set "
                         "preconditioner.storage = single");
    options.coarsening.single_vectors = parameters.text(section, "vectors") == "single";
    if (options.coarsening.single_vectors && !options.coarsening.rounded_from)
        throw RefusedKey(parameters, section, "vectors",
                         ": vectors in single precision go with factors in reduced precision; set "
                         "preconditioner.storage = single, or leave vectors out");
    if (parameters.text(section, "coarsest") == "jacobi")
        options.coarsest_sweeps = int(parameters.integer(section, "coarsest_sweeps"));
    else if (parameters.is_given(section, "coarsest_sweeps"))
        throw RefusedKey(parameters, section, "coarsest_sweeps",
                         " means nothing with preconditioner.coarsest = dense; leave it out, or set "
                         "preconditioner.coarsest = jacobi");
    if (parameters.integer(section, "grids") == 1)
        for (const char* key : {"strength", "coarsest_points", "coarse_smoother"})
            if (parameters.is_given(section, key))
                throw RefusedKey(parameters, section, key,
                                 " means nothing with preconditioner.grids = 1, where no grid is coarsened; leave it "
                                 "out, or set preconditioner.grids = 2 or more");
    options.coarsening.strength = parameters.real(section, "strength");
    const MatrixShape& a = setting.matrix;
    const bool banded = options.coarsest_sweeps == 0 && a.symmetric() && a.dof() == 1 && !a.grid().any_periodic();
    options.coarsening.coarsest_points = parameters.text(section, "coarsest_points") != "auto"
                                             ? int(parameters.integer(section, "coarsest_points"))
                                         : banded ? 512
                                                  : 150;
    options.coarsening.grids = int(parameters.integer(section, "grids"));
    options.coarsening.replicated_points = parameters.text(section, "replicated_points") != "auto"
                                               ? int(parameters.integer(section, "replicated_points"))
                                           : setting.context.backend() == Backend::cuda ? 300000
                                                                                        : 4096;
    refuse_grids_that_cannot_be(parameters, a.grid(), options.coarsening);
    if (parameters.text(section, "damping") != "auto") options.smoothing.damping = parameters.real(section, "damping");
    options.keys_of_cycles = given_keys_of_cycles(parameters);
    options.smoothing.power_steps = int(parameters.integer(section, "power_steps"));
    if (options.pre_smoothing + options.post_smoothing == 0)
        throw UsageError(parameters.where(section, "post_smoothing") +
                         ": a cycle without smoothing does not reduce errors that vary from point to point; set "
                         "pre_smoothing or post_smoothing to 1 or more");
    return options;
}

}  // namespace hyperplane::multigrid
