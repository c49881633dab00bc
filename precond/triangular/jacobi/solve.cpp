// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/jacobi/solve.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "precond/choice_key.hpp"
#include "precond/triangular/wavefront/wavefront.hpp"

namespace hyperplane {
namespace {

/// The key of the sweeps' mode for factorisations that may have a key `mode` themselves.
constexpr const char* solve_mode = "solve_mode";

TriangleShape shape_of(const IluPattern& p, Backend backend) {
    return {p.layout, p.stencil.offsets(), p.dof, p.symmetric, IluFactors::unit(p, backend), p.storage};
}

void refuse_divergence(TriangleSweeps& sweeps, const TriangleFactors& factors, Side side, int count,
                       const std::string& name) {
    const std::vector<double> growth = sweeps.growth(factors, side, most_growth);
    judge_growth(growth, count, side, name, "struct_ilu");
}

}  // namespace

void judge_growth(const std::vector<double>& growth, int sweeps, Side side, const std::string& name,
                  const std::string& exact, const std::string& remedy) {
    if (int(growth.size()) == sweeps && growth.back() <= most_growth_at_last) return;
    throw SetupError(
        fmt::format("{0}: Jacobi sweeps diverge on the {1} triangle: after {2} of {3} {1}_sweeps the error is {4:.2g} "
                    "times that without sweeps, since the factor is too far from normal. Use another "
                    "preconditioner.{1}_sweeps, a larger preconditioner.shift, {5}or {6}, whose solves are exact.",
                    name, side == Side::lower ? "lower" : "upper", growth.size(), sweeps, growth.back(), remedy,
                    name == "jacobi_sweeps" ? exact : "preconditioner.triangular_solve = exact"));
}

PreconditionerTraits jacobi_traits(const SweepOptions& options, bool symmetric) {
    const bool sync = options.mode == SweepMode::sync;
    return {.fixed = sync,
            .symmetric = sync && symmetric && options.lower == options.upper,
            .varies = sync ? "" : "block_async sweeps"};
}

std::vector<KernelSet> jacobi_kernels(const TriangleShape& shape, const SweepOptions& options) {
    if constexpr (cuda_built) {
        if (options.mode != SweepMode::sync) return {};  // asynchronous sweeps are loops over points
        const char* const family = shape.zeros > 0 ? "jacobi_sweep_of_colours" : "jacobi_sweep";
        return {{family, shape.layout, Stencil::closure(shape.offsets), shape.dof, shape.symmetric, shape.storage,
                 [shape] { return TriangleSweepsCuda::programs(shape); }}};
    }
    return {};
}

std::vector<KernelSet> JacobiSolve::kernels(const IluPattern& pattern, bool /*single_vectors*/) const {
    return jacobi_kernels(shape_of(pattern, Backend::cuda), options_);
}

void refuse_divergence(TriangleSweeps& sweeps, const TriangleFactors& factors, const SweepOptions& options,
                       const std::string& name) {
    refuse_divergence(sweeps, factors, Side::lower, options.lower, name);
    refuse_divergence(sweeps, factors, Side::upper, options.upper, name);
}

void JacobiSolve::accept(const IluFactors& factors, const std::string& name) {
    const TriangleShape shape = factors.triangle_shape();
    if (host_offsets_ != shape.offsets) {
        offsets_ = copied_to(factors.context(), "sweeps", shape.offsets);
        host_offsets_ = shape.offsets;
    }
    if (!sweeps_ || !sweeps_->serves(shape)) {
        sweeps_.reset();
        sweeps_ = std::make_unique<TriangleSweeps>(factors.context(), shape, options_, factors.of_system());
    }
    refuse_divergence(*sweeps_, factors.triangle_factors(offsets_.data()), options_, name);
}

void JacobiSolve::apply(const IluFactors& factors, const Vector& r, Vector& z) const {
    sweeps_->apply(factors.triangle_factors(offsets_.data()), r, z);
}

Index JacobiSolve::bytes(const IluPattern& pattern, Backend /*backend*/) const {
    return pattern.stencil.size() * Index(sizeof(Int3)) +
           TriangleSweeps::bytes(pattern.layout.slots_in_memory() * pattern.dof);
}

Index JacobiSolve::bytes_per_apply(const IluPattern& pattern, Backend backend) const {
    return TriangleSweeps::bytes_per_apply(shape_of(pattern, backend), options_);
}

ParameterTable jacobi_parameters(const std::string& mode) {
    using enum ParameterType;
    const std::string section = "preconditioner";
    return {
        {.section = section,
         .key = "lower_sweeps",
         .type = integer,
         .default_value = "5",
         .description =
             "number of Jacobi sweeps for the lower triangle, from x = 0; the first one solves with its diagonal",
         .minimum = Bound{1},
         .maximum = Bound{10000}},
        {.section = section,
         .key = "upper_sweeps",
         .type = integer,
         .default_value = "5",
         .description = "the same for the upper triangle; cg needs as many as lower_sweeps",
         .minimum = Bound{1},
         .maximum = Bound{10000}},
        choice_key(
            mode, "sync",
            "sync: a sweep reads only values of the sweep before, so M is a fixed operator; block_async: blocks of 128 "
            "points read whatever values their neighbours have at the time, so M is neither fixed nor deterministic, "
            "for fgmres and richardson alone; of a general matrix the points are its block rows",
            {"sync", "block_async"}),
        choice_key("block_order", "dependency",
                   "order in which block_async begins its blocks; dependency: forward for the lower triangle, backward "
                   "for the "
                   "upper one; natural: no order",
                   {"dependency", "forward", "backward", "natural"}, Condition{mode, "block_async"}),
    };
}

SweepOptions jacobi_options(const Parameters& parameters, const std::string& mode) {
    const std::string section = "preconditioner", &order = parameters.text(section, "block_order");
    SweepOptions options;
    options.lower = int(parameters.integer(section, "lower_sweeps"));
    options.upper = int(parameters.integer(section, "upper_sweeps"));
    options.mode = parameters.text(section, mode) == "sync" ? SweepMode::sync : SweepMode::block_async;
    options.order = order == "forward"    ? BlockOrder::forward
                    : order == "backward" ? BlockOrder::backward
                    : order == "natural"  ? BlockOrder::natural
                                          : BlockOrder::dependency;
    return options;
}

ParameterTable triangular_solve_parameters() {
    ParameterTable table{choice_key(
        "triangular_solve", "exact",
        "exact, or jacobi: lower_sweeps and upper_sweeps Jacobi sweeps, as jacobi_sweeps does", {"exact", "jacobi"})};
    for (ParameterSpec& spec : jacobi_parameters(solve_mode)) {
        if (!spec.only_with) spec.only_with = {"triangular_solve", "jacobi"};
        table.push_back(spec);
    }
    return table;
}

bool sweeps_triangles(const Parameters& parameters) {
    return parameters.text("preconditioner", "triangular_solve") == "jacobi";
}

SweepOptions triangular_solve_options(const Parameters& parameters) {
    return jacobi_options(parameters, solve_mode);
}

std::unique_ptr<TriangularSolve> chosen_solve(const Parameters& parameters) {
    if (sweeps_triangles(parameters)) return std::make_unique<JacobiSolve>(triangular_solve_options(parameters));
    return std::make_unique<WavefrontSolve>();
}

}  // namespace hyperplane
