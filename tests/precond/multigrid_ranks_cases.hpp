// SPDX-License-Identifier: BSD-3-Clause
// multigrid on several ranks: the cases of its tests on CPUs and on GPUs, and what these compare.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/ranks/links_cuda.hpp"
#include "on_device.hpp"
#include "on_ranks.hpp"
#include "precond/checks/applications.hpp"
#include "precond/multigrid_cases.hpp"
#include "reference/equal_lines.hpp"

namespace hyperplane::testing_support {

using reference::Box;
using reference::StencilMatrix;

using Values = std::vector<double>;

/// A matrix, and keys of multigrid and of its smoother.
struct MultigridRankCase {
    std::string name, stencil = "star7";
    int dof = 1;
    bool symmetric = true;
    Box box{9, 7, 17};
    Settings settings = {};
    std::string smoother = "struct_ilu";
    Settings smoother_settings = {};
    bool equal_lines = false;
    int planes = 1;  ///< cuts between ranks are at multiples of it

    /// Of the smoother, whose hyperplane layout depends on it.
    int fill_level() const {
        const std::pair<std::string, std::string> one{"fill_level", "1"};
        return std::find(smoother_settings.begin(), smoother_settings.end(), one) != smoother_settings.end() ? 1 : 0;
    }
};

inline std::vector<MultigridRankCase> multigrid_rank_cases() {
    std::vector<MultigridRankCase> list;
    for (const char* stencil : {"star7", "box27", "star13", "scattered11"})
        for (int dof : {1, 2})
            for (bool symmetric : {false, true})
                list.push_back({std::string(stencil) + "_" + std::to_string(dof) + (symmetric ? "_spd" : ""), stencil,
                                dof, symmetric, Box{9, 7, 17}});
    for (const char* smoother : {"jacobi", "chebyshev", "multicolor", "fgbilu", "par_ilu", "jacobi_sweeps", "none"})
        for (int dof : {1, 2}) {
            const std::string stencil = std::string(smoother) == "fgbilu" ? "box27" : "star7";
            list.push_back(
                {std::string(smoother) + "_" + std::to_string(dof), stencil, dof, true, Box{9, 7, 17}, {}, smoother});
        }
    list.push_back({"l1", "star7", 1, true, {8, 6, 21}, {}, "jacobi", {{"l1", "true"}}});
    list.push_back({"fill", "star7", 1, true, {8, 6, 21}, {}, "struct_ilu", {{"fill_level", "1"}}});
    list.push_back({"shift", "star7", 1, true, {8, 6, 21}, {}, "struct_ilu", {{"pivot_policy", "shift"}}});
    for (const char* cycle : {"w", "f"})
        list.push_back({std::string("cycle_") + cycle, "star7", 1, true, {9, 7, 33}, {{"cycle", cycle}}});
    list.push_back({"coarse_smoother", "star7", 1, true, {9, 7, 33}, {{"coarse_smoother", "multicolor"}}});
    list.push_back({"steps", "star7", 1, true, {9, 7, 18}, {{"pre_smoothing", "0"}, {"post_smoothing", "2"}}});
    list.push_back({"strength_0", "star7", 2, false, {9, 7, 19}, {{"strength", "0"}}});
    list.push_back({"strength_1", "star7", 1, true, {9, 7, 19}, {{"strength", "1"}}});
    list.push_back({"strength_1_blocks", "star7", 2, false, {9, 7, 19}, {{"strength", "1"}}});
    list.push_back({"two_grids", "star7", 1, true, {5, 5, 17}, {{"grids", "2"}}});
    list.push_back({"one_grid", "star7", 1, true, {3, 2, 9}, {{"grids", "1"}}});
    list.push_back({"coarsest_by_jacobi", "star7", 1, true, {9, 7, 17}, {{"coarsest", "jacobi"}}});
    list.push_back({"one_grid_by_jacobi", "star7", 1, true, {3, 2, 9}, {{"grids", "1"}, {"coarsest", "jacobi"}}});
    list.push_back({"thin_parts", "star7", 1, true, {5, 4, 4}});
    list.push_back({"thin_parts_blocks", "star7", 3, false, {5, 4, 5}});
    list.push_back({"thin_parts_of_two_planes", "star13", 1, true, {5, 4, 9}});
    for (const char* stencil : {"star7", "box27"})
        for (bool symmetric : {false, true}) {
            MultigridRankCase of{std::string("equal_lines_") + stencil + (symmetric ? "_spd" : ""), stencil, 1,
                                 symmetric};
            of.equal_lines = true;
            list.push_back(of);
        }
    for (int dof : {1, 2})
        for (bool symmetric : {false, true}) {
            MultigridRankCase of{"periodic_" + std::to_string(dof) + (symmetric ? "_spd" : ""), "star7", dof,
                                 symmetric};
            of.box = {12, 10, 17};
            of.box.periodic = {true, true, false};
            list.push_back(of);
        }
    return list;
}

inline std::string name_of_multigrid_case(const testing::TestParamInfo<MultigridRankCase>& info) {
    return info.param.name;
}

/// max |x - y| / max(1, |y|): beside a solution, x and y hold numbers of points, to which errors are not relative.
inline double difference_of_each(const Values& x, const Values& y) {
    if (x.size() != y.size()) return INFINITY;
    double largest = 0.0;
    for (std::size_t at = 0; at < x.size(); ++at) {
        if (!std::isfinite(x[at]) || !std::isfinite(y[at])) return NAN;
        largest = std::max(largest, std::abs(x[at] - y[at]) / std::max(1.0, std::abs(y[at])));
    }
    return largest;
}

class MultigridOnRanks : public testing::TestWithParam<MultigridRankCase> {
protected:
    /// The matrices of both set-ups. Every rank of every run reads them, and to make them takes as long as to apply
    /// multigrid.
    const std::array<StencilMatrix, 2> matrices_{data(7), data(8)};

    static StencilMatrix data(int seed) {
        const MultigridRankCase& c = GetParam();
        const auto offsets = reference::stencil_named(c.stencil).offsets;
        if (c.equal_lines) return reference::equal_lines(c.box, offsets, c.dof, c.symmetric, {2, 3, seed});
        return c.symmetric ? reference::random_spd_matrix(c.box, offsets, c.dof, seed)
                           : reference::random_matrix(c.box, offsets, c.dof, seed);
    }
    /// What two set-ups report, and M^-1 r after each; on a GPU, also when it is recorded as a graph, if it may be.
    Values applied(const Context& context, Settings settings, LayoutKind kind = LayoutKind::natural) const {
        const MultigridRankCase& c = GetParam();
        settings.insert(settings.end(), c.settings.begin(), c.settings.end());
        const Parameters keys = multigrid_keys(settings, c.smoother, c.smoother_settings);
        std::unique_ptr<Preconditioner> m;
        std::optional<StructMatrix> a;
        Values found;
        for (const StencilMatrix& matrix : matrices_) {
            const Layout part =
                part_of(context, layout_for(kind, matrix, c.stencil, c.fill_level()), radius(matrix.offsets));
            const StructMatrix values =
                reference::to_struct_matrix(context.host(), part, matrix, storages[c.symmetric], c.stencil);
            a ? a->assign(values) : void(a.emplace(in_context(context, values)));
            if (!m) m = make_multigrid(*a, keys);
            const SetupReport report = m->setup(*a);
            found.insert(found.end(), {double(report.pivots_modified), report.shift, report.smallest_pivot_ratio,
                                       double(part.grid().row(report.smallest_pivot_cell))});
            const auto& hierarchy = dynamic_cast<const Multigrid&>(*m).hierarchy();
            for (int grid = 0; grid < hierarchy.size(); ++grid) {
                found.push_back(double(hierarchy.matrix(grid).grid().points()));
                if (grid + 1 < hierarchy.size())
                    found.insert(found.end(), {hierarchy[grid].smoother.omega(), hierarchy[grid].smoother.lambda()});
            }
            const Vector r = to_vector(context, part, c.dof, reference::Random(3).vector(c.box.points() * c.dof));
            Vector z(context, part, c.dof, "z");
            m->apply(r, z);
            const Values solution = to_natural(z);
            found.insert(found.end(), solution.begin(), solution.end());
            if (context.backend() == Backend::cuda) expect_same_when_recorded(*m, r, z, solution);
        }
        return found;
    }
    /// The same on ranks on a CPU, where grids of at most so many points are whole on each.
    Values on_ranks_of_a_cpu(int ranks, const std::string& points) const {
        const auto compute = [&](const Context& context) { return applied(context, {{"replicated_points", points}}); };
        return on_first_of(ranks, compute, GetParam().planes);
    }
    /// The same on ranks on GPUs.
    Values on_ranks_of_gpus(int ranks, const std::string& points) const {
        Values found;
        on_each_gpu_rank(
            ranks,
            [&](const Context& context) {
                Values mine = applied(context, {{"replicated_points", points}});
                if (is_first_rank(context)) found = std::move(mine);
            },
            GetParam().planes);
        return found;
    }
    /// The GPU's result may differ from a CPU's by this: of factors in reduced precision, both may round a few values,
    /// those near the middle of two that can be stored, to different ones.
    static double most_beside_a_cpu() {
        for (const FactorStorage storage : reduced_factor_storages)
            for (const auto& [key, value] : GetParam().settings)
                if (key == "storage" && value == to_string(storage)) return bound_of_rounding(storage);
        return 1e-9;
    }
    static void expect_same_when_recorded(const Preconditioner& m, const Vector& r, Vector& z, const Values& expected) {
        const Context& context = z.context();
        if constexpr (cuda_built) {
            if (context.ranks() && !links_of(context).records()) return;
            const device::Recording recording(context.stream(), [&] { m.apply(r, z); });
            for (int replay = 0; replay < 5; ++replay) {
                if (context.ranks()) synchronise_ranks(context, true);
                recording.queue();
                context.synchronize();
                EXPECT_EQ(to_natural(z), expected) << "replay " << replay;
            }
        }
    }
};

/// These cases have factors in reduced precision, or grids that are periodic along z.
inline std::vector<MultigridRankCase> further_multigrid_rank_cases() {
    std::vector<MultigridRankCase> list;
    for (const bool symmetric : {false, true})
        list.push_back({std::string("periodic_z") + (symmetric ? "_spd" : ""),
                        "star7",
                        1,
                        symmetric,
                        {8, 6, 20, {false, false, true}}});
    for (const char* storage : {"single", "half_scaled"})
        for (const char* smoother : {"struct_ilu", "multicolor"})
            list.push_back({std::string(storage) + "_" + smoother,
                            "star7",
                            1,
                            true,
                            {9, 7, 17},
                            {{"storage", storage}},
                            smoother});
    list.push_back({"single_blocks", "box27", 2, false, {9, 7, 17}, {{"storage", "single"}, {"storage_from", "1"}}});
    const Settings swept{{"triangular_solve", "jacobi"}};
    list.push_back({"swept_colours", "star7", 1, true, {9, 7, 17}, {}, "multicolor", swept});
    list.push_back({"swept_hyperplanes", "box27", 2, false, {9, 7, 17}, {}, "fgbilu", swept});
    list.push_back({"greedy", "star7", 1, true, {9, 7, 17}, {}, "multicolor", {{"colours", "greedy"}}});
    return list;
}

/// Subdomains as smoothers: of boxes that cuts divide on no grid, on coarse ones, and on the finest one.
inline std::vector<MultigridRankCase> cases_of_subdomains() {
    std::vector<MultigridRankCase> list;
    const auto add = [&](const char* name, const char* stencil, int dof, bool symmetric, Box box, const char* subdomain,
                         const Settings& settings = {}) -> MultigridRankCase& {
        list.push_back({name, stencil, dof, symmetric, box, settings, "subdomain_ildu0", {{"subdomain", subdomain}}});
        return list.back();
    };
    add("subdomains", "star7", 1, true, {9, 7, 17}, "4 4 2");
    add("subdomains_2", "box27", 2, false, {9, 7, 16}, "5 7 4");
    add("subdomains_5", "star7", 5, false, {6, 5, 16}, "3 5 2");
    add("subdomains_of_a_plane", "star7", 2, true, {9, 7, 17}, "3 4 1");
    add("subdomains_single", "box27", 1, true, {9, 7, 17}, "3 4 1", {{"storage", "single"}});
    add("subdomains_half", "star7", 2, false, {9, 7, 18}, "3 4 3", {{"storage", "half_scaled"}}).planes = 3;
    add("aligned_subdomains", "star7", 1, true, {9, 7, 17}, "4 4 3").planes = 3;
    add("subdomains_by_default", "star7", 1, true, {33, 35, 41}, "auto").planes = 7;
    add("periodic_subdomains", "star7", 1, true, {12, 10, 17, {true, true, false}}, "5 4 1");
    add("subdomains_around_z", "star7", 1, false, {8, 6, 20, {false, false, true}}, "4 4 5").planes = 5;
    list.push_back({"coarse_subdomains", "star7", 1, true, {9, 7, 33}, {{"coarse_smoother", "subdomain_ildu0"}}});
    return list;
}

/// struct_ilu as smoother, which drops couplings between ranks.
inline std::vector<MultigridRankCase> cases_of_scopes() {
    std::vector<MultigridRankCase> list;
    const auto add = [&](const char* name, const char* stencil, int dof, bool symmetric, Box box,
                         const Settings& settings = {}, Settings smoother = {}) {
        smoother.push_back({"scope", "rank"});
        list.push_back({name, stencil, dof, symmetric, box, settings, "struct_ilu", smoother});
    };
    add("star7", "star7", 1, true, {9, 7, 33});
    add("star7_2", "star7", 2, false, {9, 7, 17});
    add("star7_5", "star7", 5, true, {6, 5, 16});
    add("star13", "star13", 1, true, {9, 7, 17});
    add("box27", "box27", 1, true, {9, 7, 17}, {{"cycle", "w"}});
    add("scattered11", "scattered11", 1, false, {9, 7, 17});
    add("fill", "star7", 1, true, {8, 6, 21}, {}, {{"fill_level", "1"}});
    add("shift", "star7", 1, true, {8, 6, 21}, {}, {{"pivot_policy", "shift"}});
    add("periodic", "star7", 1, true, {12, 10, 17, {true, true, false}});
    add("single", "star7", 1, true, {9, 7, 17}, {{"storage", "single"}});
    add("half_scaled", "box27", 2, false, {9, 7, 17}, {{"storage", "half_scaled"}});
    add("tiles", "star7", 1, true, {37, 35, 41});
    add("thin_parts", "star7", 1, true, {5, 4, 4});
    return list;
}

/// A rank's part of a symmetric matrix of star7.
inline StructMatrix part_of_star7(const Context& context, const StencilMatrix& matrix) {
    const Layout part = part_of(context, layout_for(LayoutKind::natural, matrix, "star7", 0), 1);
    return reference::to_struct_matrix(context, part, matrix, MatrixStorage::lower, "star7");
}

/// Couplings of 1, and of 11 above a plane: those to the two sides differ much at the points of this plane alone.
inline StencilMatrix with_jump_above(const Box& box, int plane) {
    StencilMatrix a{box, reference::stencil_named("star7").offsets, 1, {}};
    a.blocks.resize(box.points());
    for (int row = 0; row < box.points(); ++row) {
        reference::Dense own(1, 1);
        own(0, 0) = 0.1;
        const reference::Offset p = box.point(row);
        for (const reference::Offset o : a.offsets) {
            if (o == reference::Offset{} || !box.contains(p + o)) continue;
            const double coupling = o.z != 0 && std::max(p.z, p.z + o.z) > plane ? 11.0 : 1.0;
            a.blocks[row][o] = reference::Dense(1, 1);
            a.blocks[row][o](0, 0) = -coupling;
            own(0, 0) += coupling;
        }
        a.blocks[row][{}] = own;
    }
    return a;
}

inline Values omegas_of_jumps(const Context& context) {
    Values found;
    for (int plane = 0; plane < 12; ++plane) {
        const StructMatrix a = in_context(context, part_of_star7(context.host(), with_jump_above({4, 3, 13}, plane)));
        const auto m = make_multigrid(a, multigrid_keys({{"grids", "2"}, {"replicated_points", "0"}}));
        m->setup(a);
        found.push_back(dynamic_cast<const Multigrid&>(*m).hierarchy()[0].smoother.omega());
    }
    return found;
}

}  // namespace hyperplane::testing_support
