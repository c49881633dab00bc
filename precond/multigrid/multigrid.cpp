// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/multigrid.hpp"

#include <optional>
#include <string>

#include "core/profile.hpp"
#include "core/vector/blas1.hpp"
#include "precond/multigrid/check.hpp"

namespace hyperplane {

using multigrid::GridParts;

namespace {

/// Grids with fewer unknowns are one kind of work in a profile, with all coarser ones: their kernels are so short that
/// marks between them would take a noticeable part of the time.
constexpr Index least_profiled_unknowns = Index(1) << 18;

}  // namespace

Multigrid::Multigrid(const MultigridOptions& options, multigrid::SmootherChoices smoothers, bool symmetric)
    : options_(options), smoothers_(std::move(smoothers)) {
    std::vector<PreconditionerTraits> all;
    for (const multigrid::SmootherChoice& one : smoothers_.list) all.push_back(one.traits);
    if (smoothers_.coarsest) all.push_back(smoothers_.coarsest->traits);
    traits_ = traits(options, all, symmetric);
}

PreconditionerTraits Multigrid::traits(const MultigridOptions& options,
                                       const std::vector<PreconditionerTraits>& smoothers, bool symmetric) {
    PreconditionerTraits traits{
        .fixed = true,
        .symmetric = symmetric && options.cycle != CycleKind::f && options.pre_smoothing == options.post_smoothing};
    for (const PreconditionerTraits& one : smoothers) {
        traits.fixed = traits.fixed && one.fixed;
        traits.symmetric = traits.symmetric && one.symmetric;
        if (*one.varies) traits.varies = one.varies;
    }
    return traits;
}

SetupReport Multigrid::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    try {
        return hierarchy_.setup(a, options_.coarsening, smoothers_, options_.smoothing);
    } catch (...) {
        hierarchy_.clear();
        throw;
    }
}

void Multigrid::apply(const Vector& r, Vector& z) const {
    if (!hierarchy_.gathers_finest()) return cycle(0, r, z, options_.cycle, true);
    hierarchy_.gather_finest(r);
    cycle(0, hierarchy_[0].b, hierarchy_[0].x, options_.cycle, true);
    hierarchy_.to_part(z);
}

void Multigrid::cycle(int grid, const Vector& b, Vector& x, CycleKind kind, bool from_zero) const {
    const Context& context = b.context();
    const bool coarse = grid > 0 && b.size() < least_profiled_unknowns;
    std::optional<ProfileScope> together;
    if (coarse) together.emplace(context, "coarse grids", Index(0), ProfileScope::whole);
    if (grid + 1 == hierarchy_.size()) {
        const ProfileScope scope(context, "coarsest grid", coarsest_bytes(), ProfileScope::whole);
        return solve_coarsest(b, x);
    }
    GridParts &parts = hierarchy_[grid], &next = hierarchy_[grid + 1];
    const Index transfer = parts.interpolation->bytes();
    const auto vectors = [&](Index on_fine, Index on_coarse) {
        return (on_fine * b.size() + on_coarse * next.b.size()) * Index(sizeof(double));
    };
    const Index product = hierarchy_.matrix(grid).bytes_per_apply();
    const Index smoothing = product + parts.smoother.preconditioner().bytes_per_apply();
    const std::string name = context.profile() ? "grid " + std::to_string(grid) : "";
    const auto smooth = [&] { parts.smoother.smooth(b, x, parts.r, parts.t); };
    {
        const ProfileScope of_grid(context, name.c_str());
        if (int steps = options_.pre_smoothing; from_zero || steps > 0) {
            const Index first = from_zero && steps > 0 ? product : 0;  // the step from x = 0 needs no product
            const ProfileScope scope(context, "smoother", steps * smoothing - first, ProfileScope::whole);
            if (from_zero && steps > 0) {
                parts.smoother.from_zero(b, x);
                --steps;
            } else if (from_zero) {
                set_zero(x);
            }
            for (; steps > 0; --steps) smooth();
        }
        {
            const ProfileScope scope(context, "residual", product + vectors(1, 0));
            hierarchy_.matrix(grid).subtract_product(b, x, parts.r);
        }
        const ProfileScope scope(context, "restriction", transfer + vectors(1, 1));
        hierarchy_.restrict_from(grid);
    }
    cycle(grid + 1, next.b, next.x, kind, true);
    if (kind != CycleKind::v && grid + 2 < hierarchy_.size())
        cycle(grid + 1, next.b, next.x, kind == CycleKind::w ? CycleKind::w : CycleKind::v, false);
    const ProfileScope of_grid(context, name.c_str());
    {
        const ProfileScope scope(context, "prolongation", transfer + vectors(2, 1));
        hierarchy_.prolong_to(grid, x);
    }
    if (options_.post_smoothing == 0) return;
    const ProfileScope scope(context, "smoother", options_.post_smoothing * smoothing, ProfileScope::whole);
    for (int steps = options_.post_smoothing; steps > 0; --steps) smooth();
}

void Multigrid::solve_coarsest(const Vector& b, Vector& x) const {
    if (options_.coarsest_sweeps == 0) return hierarchy_.coarsest().apply(b, x);
    GridParts& parts = hierarchy_[hierarchy_.size() - 1];
    parts.smoother.from_zero(b, x);
    for (int sweep = 1; sweep < options_.coarsest_sweeps; ++sweep) parts.smoother.smooth(b, x, parts.r, parts.t);
}

Index Multigrid::coarsest_bytes() const {
    const int last = hierarchy_.size() - 1;
    if (options_.coarsest_sweeps == 0) return hierarchy_.coarsest().bytes();
    return options_.coarsest_sweeps *
           (hierarchy_.matrix(last).bytes_per_apply() + hierarchy_[last].smoother.preconditioner().bytes_per_apply());
}

Index Multigrid::bytes_per_apply() const {
    Index sum = 0;
    double visits = 1.0;  // of a grid in one cycle
    const int last = hierarchy_.size() - 1;
    for (int grid = 0; grid < last; ++grid) {
        const GridParts& parts = hierarchy_[grid];
        const Index a = hierarchy_.matrix(grid).bytes_per_apply();
        const Index m = parts.smoother.preconditioner().bytes_per_apply();
        const int steps = options_.pre_smoothing + options_.post_smoothing;
        sum += Index(visits * double(steps * (a + m) + 2 * parts.interpolation->bytes()));
        if (options_.cycle == CycleKind::w) visits *= 2.0;
        if (options_.cycle == CycleKind::f) visits += 1.0;
    }
    return sum + Index(visits * double(coarsest_bytes()));
}

ApplicationCheck Multigrid::check_application(const SystemMatrix& /*a*/, const Vector& r, const Vector& z,
                                              const MakeInDouble& /*in_double*/) const {
    if (!traits_.fixed) return Preconditioner::check_application(hierarchy_.matrix(0), r, z, {});
    return {multigrid::cycle_error(hierarchy_, options_, r, z), 1e-10, ""};
}

}  // namespace hyperplane
