// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/hierarchy.hpp"

#include <fmt/format.h>

#include <future>

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/matrix/line_product.hpp"
#include "core/profile.hpp"
#include "core/ranks/cuts.hpp"
#include "precond/multigrid/constants.hpp"
#include "precond/multigrid/galerkin.hpp"
#include "precond/multigrid/jumps.hpp"

namespace hyperplane::multigrid {

std::string name_of(int grid, const Grid& extents) {
    return fmt::format("grid {}, {} x {} x {}", grid, extents.nx, extents.ny, extents.nz);
}

void check_coarsest(const Grid& grid, int dof) {
    if (grid.points() * dof <= most_dense_unknowns) return;
    throw UsageError(fmt::format(
        "multigrid: the coarsest grid has {} x {} x {} points with {} each, and a dense solve takes at most "
        "{} unknowns. Raise preconditioner.grids, lower preconditioner.coarsest_points, or set "
        "preconditioner.coarsest = jacobi",
        grid.nx, grid.ny, grid.nz, counted(dof, "unknown"), most_dense_unknowns));
}

void Hierarchy::clear() {
    coarsest_.reset();
    scalar_.reset();
    parts_.clear();
    shape_.reset();
    a_ = nullptr;
    complete_ = false;
    jumps_ = false;
}

void Hierarchy::begin(const StructMatrix& a, const CoarseningOptions& options) {
    const bool same = shape_ && shape_->layout == a.layout() && shape_->periodic == a.grid().periodic &&
                      shape_->offsets == a.stencil().offsets() && shape_->dof == a.dof() &&
                      shape_->storage == a.storage();
    if (!same) clear();
    a_ = &a;
    shape_ = Shape{a.layout(), a.grid().periodic, a.stencil().offsets(), a.dof(), a.storage()};
    parts_.reserve(options.grids);  // references to a grid's matrix stay valid
    if (parts_.empty()) parts_.emplace_back();
}

void Hierarchy::decide_about_copies(const CoarseningOptions& options) {
    jumps_ = false;
    if (!options.single_vectors || is_last(a_->grid(), a_->stencil(), options, 0)) return;
    Vector& r = parts_[0].r;
    if (a_->backend() == Backend::cuda && r.size() == 0)
        r = Vector(a_->context(), a_->layout(), a_->dof(), "multigrid: vectors");
    jumps_ = jumps_beyond_single(*a_, r);
    for (std::size_t grid = 1; jumps_ && grid < parts_.size(); ++grid) parts_[grid].single.matrix.reset();
}

namespace {

/// No axis of a grid that can be coarsened has couplings that can be compared with others.
[[noreturn]] void refuse_values(const StructMatrix& a) {
    throw SetupError(
        fmt::format("multigrid: the matrix of the grid of {} x {} x {} points holds values that are not "
                    "finite; check the coefficients",
                    a.grid().nx, a.grid().ny, a.grid().nz));
}

/// The first of a rank's slots in a vector of the whole grid, and the bytes of its own values.
Index first_slot(const Layout& part) {
    return part.begin_plane() * part.slots_of_plane();
}
Index bytes_of(const Layout& part) {
    return part.slots() * Index(sizeof(double));
}

}  // namespace

void Hierarchy::gather_finest_matrix(const CoarseningOptions& options) {
    const StructMatrix& a = *a_;
    const RankParts ranks(a.context(), a.grid());
    GridParts& finest = parts_[0];
    if (!ranks.cut() || (a.layout().halo() > 0 && ranks.serve(a.grid(), a.stencil(), options, 0))) return;
    if (!finest.matrix) {
        const Layout whole(LayoutKind::natural, a.grid(), a.layout().levels());
        finest.matrix.emplace(a.context(), whole, a.stencil(), a.dof(), a.storage(), "multigrid: matrices");
        finest.gathered_from = ranks;
    }
    follow_finest_matrix();
}

void Hierarchy::follow_finest_matrix() {
    if (parts_.empty() || !gathers_finest()) return;
    const StructMatrix& a = *a_;
    const std::vector<const double*> from = a.coefficients();
    const std::vector<double*> to = parts_[0].matrix->coefficients();
    for (std::size_t at = 0; at < from.size(); ++at)
        copy_between(a.context(), from[at], a.context(), to[at] + first_slot(a.layout()), bytes_of(a.layout()));
    parts_[0].gathered_from.gather(*parts_[0].matrix);
}

std::optional<Axes> Hierarchy::guess(int grid) const {
    if (complete_) return parts_[grid].interpolation->grids().axes;
    if (grid == 0 || parts_[grid - 1].interpolation->grids().axes != axes_to_compare(matrix(grid - 1))) return {};
    return axes_to_compare(matrix(grid));
}

Hierarchy::Guessed Hierarchy::coarsen(const CoarseningOptions& options, const SmootherChoices& smoothers,
                                      bool guesses) {
    const bool waits = !guesses || a_->backend() != Backend::cuda || a_->context().ranks() || a_->grid().any_periodic();
    Guessed guessed;
    RankParts ranks = a_->layout().is_part() && !gathers_finest() ? RankParts(a_->context(), a_->grid()) : RankParts();
    for (int grid = 0;; ++grid) {
        const StructMatrix& a = matrix(grid);
        Survey& survey = parts_[grid].survey;
        survey = {};
        if (is_last(a.grid(), a.stencil(), options, grid)) {
            parts_.resize(grid + 1);
            parts_[grid].interpolation.reset();
            break;
        }
        if (options.single(grid)) provide_copy(grid);
        const std::optional<Axes> guess = waits ? std::nullopt : this->guess(grid);
        if constexpr (cuda_built)
            if (const Axes all = axes_to_compare(a); guess && all[0] + all[1] + all[2] > 1)
                guessed.emplace_back(grid, CouplingSums(a, all, survey.copy));
        const Coarsening grids(a.grid(), guess ? *guess : strong_axes(a, options.strength, survey));
        if (!grids.any()) refuse_values(a);
        std::optional<Interpolation>& p = parts_[grid].interpolation;
        const bool same = p && p->grids().axes == grids.axes;
        if (!same) {
            parts_.resize(grid + 1);
            p.reset();
        }
        const Stencil stencil = coarse_stencil(a.stencil(), grids);
        const RankParts cut = ranks.coarsened(grids.axes);
        ranks = cut.serve(grids.coarse, stencil, options, grid + 1) ? cut : RankParts();
        Layout whole;
        if (!same) {
            const bool smoothed_last = smoothers.coarsest && is_last(grids.coarse, stencil, options, grid + 1);
            const SmootherChoice& choice = smoothed_last ? *smoothers.coarsest : smoothers.on(grid + 1);
            whole = a.context().ranks() ? Layout(LayoutKind::natural, grids.coarse, stencil.level_map())
                                        : choice.layout(a.context(), grids.coarse, stencil);
        }
        const Sources sources(a, grids, same ? p->coarse() : cut.layout(whole, stencil));
        {
            const ProfileScope scope(a.context(), "interpolation");
            if (same)
                p->compute(sources, options.rounds(grid));
            else
                p.emplace(sources, grids, cut.layout(whole, stencil), options.rounds(grid));
        }
        if (!same) {
            parts_.emplace_back();
            parts_.back().matrix.emplace(a.context(), ranks.layout(whole, stencil), stencil, a.dof(), a.storage(),
                                         "multigrid: matrices");
            if (cut.cut() && !ranks.cut()) parts_.back().gathered_from = cut;
        }
        {
            const ProfileScope scope(a.context(), "galerkin");
            StructMatrix& coarse = *parts_[grid + 1].matrix;
            galerkin_product(sources, *p, coarse);
            if (ranks.cut())
                coarse.share_halos();
            else if (cut.cut())
                cut.gather(coarse);
        }
        if (options.rounds(grid)) p->round();
    }
    return guessed;
}

bool Hierarchy::confirm([[maybe_unused]] const Guessed& guessed, [[maybe_unused]] const CoarseningOptions& options) {
    if constexpr (cuda_built)
        for (const auto& [grid, sums] : guessed) {
            const std::array<double, 3> ratios = sums.read(parts_[grid].survey);
            if (strong_of(axes_to_compare(matrix(grid)), ratios, options.strength) !=
                parts_[grid].interpolation->grids().axes)
                return false;
        }
    return true;
}

void Hierarchy::gather_finest(const Vector& part) {
    GridParts& finest = parts_[0];
    for (int c = 0; c < part.dof(); ++c)
        copy_between(part.context(), part.component(c), part.context(),
                     finest.b.component(c) + first_slot(part.layout()), bytes_of(part.layout()));
    finest.gathered_from.gather(finest.b);
}

void Hierarchy::to_part(Vector& part) const {
    for (int c = 0; c < part.dof(); ++c)
        copy_between(part.context(), parts_[0].x.component(c) + first_slot(part.layout()), part.context(),
                     part.component(c), bytes_of(part.layout()));
}

void Hierarchy::smooth_from_zero(int grid, const Vector& b, Vector& x) {
    parts_[grid].smoother.from_zero(b, x);
}

void Hierarchy::smooth_from_zero(int grid, const SingleVector& b, SingleVector& x) {
    parts_[grid].smoother.from_zero(b, x, parts_[grid].r, parts_[grid].t);
}

void Hierarchy::smooth(int grid, const Vector& b, Vector& x) {
    parts_[grid].smoother.smooth(b, x, parts_[grid].r, parts_[grid].t);
}

void Hierarchy::smooth(int grid, const SingleVector& b, SingleVector& x) {
    GridParts& parts = parts_[grid];
    parts.smoother.smooth(b, x, parts.single, parts.r, parts.t);
}

void Hierarchy::residual(int grid, const Vector& b, const Vector& x) {
    matrix(grid).subtract_product(b, x, parts_[grid].r);
}

void Hierarchy::residual(int grid, const SingleVector& b, const SingleVector& x) {
    GridParts& parts = parts_[grid];
    parts.smoother.residual(b, x, parts.single, parts.r, parts.t);
}

void Hierarchy::restrict_from(int grid, const Vector& /*like*/) {
    const Vector& r = parts_[grid].r;
    GridParts& next = parts_[grid + 1];
    exchange_halo(r);
    parts_[grid].interpolation->restrict_to(r, next.b);
    if (next.gathered_from.cut()) next.gathered_from.gather(next.b);
}

void Hierarchy::restrict_from(int grid, const SingleVector& /*like*/) {
    parts_[grid].interpolation->restrict_to(parts_[grid].single.r, parts_[grid + 1].single.b);
}

bool Hierarchy::restricts_residual(int grid) const {
    // Lines that are not equal take as long in one pass as in two.
    return !single(grid) && parts_[grid].interpolation->restricts_planes() && lines_to_follow(matrix(grid)) != nullptr;
}

void Hierarchy::restrict_residual(int grid, const Vector& b, const Vector& x) {
    Vector& r = parts_[grid].r;
    const PlanesOfResidual residual(matrix(grid), b, x);
    parts_[grid].interpolation->restrict_planes(
        r, [&](int plane, int to) { residual.compute(plane, to, r); }, parts_[grid + 1].b);
}

void Hierarchy::prolong_to(int grid, Vector& x) const {
    const Vector& coarse = parts_[grid + 1].x;
    exchange_halo(coarse);
    parts_[grid].interpolation->add_to(x, coarse);
}

void Hierarchy::prolong_to(int grid, SingleVector& x) const {
    parts_[grid].interpolation->add_to(x, parts_[grid + 1].single.x);
}

Index Hierarchy::product_bytes(int grid) const {
    const StructMatrix& a = matrix(grid);
    if (!single(grid)) return a.bytes_per_apply();
    const Index matrix = parts_[grid].single.matrix ? SingleMatrix::bytes(a.bytes()) : a.bytes();
    return matrix + 2 * a.unknowns() * Index(sizeof(float));
}

void Hierarchy::provide_singles(int grid, bool smoothed) {
    const StructMatrix& a = matrix(grid);
    SingleParts& single = parts_[grid].single;
    const auto provide = [&](SingleVector& vector) {
        if (vector.size() == 0) vector = SingleVector(a.context(), a.layout(), a.dof(), "multigrid: vectors");
    };
    provide(single.x), provide(single.b);
    if (!smoothed) {
        single.r = {};
        single.t = {};
        single.matrix.reset();
        return;
    }
    provide(single.r), provide(single.t);
    if (!single.matrix) provide_copy(grid);
    if (single.matrix && !parts_[grid].survey.copied) single.matrix->assign(a);
}

bool Hierarchy::leaves_out_copy(int grid) const {
    const SingleParts& single = parts_[grid].single;
    return jumps_ && single.r.size() > 0 && !single.matrix &&
           SingleMatrix::serves(matrix(grid).layout(), a_->backend());
}

void Hierarchy::provide_copy(int grid) {
    const StructMatrix& a = matrix(grid);
    std::optional<SingleMatrix>& copy = parts_[grid].single.matrix;
    if (!SingleMatrix::serves(a.layout(), a.backend()) || (jumps_ && grid > 0)) return;
    if (!copy) copy.emplace(SingleMatrix::like(a, "multigrid: matrices"));
    parts_[grid].survey.copy = copy->values();
}

SetupReport Hierarchy::setup(const StructMatrix& a, const CoarseningOptions& options, const SmootherChoices& smoothers,
                             const SmootherOptions& smoothing) {
    begin(a, options);
    std::vector<int> queued;
    {
        const ProfileScope scope(a.context(), "coarse grids");
        decide_about_copies(options);
        gather_finest_matrix(options);
        const Guessed guessed = coarsen(options, smoothers, true);
        queued = prepare_smoothers(smoothers, smoothing);
        if (!confirm(guessed, options)) {
            coarsen(options, smoothers, false);
            queued = prepare_smoothers(smoothers, smoothing);
        }
    }
    complete_ = false;
    if (options.single_vectors && !scalar_) scalar_.emplace(a.context(), "multigrid: vectors", 1);
    SetupReport all;
    const int last = size() - 1;
    std::optional<StructMatrix> copy;
    const StructMatrix* coarsest = nullptr;
    std::future<std::optional<DenseSolve::Factors>> factors;  // a thread's work while this one feeds a GPU
    if (a.backend() == Backend::cpu) coarsest_.reset();       // its memory serves the set-up
    if (!smoothers.coarsest) {
        check_coarsest(matrix(last).grid(), a.dof());
        coarsest = &on_host(matrix(last), copy);
        factors = std::async(a.backend() == Backend::cuda ? std::launch::async : std::launch::deferred,
                             [&] { return DenseSolve::factor(*coarsest, a.backend()); });
        parts_[last].smoother = {};
        parts_[last].r = {};
        parts_[last].t = {};
    }
    for (int grid = 0; grid <= last; ++grid) provide_vectors(grid, options, smoothers.coarsest.has_value());
    set_up_smoothers(queued, coarsest ? last : last + 1, all, [&] {
        const ProfileScope scope(a.context(), "coarsest grid");
        if (coarsest) invert_coarsest(*coarsest, factors);
    });
    all.factor_bytes += bytes();
    complete_ = true;
    return all;
}

void Hierarchy::invert_coarsest(const StructMatrix& coarsest,
                                std::future<std::optional<DenseSolve::Factors>>& factors) {
    try {
        const std::vector<int> known = without_constants(*a_, DenseSolve::doubtful(coarsest));
        if (known.empty()) {
            coarsest_.emplace(a_->context(), coarsest, factors.get());
        } else {
            // Large coefficients hide the sums of rows in single precision even more: residuals take the matrices
            // themselves.
            for (GridParts& parts : parts_) parts.single.matrix.reset();
            factors = {};
            coarsest_.emplace(a_->context(), coarsest, DenseSolve::factor(coarsest, a_->backend(), known), known);
        }
    } catch (const OutOfMemory& error) {
        const Grid& grid = coarsest.grid();
        throw OutOfMemory(fmt::format(
            "multigrid: the coarsest grid, {} x {} x {} points with {} each, is too large for the memory "
            "that is left: the inverse of its matrix takes {}. Lower preconditioner.coarsest_points, or set "
            "preconditioner.coarsest = jacobi. {}",
            grid.nx, grid.ny, grid.nz, counted(coarsest.dof(), "unknown"),
            in_mib(DenseSolve::bytes(coarsest.unknowns())), error.what()));
    }
}

void Hierarchy::provide_vectors(int grid, const CoarseningOptions& options, bool coarsest_is_smoothed) {
    GridParts& parts = parts_[grid];
    const StructMatrix& own = matrix(grid);
    const auto provide = [&](Vector& vector) {
        if (vector.size() == 0) vector = Vector(a_->context(), own.layout(), own.dof(), "multigrid: vectors");
    };
    const bool single = options.single(grid), smoothed = grid + 1 < size() || coarsest_is_smoothed;
    if (parts.matrix && !(single && grid > 0 && options.single(grid - 1))) provide(parts.x), provide(parts.b);
    if (single) provide_singles(grid, smoothed);
    if (smoothed) provide(parts.r), provide(parts.t);
}

Index Hierarchy::bytes() const {
    Index sum = coarsest_ ? coarsest_->bytes() : 0;
    for (const GridParts& parts : parts_) {
        if (parts.matrix) sum += parts.matrix->bytes();
        if (parts.interpolation) sum += parts.interpolation->bytes();
        sum += (parts.x.size() + parts.b.size() + parts.r.size() + parts.t.size()) * Index(sizeof(double));
        const SingleParts& single = parts.single;
        if (single.matrix) sum += single.matrix->bytes();
        sum += (single.x.size() + single.b.size() + single.r.size() + single.t.size()) * Index(sizeof(float));
    }
    return sum;
}

}  // namespace hyperplane::multigrid
