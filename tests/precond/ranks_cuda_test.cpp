// SPDX-License-Identifier: BSD-3-Clause
// struct_ilu, fgbilu, par_ilu, jacobi_sweeps and multicolor on ranks on GPUs, in every storage of the factors, jacobi
// and subdomain_ildu0 in reduced precision, and Jacobi sweeps on the factors of fgbilu, multicolor and subdomain_ildu0:
// the bits of one GPU, queued once and recorded as a graph; with scope = rank what ranks on a CPU compute.
#include "core/ranks/links_cuda.hpp"
#include "core/vector/scalars.hpp"
#include "on_device.hpp"
#include "on_ranks.hpp"
#include "precond/checks/applications.hpp"
#include "precond/support.hpp"
#include "replays.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;
using Values = std::vector<double>;

struct GpuRankCase {
    std::string stencil;
    int dof, fill_level;
    bool symmetric;
    Box box;
    std::string preconditioner = "struct_ilu";
    Settings settings = {};
};

std::vector<GpuRankCase> cases_of_multicolor() {
    std::vector<GpuRankCase> list;
    const auto add = [&](const char* stencil, int dof, bool symmetric, Box box) {
        list.push_back({stencil, dof, 0, symmetric, box, "multicolor"});
    };
    for (const bool symmetric : {false, true}) {
        for (const int dof : {1, 2, 3, 4, 9}) add("star7", dof, symmetric, {7, 6, 9});
        for (const int dof : {1, 3}) add("box27", dof, symmetric, {13, 21, 11});
        for (const int dof : {1, 2}) add("star13", dof, symmetric, {7, 6, 9});
        add("scattered11", 1, symmetric, {13, 21, 11});
        add("star7", 1, symmetric, {33, 70, 29});
        add("star7", 1, symmetric, {64, 32, 32});
        add("box27", 1, symmetric, {65, 63, 47});  // too many places to load coefficients ahead
    }
    return list;
}

std::vector<GpuRankCase> gpu_rank_cases() {
    std::vector<GpuRankCase> list;
    for (const bool symmetric : {false, true}) {
        for (const int dof : {1, 2, 3, 4, 9}) list.push_back({"star7", dof, 0, symmetric, {7, 6, 9}});
        for (const int dof : {1, 3}) list.push_back({"star7", dof, 1, symmetric, {13, 21, 11}});
        for (const int dof : {1, 3}) list.push_back({"box27", dof, 0, symmetric, {13, 21, 11}});
        for (const int dof : {1, 2}) list.push_back({"star13", dof, 0, symmetric, {7, 6, 9}});
        list.push_back({"diamond13", 1, 0, symmetric, {13, 37, 11}});
        list.push_back({"scattered11", 1, 0, symmetric, {13, 21, 11}});
        list.push_back({"star7", 1, 0, symmetric, {33, 70, 29}});
        list.push_back({"star7", 1, 0, symmetric, {64, 32, 32}});
        list.push_back({"box27", 4, 0, symmetric, {7, 5, 9}});
    }
    return list;
}

/// With one unknown, with up to four, whose blocks are apart, and with more, of which a matrix that is not symmetric
/// has contiguous blocks, factored on tensor cores up to eight.
std::vector<GpuRankCase> cases_of_fgbilu() {
    std::vector<GpuRankCase> list;
    const auto add = [&](const char* stencil, int dof, bool symmetric, Box box) {
        list.push_back({stencil, dof, 0, symmetric, box, "fgbilu"});
    };
    for (const bool symmetric : {false, true}) {
        for (const int dof : {1, 2, 3, 5, 9}) add("star7", dof, symmetric, {7, 6, 9});
        for (const int dof : {1, 2, 5, 8, 9}) add("box27", dof, symmetric, {7, 5, 9});
        for (const int dof : {1, 2, 6}) add("star13", dof, symmetric, {7, 6, 9});
        for (const int dof : {1, 3}) add("scattered11", dof, symmetric, {13, 21, 11});
        add("star7", 1, symmetric, {33, 70, 29});
        add("box27", 1, symmetric, {64, 32, 32});
    }
    return list;
}

/// With one to nine unknowns, since par_ilu has kernels of its own for one and two, for three and four, and for five to
/// eight, and loops over points for more; with eight on box27, sweeps of one rank in the hyperplane layout are staged.
std::vector<GpuRankCase> cases_of_sweeps(const char* preconditioner, const Settings& settings) {
    std::vector<GpuRankCase> list;
    const auto add = [&](const char* stencil, int dof, int fill_level, bool symmetric, Box box) {
        list.push_back({stencil, dof, fill_level, symmetric, box, preconditioner, settings});
    };
    for (const bool symmetric : {false, true}) {
        for (const int dof : {1, 2, 3, 5, 9}) add("star7", dof, 0, symmetric, {7, 6, 9});
        for (const int dof : {1, 3}) add("star7", dof, 1, symmetric, {13, 21, 11});
        for (const int dof : {1, 4}) add("box27", dof, 0, symmetric, {7, 5, 9});
        add("star13", 2, 0, symmetric, {7, 6, 9});
        add("scattered11", 1, 0, symmetric, {13, 21, 11});
        add("star7", 1, 0, symmetric, {33, 70, 29});
    }
    add("box27", 8, 0, false, {7, 5, 9});
    return list;
}

/// Colours that are looked up. With box27 and hashed colours some colours have no point in a plane next to a cut.
std::vector<GpuRankCase> cases_of_looked_up_colours() {
    std::vector<GpuRankCase> list;
    for (const char* colours : {"greedy", "hashed"}) {
        const auto add = [&](const char* stencil, int dof, bool symmetric, Box box) {
            list.push_back({stencil, dof, 0, symmetric, box, "multicolor", {{"colours", colours}}});
        };
        for (const bool symmetric : {false, true}) {
            for (const int dof : {1, 2, 5, 9}) add("star7", dof, symmetric, {7, 6, 9});
            for (const int dof : {1, 3}) add("box27", dof, symmetric, {13, 21, 11});
            add("box27", 1, symmetric, {3, 2, 9});
            add("star13", 2, symmetric, {7, 6, 9});
            add("scattered11", 1, symmetric, {13, 21, 11});
            add("star7", 1, symmetric, {33, 70, 29});
        }
    }
    return list;
}

/// Jacobi sweeps on a copy of the factors of multicolor or subdomain_ildu0; subdomains have two planes, which no cut
/// divides.
std::vector<GpuRankCase> cases_of_swept_pairs(const char* preconditioner, const Settings& settings) {
    const Settings swept{{"triangular_solve", "jacobi"}, {"lower_sweeps", "3"}, {"upper_sweeps", "4"}};
    std::vector<GpuRankCase> list;
    for (GpuRankCase& c : cases_of_sweeps(preconditioner, settings)) {
        if (c.fill_level > 0) continue;
        c.settings.insert(c.settings.end(), swept.begin(), swept.end());
        list.push_back(c);
    }
    for (const char* storage : {"single", "half_scaled"})
        for (const bool symmetric : {false, true})
            for (const int dof : {1, 3}) {
                Settings stored = settings;
                stored.insert(stored.end(), {{"triangular_solve", "jacobi"}, {"storage", storage}});
                list.push_back({"star7", dof, 0, symmetric, {7, 6, 9}, preconditioner, stored});
                list.push_back({"scattered11", dof, 0, symmetric, {13, 21, 11}, preconditioner, stored});
            }
    Settings once = settings;
    once.insert(once.end(), {{"triangular_solve", "jacobi"}, {"lower_sweeps", "1"}, {"upper_sweeps", "1"}});
    list.push_back({"star7", 2, 0, true, {7, 6, 10}, preconditioner, once});
    return list;
}
std::vector<GpuRankCase> cases_of_swept_colours() {
    std::vector<GpuRankCase> list = cases_of_swept_pairs("multicolor", {});
    for (const char* colours : {"greedy", "hashed"})
        for (const int dof : {1, 2})
            for (const bool symmetric : {false, true})
                list.push_back({"star7",
                                dof,
                                0,
                                symmetric,
                                {13, 20, 11},
                                "multicolor",
                                {{"colours", colours}, {"triangular_solve", "jacobi"}, {"storage", "single"}}});
    return list;
}

/// Grids that are periodic along z, whose ends two or three ranks share with each other.
std::vector<GpuRankCase> periodic_cases() {
    std::vector<GpuRankCase> list;
    const auto around_z = [](Box box, bool along_y = false) {
        box.periodic = {false, along_y, true};
        return box;
    };
    const Settings swept{{"triangular_solve", "jacobi"}};
    const Settings swept_boxes{{"triangular_solve", "jacobi"}, {"subdomain", "3 4 2"}};
    for (const bool symmetric : {false, true}) {
        for (const char* name : {"struct_ilu", "fgbilu", "multicolor", "par_ilu", "jacobi"})
            for (const int dof : {1, 3}) list.push_back({"star7", dof, 0, symmetric, around_z({7, 6, 9}), name});
        list.push_back({"star13", 2, 0, symmetric, around_z({7, 6, 11}), "struct_ilu"});
        list.push_back({"box27", 1, 0, symmetric, around_z({13, 21, 12}, true), "struct_ilu"});
        list.push_back({"star7", 1, 1, symmetric, around_z({13, 21, 12}, true), "struct_ilu"});
        list.push_back({"box27", 5, 0, symmetric, around_z({7, 6, 9}, true), "fgbilu"});
        list.push_back({"box27", 1, 0, symmetric, around_z({13, 21, 12}, true), "multicolor"});
        list.push_back({"star7", 2, 0, symmetric, around_z({7, 6, 9}), "struct_ilu", {{"storage", "single"}}});
        list.push_back({"star7", 1, 0, symmetric, around_z({7, 6, 9}), "multicolor", {{"colours", "greedy"}}});
        list.push_back({"box27", 2, 0, symmetric, around_z({13, 21, 12}, true), "multicolor", {{"colours", "hashed"}}});
        list.push_back({"star7", 1, 0, symmetric, around_z({7, 6, 9}), "multicolor", swept});
        list.push_back({"box27", 2, 0, symmetric, around_z({13, 21, 12}, true), "multicolor", swept});
        list.push_back({"star7", 2, 0, symmetric, around_z({7, 6, 9}), "subdomain_ildu0", swept_boxes});
        for (const char* name : {"jacobi_sweeps", "par_ilu"}) {
            const Settings on_factors = name == std::string("par_ilu") ? swept : Settings{};
            const auto add = [&](const char* stencil, int dof, int fill_level, Box box,
                                 const char* storage = "double") {
                list.push_back({stencil, dof, fill_level, symmetric, box, name, on_factors});
                list.back().settings.push_back({"storage", storage});
            };
            for (const int dof : {1, 3, 5}) add("star7", dof, 0, around_z({7, 6, 9}));
            for (const int dof : {1, 2}) add("star7", dof, 0, around_z({7, 6, 10}, true));
            for (const int dof : {1, 3}) add("star7", dof, 1, around_z({13, 21, 12}, true));
            add("box27", 1, 0, around_z({13, 21, 12}, true));
            add("star13", 2, 0, around_z({7, 6, 11}));
            add("star7", 1, 0, around_z({7, 6, 9}), "single");
            add("star7", 3, 0, around_z({7, 6, 9}), "half_scaled");
        }
    }
    return list;
}

/// Factors in reduced precision, of every preconditioner that has them on ranks on GPUs.
std::vector<GpuRankCase> cases_of_storages() {
    std::vector<GpuRankCase> list;
    const auto add = [&](const char* stencil, int dof, int fill_level, bool symmetric, Box box, const char* name,
                         const Settings& settings = {}) {
        for (const char* storage : {"single", "half_scaled"}) {
            list.push_back({stencil, dof, fill_level, symmetric, box, name, settings});
            list.back().settings.push_back({"storage", storage});
        }
    };
    const Settings sweeps{{"sweeps", "3"}}, swept{{"lower_sweeps", "3"}, {"upper_sweeps", "4"}};
    const Settings swept_factors{{"sweeps", "2"}, {"triangular_solve", "jacobi"}};
    for (const bool symmetric : {false, true}) {
        for (const int dof : {1, 3}) {
            add("star7", dof, 0, symmetric, {7, 6, 9}, "struct_ilu");
            add("star7", dof, 1, symmetric, {13, 21, 11}, "struct_ilu");
            add("box27", dof, 0, symmetric, {13, 20, 11}, "struct_ilu");
            add("star7", dof, 0, symmetric, {7, 6, 9}, "jacobi");
            add("star7", dof, 0, symmetric, {7, 6, 9}, "fgbilu");
            add("box27", dof, 0, symmetric, {13, 20, 11}, "fgbilu");
            add("star7", dof, 0, symmetric, {7, 6, 9}, "multicolor");
            add("star7", dof, 0, symmetric, {7, 6, 9}, "subdomain_ildu0", {{"subdomain", "3 4 1"}});
        }
        add("star13", 2, 0, symmetric, {7, 6, 9}, "struct_ilu");
        for (const int dof : {2, 5}) add("star13", dof, 0, symmetric, {7, 6, 9}, "fgbilu");
        add("star7", 5, 0, symmetric, {7, 6, 9}, "struct_ilu");
        add("scattered11", 1, 0, symmetric, {13, 21, 11}, "struct_ilu");
        add("star7", 1, 0, symmetric, {64, 32, 32}, "struct_ilu");
        add("box27", 1, 0, symmetric, {13, 21, 11}, "multicolor");
        add("star7", 2, 0, symmetric, {33, 70, 29}, "multicolor");
        for (const int dof : {1, 2, 5}) {
            add("star7", dof, 0, symmetric, {7, 6, 9}, "par_ilu", sweeps);
            add("star7", dof, 0, symmetric, {7, 6, 9}, "jacobi_sweeps", swept);
        }
        add("star7", 3, 1, symmetric, {13, 21, 11}, "par_ilu", swept_factors);
        add("scattered11", 1, 0, symmetric, {13, 21, 11}, "jacobi_sweeps", swept);
    }
    return list;
}

class GlobalRanksOnDevice : public DeviceTest, public testing::WithParamInterface<GpuRankCase> {
protected:
    StencilMatrix data() const {
        const auto offsets = reference::stencil_named(GetParam().stencil).offsets;
        return GetParam().symmetric ? reference::random_spd_matrix(GetParam().box, offsets, GetParam().dof, 7)
                                    : reference::random_matrix(GetParam().box, offsets, GetParam().dof, 7);
    }
    /// A rank's part of the matrix in its context, in natural layout; without ranks the whole one in `kind`.
    StructMatrix part(const Context& context, const StencilMatrix& of, LayoutKind kind) const {
        const Layout whole = layout_for(kind, of, GetParam().stencil, GetParam().fill_level);
        const Layout mine = part_of(context, whole, radius(of.offsets));
        return in_context(context, reference::to_struct_matrix(context.host(), mine, of, storages[GetParam().symmetric],
                                                               GetParam().stencil));
    }
    std::unique_ptr<Preconditioner> make_for(const StructMatrix& a, const char* scope) const {
        Settings settings = GetParam().settings;
        if (parameters_of(GetParam().preconditioner, {}).has("preconditioner", "fill_level"))
            settings.push_back({"fill_level", std::to_string(GetParam().fill_level)});
        if (GetParam().preconditioner == "struct_ilu") settings.push_back({"scope", scope});
        return make(GetParam().preconditioner, a, settings);
    }
    Vector right_hand_side(const Context& context, const StructMatrix& a) const {
        const Vector on_host = reference::to_vector(context.host(), a.layout(), a.dof(), values);
        return in_context(context, on_host);
    }
    /// M^-1 r, and, on ranks, what 20 replays of the same as a graph found, each of which must have the same bits.
    Values applied(const Context& context, const StencilMatrix& of, const char* scope, bool natural = true) const {
        const bool on_gpu_ranks = context.ranks() && context.backend() == Backend::cuda;
        const StructMatrix a = part(context, of, natural ? LayoutKind::natural : LayoutKind::hyperplane);
        const auto m = make_for(a, scope);
        m->setup(a);
        const Vector r = right_hand_side(context, a);
        Vector z(context, a.layout(), a.dof(), "z");
        m->apply(r, z);
        const Values once = to_natural(z);
        if (!on_gpu_ranks) return once;
        Scalars rz(context, "r^T z", 1);
        const auto step = [&] { m->apply_dot(r, z, rz.data()); };
        step();
        const Values product = rz.get(0, 1);
        // The hyperplanes of these grids take more kernels than a GPU runs at the same time.
        const Replay recording(context, step, GetParam().preconditioner == "fgbilu");
        for (int replay = 0; replay < 20; ++replay) {
            synchronise_ranks(context, true);
            recording.queue();
            context.synchronize();
            EXPECT_EQ(to_natural(z), once) << "replay " << replay << " on rank " << context.ranks()->rank();
            EXPECT_EQ(rz.get(0, 1), product);
        }
        return once;
    }
    Values on_gpu_ranks(int ranks, const StencilMatrix& of, const char* scope) const {
        Values found;
        on_each_gpu_rank(
            ranks,
            [&](const Context& context) {
                Values mine = applied(context, of, scope);
                if (is_first_rank(context)) found = std::move(mine);
            },
            planes_of_a_subdomain());
        return found;
    }
    int planes_of_a_subdomain() const {
        for (const auto& [key, value] : GetParam().settings)
            if (key == "subdomain") return std::stoi(value.substr(value.rfind(' ')));
        return 1;
    }

    /// The GPU's result may differ from a CPU's by this: of factors in reduced precision, both may round a few values,
    /// those near the middle of two that can be stored, to different ones.
    double most_beside_a_cpu() const {
        const Parameters keys = parameters_of(GetParam().preconditioner, GetParam().settings);
        const FactorStorage storage = factor_storage(keys);
        return is_reduced(storage) ? bound_of_ties(storage) : 1e-12;
    }

    Values values = reference::Random(3).vector(GetParam().box.points() * GetParam().dof);
};

std::string name_of_rank_case(const testing::TestParamInfo<GpuRankCase>& info) {
    const GpuRankCase& c = info.param;
    return c.stencil + "_k" + std::to_string(c.fill_level) + "_dof" + std::to_string(c.dof) + "_" +
           reference::name_of(c.box) + (c.symmetric ? "_spd" : "");
}
std::string name_of_storage_case(const testing::TestParamInfo<GpuRankCase>& info) {
    std::string name = name_of_rank_case(info) + "_" + info.param.preconditioner;
    for (const auto& [key, value] : info.param.settings)
        if (key == "storage" || key == "triangular_solve" || key == "colours") name += "_" + value;
    return name;
}
const Settings few_sweeps{{"lower_sweeps", "3"}, {"upper_sweeps", "4"}};
INSTANTIATE_TEST_SUITE_P(ParIlu, GlobalRanksOnDevice, testing::ValuesIn(cases_of_sweeps("par_ilu", {{"sweeps", "3"}})),
                         name_of_rank_case);
INSTANTIATE_TEST_SUITE_P(SweptParIlu, GlobalRanksOnDevice,
                         testing::ValuesIn(cases_of_sweeps("par_ilu",
                                                           {{"sweeps", "2"}, {"triangular_solve", "jacobi"}})),
                         name_of_rank_case);
INSTANTIATE_TEST_SUITE_P(JacobiSweeps, GlobalRanksOnDevice,
                         testing::ValuesIn(cases_of_sweeps("jacobi_sweeps", few_sweeps)), name_of_rank_case);

class StructIluRanksOnDevice : public GlobalRanksOnDevice {};
INSTANTIATE_TEST_SUITE_P(StructIlu, GlobalRanksOnDevice, testing::ValuesIn(gpu_rank_cases()), name_of_rank_case);
INSTANTIATE_TEST_SUITE_P(FgBilu, GlobalRanksOnDevice, testing::ValuesIn(cases_of_fgbilu()), name_of_rank_case);
INSTANTIATE_TEST_SUITE_P(Multicolor, GlobalRanksOnDevice, testing::ValuesIn(cases_of_multicolor()), name_of_rank_case);
INSTANTIATE_TEST_SUITE_P(LookedUpColours, GlobalRanksOnDevice, testing::ValuesIn(cases_of_looked_up_colours()),
                         name_of_storage_case);
INSTANTIATE_TEST_SUITE_P(SweptColours, GlobalRanksOnDevice, testing::ValuesIn(cases_of_swept_colours()),
                         name_of_storage_case);
INSTANTIATE_TEST_SUITE_P(SweptFgBilu, GlobalRanksOnDevice, testing::ValuesIn(cases_of_swept_pairs("fgbilu", {})),
                         name_of_storage_case);
INSTANTIATE_TEST_SUITE_P(SweptSubdomains, GlobalRanksOnDevice,
                         testing::ValuesIn(cases_of_swept_pairs("subdomain_ildu0", {{"subdomain", "3 4 2"}})),
                         name_of_storage_case);
INSTANTIATE_TEST_SUITE_P(Periodic, GlobalRanksOnDevice, testing::ValuesIn(periodic_cases()), name_of_storage_case);
INSTANTIATE_TEST_SUITE_P(Storages, GlobalRanksOnDevice, testing::ValuesIn(cases_of_storages()), name_of_storage_case);
INSTANTIATE_TEST_SUITE_P(All, StructIluRanksOnDevice, testing::ValuesIn(gpu_rank_cases()), name_of_rank_case);

std::vector<GpuRankCase> reduced_cases_of_struct_ilu() {
    std::vector<GpuRankCase> list;
    for (const GpuRankCase& c : cases_of_storages())
        if (c.preconditioner == "struct_ilu") list.push_back(c);
    return list;
}
INSTANTIATE_TEST_SUITE_P(Storages, StructIluRanksOnDevice, testing::ValuesIn(reduced_cases_of_struct_ilu()),
                         name_of_storage_case);

TEST_P(GlobalRanksOnDevice, HaveTheBitsOfOneGpu) {
    const StencilMatrix of = data();
    const Values one = applied(Context::cuda(), of, "global");
    const bool exact =
        !parameters_of(GetParam().preconditioner, GetParam().settings).has("preconditioner", "lower_sweeps");
    if (exact && (GetParam().preconditioner == "struct_ilu" || GetParam().preconditioner == "fgbilu")) {
        EXPECT_EQ(applied(Context::cuda(), of, "global", false), one);
    }
    EXPECT_LT(reference::relative_difference(one, applied(Context::cpu(1), of, "global")), most_beside_a_cpu());
    for (const int ranks : {2, 3}) EXPECT_EQ(on_gpu_ranks(ranks, of, "global"), one) << ranks << " ranks";
}

TEST_P(StructIluRanksOnDevice, ScopeRankIsThatOfRanksOnACpu) {
    const StencilMatrix of = data();
    for (const int ranks : {2, 3}) {
        const Values expected = on_first_of(ranks, [&](const Context& c) { return applied(c, of, "rank"); });
        EXPECT_LT(reference::relative_difference(on_gpu_ranks(ranks, of, "rank"), expected), most_beside_a_cpu())
            << ranks;
    }
}

}  // namespace
}  // namespace hyperplane
