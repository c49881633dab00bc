// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/coarsening.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/device/for_each_point.hpp"
#include "core/matrix/coefficients.hpp"
#include "core/vector/blas1.hpp"
#include "precond/multigrid/copied_lines.hpp"
#include "precond/multigrid/line_values.hpp"
#include "precond/multigrid/setup_cuda.hpp"

namespace hyperplane::multigrid {
namespace {

int extent(const Grid& grid, int axis) {
    return axis == 0 ? grid.nx : axis == 1 ? grid.ny : grid.nz;
}
int& extent(Grid& grid, int axis) {
    return axis == 0 ? grid.nx : axis == 1 ? grid.ny : grid.nz;
}

/// Whether couplings are summed along y, in the natural layout, or along x, so that adjacent threads of a GPU read
/// adjacent slots.
bool lie_along_y(const Layout& layout) {
    return layout.kind() == LayoutKind::natural;
}

/// A point for each part of each of these lines. Lines have several parts where they are few, so that there is work for
/// all threads.
Layout parts_of_lines(const Layout& of) {
    constexpr Index wanted = 1 << 18;
    const bool along_y = lie_along_y(of);
    const Grid& grid = of.grid();
    Grid parts;
    parts.nx = along_y ? grid.nx : grid.ny;
    parts.ny = grid.nz;
    parts.nz = int(std::clamp<Index>(wanted / (Index(parts.nx) * grid.nz), 1, along_y ? grid.ny : grid.nx));
    return Layout(LayoutKind::natural, parts, {});
}

/// Sums of c_id / max_e c_ie along a part of a line of points, for the axes that can be coarsened; 0 for the others.
struct CouplingRatios {
    Coefficients a;
    VectorView sums;  ///< of parts_of_lines()
    Axes candidates;
    bool along_y;  ///< the lines

    HYPERPLANE_HD int unknowns() const { return 64 * a.a.dof * a.a.dof; }

    HYPERPLANE_HD void operator()(Int3 line, Index at) const {
        for (int d = 0; d < 3; ++d) sums.at(at, d) = 0.0;
        if (line.y < a.layout.begin_plane() || line.y >= a.layout.end_plane()) return;  // another rank's
        const Grid& grid = a.layout.grid();
        const int length = along_y ? grid.ny : grid.nx, parts = sums.layout.grid().nz;
        // Lines along x begin where the hyperplane layout's slots do.
        const int first = along_y ? 0 : length - a.layout.levels().level({0, line.x, line.y}) % length;
        const auto begin_of = [&](int part) { return int(Index(length) * part / parts); };
        for (int t = begin_of(line.z); t < begin_of(line.z + 1); ++t)
            add(along_y ? Int3{line.x, t, line.y} : Int3{(t + first) % length, line.x, line.y}, at);
    }

    HYPERPLANE_HD void add(Int3 p, Index at) const {
        const int dof = a.a.dof;
        const Index slot = a.layout.slot(p);
        double square[3] = {0.0, 0.0, 0.0};
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col) {
                double sum[3] = {0.0, 0.0, 0.0};
                for (int e = 0; e < a.entries; ++e) {
                    Int3 q;
                    if (!a.neighbour(p, e, q)) continue;
                    const double value = a(e, row, col, slot, a.layout.slot(q));
                    const Int3 o = a.offsets[e];
                    if (o.x != 0) sum[0] += value;
                    if (o.y != 0) sum[1] += value;
                    if (o.z != 0) sum[2] += value;
                }
                for (int d = 0; d < 3; ++d) square[d] += sum[d] * sum[d];
            }
        double most = 0.0;
        for (int d = 0; d < 3; ++d)
            if (candidates[d] && square[d] > most) most = square[d];
        for (int d = 0; d < 3; ++d)
            if (candidates[d] && most > 0.0) sums.at(at, d) += std::sqrt(square[d] / most);
    }
};

/// The same for one unknown a point on a CPU, along a run of the layout; sums of ratios by run.
class RatiosByRun {
public:
    RatiosByRun(const StructMatrix& a, Axes candidates) : a_(a), candidates_(candidates) {}

    std::array<double, 3> sums(const Run& run) const {
        thread_local std::array<std::vector<double>, 3> coupling;
        for (auto& list : coupling) list.assign(run.count, 0.0);
        for (int e = 0; e < a_.stencil().size(); ++e) {
            const Int3 o = a_.stencil()[e];
            const RunNeighbours near = a_.layout().neighbours(run, o);
            const double* from = a_.along(run, near, e, 0, 0);
            for (int d = 0; d < 3; ++d) {
                if (!candidates_[d] || (d == 0 ? o.x : d == 1 ? o.y : o.z) == 0) continue;
                double* to = coupling[d].data();
                for (int t = near.begin; t < near.end; ++t) to[t] += from[t];
            }
        }
        std::array<double, 3> sum{0.0, 0.0, 0.0};
        for (int t = 0; t < run.count; ++t) {
            const double c[3] = {std::abs(coupling[0][t]), std::abs(coupling[1][t]), std::abs(coupling[2][t])};
            const double most = std::max({c[0], c[1], c[2]});
            const double share = most > 0.0 ? 1.0 / most : 0.0;
            for (int d = 0; d < 3; ++d) sum[d] += c[d] * share;
        }
        return sum;
    }

private:
    const StructMatrix& a_;
    Axes candidates_;
};

/// The values of the lines of all ranks, line after line, from those of this rank's lines.
std::vector<double> of_all_lines(const StructMatrix& a, std::vector<double> mine) {
    if (!a.layout().is_part()) return mine;
    std::vector<double> all(mine.size() / a.layout().planes() * a.grid().nz);
    a.context().ranks()->all_gather(mine, all);
    return all;
}

/// Gives sums of parts_of_lines() the values of the other ranks' lines.
void gather_lines(const StructMatrix& a, Vector& sums) {
    const Grid& parts = sums.layout().grid();
    const auto for_lines = [&](int begin, int end, const auto& body) {
        Index at = 0;
        for (int y = begin; y < end; ++y)
            for (int z = 0; z < parts.nz; ++z)
                for (int d = 0; d < 3; ++d)
                    for (int x = 0; x < parts.nx; ++x) body(sums({x, y, z}, d), at++);
    };
    const int begin = a.layout().begin_plane(), end = a.layout().end_plane();
    std::vector<double> mine(std::size_t(3) * parts.nx * parts.nz * (end - begin));
    for_lines(begin, end, [&](double value, Index at) { mine[at] = value; });
    const std::vector<double> all = of_all_lines(a, std::move(mine));
    for_lines(0, parts.ny, [&](double& value, Index at) { value = all[at]; });
}

/// What CouplingRatios computes, to the same bits, on a CPU for the natural layout.
void add_by_lines(const StructMatrix& a, Axes candidates, Vector& sums) {
    a.find_equal_lines();
    Grid lines = sums.layout().grid();
    lines.nz = 1;
    for_each_run(a.context(), Layout(LayoutKind::natural, lines, {}), 64 * a.dof() * a.dof() * a.grid().ny,
                 [&](const Run& run) { add_coupling_ratios(a, candidates, run.first.y, sums); });
}

/// Sums of c_id / max_e c_ie over all points.
std::array<double, 3> summed_ratios(const StructMatrix& a, Axes candidates, [[maybe_unused]] Survey& survey) {
    std::array<double, 3> total{0.0, 0.0, 0.0};
    if (a.backend() == Backend::cpu && a.dof() == 1 && a.layout().kind() == LayoutKind::natural &&
        !a.grid().any_periodic()) {
        const RatiosByRun ratios(a, candidates);
        const Index ny = a.grid().ny, first = ny * a.layout().begin_plane();
        std::vector<double> by_line(std::size_t(3 * ny * a.layout().planes()));
        const auto of_line = [&](Int3 p) { return &by_line[3 * (p.y + ny * p.z - first)]; };
        for_each_different_run(
            a,
            [&](const Run& run) {
                const std::array<double, 3> sums = ratios.sums(run);
                std::copy(sums.begin(), sums.end(), of_line(run.first));
            },
            [&](Int3 from, const Run& run) { std::copy_n(of_line(from), 3, of_line(run.first)); });
        by_line = of_all_lines(a, std::move(by_line));
        for (std::size_t at = 0; at < by_line.size(); ++at) total[at % 3] += by_line[at];
        return total;
    }
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda && !a.grid().any_periodic())
            return CouplingSums(a, candidates, survey.copy).read(survey);
    const Buffer<Int3> offsets = offsets_of(a, "multigrid: tables");
    Vector sums(a.context(), parts_of_lines(a.layout()), 3, "multigrid: tables");
    if (a.backend() == Backend::cpu && a.layout().kind() == LayoutKind::natural)
        add_by_lines(a, candidates, sums);
    else
        for_each_point(
            a.context(), sums.layout(), "couplings",
            CouplingRatios{Coefficients(a, offsets.data()), view(sums), candidates, lie_along_y(a.layout())});
    if (a.layout().is_part()) {
        Vector copy;
        const Vector& here = on_host(sums, copy);
        Vector& of_all = copy.size() > 0 ? copy : sums;
        gather_lines(a, of_all);
        if (&here != &sums) transfer(of_all, sums);
    }
    for (int d = 0; d < 3; ++d) total[d] = sum(sums, d);
    return total;
}

}  // namespace

Coarsening::Coarsening(const Grid& grid, Axes along) : fine(grid), coarse(grid), axes(along) {
    for (int axis = 0; axis < 3; ++axis) {
        if (!axes[axis]) continue;
        extent(coarse, axis) = (extent(fine, axis) + 1) / 2;
        coarse.spacing[axis] *= 2.0;
    }
}

bool can_coarsen(const Grid& grid, int axis, int radius) {
    const int n = extent(grid, axis);
    return n > 2 && (!grid.periodic[axis] || (n + 1) / 2 >= 2 * radius + 1);
}

Stencil coarse_stencil(const Stencil& stencil, const Coarsening& coarsening) {
    // All coarse offsets have components of at most so much, and many pairs of points lead to each of them.
    const int most = stencil.radius() + 1, extent_of_all = 2 * most + 1;
    std::vector<char> found(std::size_t(extent_of_all) * extent_of_all * extent_of_all, 0);
    std::vector<Int3> offsets;
    const auto add = [&](Int3 d) {
        char& known = found[(d.x + most) + std::size_t(extent_of_all) * ((d.y + most) + extent_of_all * (d.z + most))];
        if (!known) offsets.push_back(d);
        known = 1;
    };
    const auto lies_inside = [&](Int3 d) {
        const auto fits = [&](int axis, int by) {
            return coarsening.coarse.periodic[axis] || std::abs(by) < extent(coarsening.coarse, axis);
        };
        return fits(0, d.x) && fits(1, d.y) && fits(2, d.z);
    };
    // The first and the last coarse offset that lie along one axis between parents of points whose fine indices are s
    // and s + o.
    const auto along = [&](int axis, int s, int o) {
        const int j = s + o;
        if (!coarsening.axes[axis]) return std::pair(o, o);
        return j % 2 == 0 ? std::pair(j / 2, j / 2) : std::pair((j - 1) / 2, (j + 1) / 2);
    };
    for (int number = 0; number < 27; ++number) {
        const Int3 s = offset_of(number);
        if (!coarsening.has_children_at(s)) continue;
        for (const Int3 o : stencil.offsets()) {
            const auto x = along(0, s.x, o.x), y = along(1, s.y, o.y), z = along(2, s.z, o.z);
            for (const int dx : {x.first, x.second})
                for (const int dy : {y.first, y.second})
                    for (const int dz : {z.first, z.second})
                        if (lies_inside({dx, dy, dz})) add({dx, dy, dz});
        }
    }
    return Stencil::closure(offsets);
}

bool is_last(const Grid& grid, const Stencil& stencil, const CoarseningOptions& options, int number) {
    bool any = false;
    for (int axis = 0; axis < 3; ++axis) any = any || can_coarsen(grid, axis, stencil.radius());
    return !any || grid.points() <= options.coarsest_points || number + 1 >= options.grids;
}

int most_grids(const Grid& finest, const CoarseningOptions& options) {
    std::map<std::array<int, 3>, int> known;  // grids from this one on, by extents
    CoarseningOptions of_any_number = options;
    of_any_number.grids = std::numeric_limits<int>::max();
    const Stencil least = Stencil::closure({Int3{1, 0, 0}});  // on a periodic axis a larger radius ends earlier
    const std::function<int(const Grid&)> count = [&](const Grid& grid) {
        if (is_last(grid, least, of_any_number, 0)) return 1;
        const std::array<int, 3> extents{grid.nx, grid.ny, grid.nz};
        if (const auto found = known.find(extents); found != known.end()) return found->second;
        int further = 0;
        for (int axis = 0; axis < 3; ++axis) {
            Axes one{};
            one[axis] = true;
            if (can_coarsen(grid, axis, least.radius()))
                further = std::max(further, count(Coarsening(grid, one).coarse));
        }
        return known[extents] = 1 + further;
    };
    return std::min(count(finest), options.grids);
}

Axes strong_axes(const StructMatrix& a, double threshold) {
    Survey survey;
    return strong_axes(a, threshold, survey);
}

Axes strong_axes(const StructMatrix& a, double threshold, Survey& survey) {
    const Axes candidates = axes_to_compare(a);
    if (candidates[0] + candidates[1] + candidates[2] < 2) return candidates;
    return strong_of(candidates, summed_ratios(a, candidates, survey), threshold);
}

Axes axes_to_compare(const StructMatrix& a) {
    Axes candidates;
    for (int axis = 0; axis < 3; ++axis) candidates[axis] = can_coarsen(a.grid(), axis, a.stencil().radius());
    return candidates;
}

Axes strong_of(Axes candidates, const std::array<double, 3>& ratios, double threshold) {
    const double most = *std::max_element(ratios.begin(), ratios.end());
    Axes strong;
    for (int axis = 0; axis < 3; ++axis) strong[axis] = candidates[axis] && ratios[axis] >= threshold * most;
    return strong;
}

}  // namespace hyperplane::multigrid
