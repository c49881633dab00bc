// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/multigrid.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <type_traits>
#include <utility>

#include "core/profile.hpp"
#include "core/vector/blas1.hpp"
#include "precond/multigrid/check.hpp"
#include "precond/multigrid/jumps.hpp"
#include "precond/multigrid/keys.hpp"

namespace hyperplane {

using multigrid::GridParts;

namespace {

/// On a GPU a grid with fewer unknowns, if it is not the finest, is one kind of work in a profile: events between its
/// short kernels would take a noticeable part of their time.
constexpr Index least_divided_unknowns = Index(1) << 18;

/// The warning about a storage or storage_from that has no effect on a matrix with so many grids; empty if it has one.
std::string unused_storage(const multigrid::CoarseningOptions& options, int grids) {
    const std::string what = multigrid::storage_without_effect(options, "the values of this matrix lead to", grids);
    if (what.empty()) return "";
    if (*options.rounded_from == 0) return "preconditioner.storage " + what;
    return fmt::format("preconditioner.storage_from = {} {}", *options.rounded_from, what);
}

/// The warning about keys of cycles where there is one grid; empty if there are more, or no such key is given.
std::string unused_keys(const MultigridOptions& options, int grids) {
    const std::vector<std::string>& keys = options.keys_of_cycles;
    if (grids > 1 || keys.empty()) return "";
    return fmt::format("{} {} no effect: the matrix leads to 1 grid, {}; {}", fmt::join(keys, ", "),
                       keys.size() == 1 ? "has" : "have",
                       options.coarsest_sweeps == 0 ? "whose matrix is inverted" : "which l1 Jacobi solves",
                       options.coarsening.grids == 1 ? "raise preconditioner.grids for more"
                                                     : fmt::format("set preconditioner.coarsest_points below {} for "
                                                                   "more",
                                                                   options.coarsening.coarsest_points));
}

/// The warning that matrices are not rounded, though vectors are, since coefficients jump; empty if they are.
std::string unrounded_matrices(const multigrid::Hierarchy& hierarchy) {
    int first = -1, last = -1;
    for (int grid = 0; grid < hierarchy.size(); ++grid)
        if (hierarchy.leaves_out_copy(grid)) first = first < 0 ? grid : first, last = grid;
    if (first < 0) return "";
    return fmt::format(
        "preconditioner.vectors = single does not round the {}: diagonals differ by a factor of more than {:.1e}{}, "
        "which single precision does not resolve; preconditioner.vectors = double may take fewer iterations",
        first == last ? fmt::format("matrix of grid {}", first)
                      : fmt::format("matrices of grids {} to {}", first, last),
        multigrid::most_resolved, first == 0 ? " and u is known up to a constant" : "");
}

std::string both(const std::string& one, const std::string& other) {
    return one.empty() || other.empty() ? one + other : one + ". " + other;
}

}  // namespace

/// Adds the time between its construction and its destruction to that of a grid. On a GPU it adds nothing, since the
/// host only queues work there.
class Multigrid::GridClock {
public:
    GridClock(const Context& context, GridTime& time)
        : time_(context.backend() == Backend::cpu ? &time : nullptr),
          begin_(time_ ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{}) {}
    ~GridClock() {
        if (time_) time_->seconds += seconds_since(begin_);
    }
    GridClock(const GridClock&) = delete;
    GridClock& operator=(const GridClock&) = delete;

private:
    GridTime* time_;
    std::chrono::steady_clock::time_point begin_;
};

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
    close_times();
    try {
        SetupReport report = hierarchy_.setup(a, options_.coarsening, smoothers_, options_.smoothing);
        report.warning =
            both(both(unused_storage(options_.coarsening, hierarchy_.size()), unused_keys(options_, hierarchy_.size())),
                 unrounded_matrices(hierarchy_));
        times_.clear();
        for (int grid = 0; grid < hierarchy_.size(); ++grid)
            times_.push_back({multigrid::name_of(grid, hierarchy_.matrix(grid).grid()), visit_bytes(grid)});
        return report;
    } catch (...) {
        times_.clear();
        hierarchy_.clear();
        throw;
    }
}

void Multigrid::apply_to(const Vector& r, Vector& z, double* rz) const {
    if (!hierarchy_.gathers_finest()) return cycle(0, r, z, options_.cycle, true, rz);
    hierarchy_.gather_finest(r);
    cycle(0, hierarchy_[0].b, hierarchy_[0].x, options_.cycle, true);
    hierarchy_.to_part(z);
    if (rz) dot(r, z, rz);
}

void Multigrid::cycle(int grid, const Vector& b, Vector& x, CycleKind kind, bool from_zero, double* bx) const {
    if (!hierarchy_.single(grid)) {
        cycle_of(grid, b, x, kind, from_zero);
        if (bx) dot(b, x, bx);
        return;
    }
    multigrid::SingleParts& single = hierarchy_[grid].single;
    double* const square = hierarchy_.scalar();
    {
        const ProfileScope scope(b.context(), "to single precision", 2 * b.size() * Index(sizeof(double)));
        dot(b, b, square);
        round_scaled(b, square, single.b);
        if (!from_zero) round_scaled(x, square, single.x);
    }
    cycle_of(grid, single.b, single.x, kind, from_zero);
    const ProfileScope scope(b.context(), "from single precision", b.size() * Index(sizeof(double)));
    bx ? widen_scaled_dot(single.x, square, b, x, bx) : widen_scaled(single.x, square, x);
}

namespace {

/// x and b of a grid, of the type of a cycle's vectors.
std::pair<Vector&, Vector&> solution_of(GridParts& parts, const Vector&) {
    return {parts.x, parts.b};
}
std::pair<SingleVector&, SingleVector&> solution_of(GridParts& parts, const SingleVector&) {
    return {parts.single.x, parts.single.b};
}

}  // namespace

template <class AnyVector>
void Multigrid::restrict_residual(int grid, const AnyVector& b, const AnyVector& x) const {
    const Context& context = b.context();
    const Index product = hierarchy_.product_bytes(grid), transfer = hierarchy_[grid].interpolation->bytes();
    const Index value = Index(sizeof(*b.data())), coarse = hierarchy_.matrix(grid + 1).unknowns() * value;
    if constexpr (std::is_same_v<AnyVector, Vector>)
        if (hierarchy_.restricts_residual(grid)) {
            const ProfileScope scope(context, "residual and restriction", product + transfer + coarse);
            return hierarchy_.restrict_residual(grid, b, x);
        }
    {
        const ProfileScope scope(context, "residual", product + b.size() * value);
        hierarchy_.residual(grid, b, x);
    }
    const ProfileScope scope(context, "restriction", transfer + b.size() * value + coarse);
    hierarchy_.restrict_from(grid, b);
}

template <class AnyVector>
void Multigrid::cycle_of(int grid, const AnyVector& b, AnyVector& x, CycleKind kind, bool from_zero) const {
    const Context& context = b.context();
    GridTime& time = times_[std::size_t(grid)];
    ++time.visits;
    if (grid + 1 == hierarchy_.size()) {
        const GridClock clock(context, time);
        const ProfileScope scope(context, "coarsest grid", coarsest_bytes(), ProfileScope::whole);
        return solve_coarsest(b, x);
    }
    const bool divided = context.backend() == Backend::cpu || grid == 0 || b.size() >= least_divided_unknowns;
    const ProfileScope::Parts within = divided ? ProfileScope::parted : ProfileScope::whole;
    const GridParts& parts = hierarchy_[grid];
    const auto [next_x, next_b] = solution_of(hierarchy_[grid + 1], b);
    const Index product = hierarchy_.product_bytes(grid);
    const Index smoothing = product + parts.smoother.preconditioner().bytes_per_apply();
    const std::string name = context.profile() ? "grid " + std::to_string(grid) : "";
    const auto smooth = [&] { hierarchy_.smooth(grid, b, x); };
    {
        const GridClock clock(context, time);
        const ProfileScope of_grid(context, name.c_str(), 0, within);
        if (int steps = options_.pre_smoothing; from_zero || steps > 0) {
            const Index first = from_zero && steps > 0 ? product : 0;  // the step from x = 0 needs no product
            const ProfileScope scope(context, "smoother", steps * smoothing - first, ProfileScope::whole);
            if (from_zero && steps > 0) {
                hierarchy_.smooth_from_zero(grid, b, x);
                --steps;
            } else if (from_zero) {
                set_zero(x);
            }
            for (; steps > 0; --steps) smooth();
        }
        restrict_residual(grid, b, x);
    }
    cycle(grid + 1, next_b, next_x, kind, true);
    if (kind != CycleKind::v && grid + 2 < hierarchy_.size())
        cycle(grid + 1, next_b, next_x, kind == CycleKind::w ? CycleKind::w : CycleKind::v, false);
    const GridClock clock(context, time);
    const ProfileScope of_grid(context, name.c_str(), 0, within);
    {
        const Index values = 2 * b.size() + hierarchy_.matrix(grid + 1).unknowns();
        const ProfileScope scope(context, "prolongation",
                                 parts.interpolation->bytes() + values * Index(sizeof(*b.data())));
        hierarchy_.prolong_to(grid, x);
    }
    if (options_.post_smoothing == 0) return;
    const ProfileScope scope(context, "smoother", options_.post_smoothing * smoothing, ProfileScope::whole);
    for (int steps = options_.post_smoothing; steps > 0; --steps) smooth();
}

template <class AnyVector>
void Multigrid::solve_coarsest_of(const AnyVector& b, AnyVector& x) const {
    if (options_.coarsest_sweeps == 0) return hierarchy_.solve_coarsest(b, x);
    const int last = hierarchy_.size() - 1;
    hierarchy_.smooth_from_zero(last, b, x);
    for (int sweep = 1; sweep < options_.coarsest_sweeps; ++sweep) hierarchy_.smooth(last, b, x);
}

template void Multigrid::solve_coarsest_of(const Vector&, Vector&) const;
template void Multigrid::solve_coarsest_of(const SingleVector&, SingleVector&) const;
template void Multigrid::cycle_of(int, const Vector&, Vector&, CycleKind, bool) const;
template void Multigrid::cycle_of(int, const SingleVector&, SingleVector&, CycleKind, bool) const;

Index Multigrid::coarsest_bytes() const {
    const int last = hierarchy_.size() - 1;
    if (options_.coarsest_sweeps == 0) return hierarchy_.coarsest().bytes();
    return options_.coarsest_sweeps *
           (hierarchy_.product_bytes(last) + hierarchy_[last].smoother.preconditioner().bytes_per_apply());
}

Index Multigrid::visit_bytes(int grid) const {
    if (grid + 1 == hierarchy_.size()) return coarsest_bytes();
    const GridParts& parts = hierarchy_[grid];
    const Index a = hierarchy_.product_bytes(grid);
    const Index m = parts.smoother.preconditioner().bytes_per_apply();
    const int steps = options_.pre_smoothing + options_.post_smoothing;
    return steps * (a + m) + 2 * parts.interpolation->bytes();
}

Index Multigrid::bytes_per_apply() const {
    Index sum = 0;
    const int last = hierarchy_.size() - 1;
    for (int grid = 0; grid <= last; ++grid)
        sum += Index(visits_of(options_.cycle, grid, grid == last) * double(visit_bytes(grid)));
    return sum;
}

void Multigrid::close_times() {
    for (GridTime& grid : times_) {
        if (grid.seconds > 0.0)
            part_times_.add({TimerRow{grid.name, grid.seconds, grid.visits, grid.visits * grid.bytes_of_visit}});
        grid.seconds = 0.0;
        grid.visits = 0;
    }
}

std::vector<TimerRow> Multigrid::take_part_times() {
    close_times();
    return std::exchange(part_times_, {}).rows();
}

ApplicationCheck Multigrid::check_application(const SystemMatrix& /*a*/, const Vector& r, const Vector& z,
                                              const MakeInDouble& /*in_double*/) const {
    if (!traits_.fixed) return Preconditioner::check_application(hierarchy_.matrix(0), r, z, {});
    const double bound = options_.coarsening.single_vectors ? 1e-5 : 1e-10;
    return {multigrid::cycle_error(hierarchy_, options_, r, z), bound, ""};
}

}  // namespace hyperplane
