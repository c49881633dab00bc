// SPDX-License-Identifier: BSD-3-Clause
// struct_ilu, par_ilu, jacobi_sweeps and multicolor on ranks on GPUs, in every storage of the factors, and jacobi and
// subdomain_ildu0 in reduced precision: the bits of one GPU, queued once and recorded as a graph; with scope = rank
// what ranks on a CPU compute.
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

/// Grids that are periodic along z, whose ends two or three ranks share with each other.
std::vector<GpuRankCase> periodic_cases() {
    std::vector<GpuRankCase> list;
    const auto around_z = [](Box box, bool along_y = false) {
        box.periodic = {false, along_y, true};
        return box;
    };
    for (const bool symmetric : {false, true}) {
        for (const char* name : {"struct_ilu", "multicolor", "par_ilu", "jacobi"})
            for (const int dof : {1, 3}) list.push_back({"star7", dof, 0, symmetric, around_z({7, 6, 9}), name});
        list.push_back({"star13", 2, 0, symmetric, around_z({7, 6, 11}), "struct_ilu"});
        list.push_back({"box27", 1, 0, symmetric, around_z({13, 21, 12}, true), "struct_ilu"});
        list.push_back({"star7", 1, 1, symmetric, around_z({13, 21, 12}, true), "struct_ilu"});
        list.push_back({"box27", 1, 0, symmetric, around_z({13, 21, 12}, true), "multicolor"});
        list.push_back({"star7", 2, 0, symmetric, around_z({7, 6, 9}), "struct_ilu", {{"storage", "single"}}});
    }
    return list;
}

/// Factors in reduced precision, of every preconditioner that has them on ranks on GPUs.
std::vector<GpuRankCase> cases_of_storages() {
    std::vector<GpuRankCase> list;
    const auto add = [&](const char* stencil, int dof, int fill_level, bool symmetric, Box box, const char* name,
                         Settings settings = {}) {
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
            add("star7", dof, 0, symmetric, {7, 6, 9}, "multicolor");
            add("star7", dof, 0, symmetric, {7, 6, 9}, "subdomain_ildu0", {{"subdomain", "3 4 1"}});
        }
        add("star13", 2, 0, symmetric, {7, 6, 9}, "struct_ilu");
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
        const Replay recording(context, step);
        for (int replay = 0; replay < 20; ++replay) {
            meet_ranks(context, true);
            recording.queue();
            context.synchronize();
            EXPECT_EQ(to_natural(z), once) << "replay " << replay << " on rank " << context.ranks()->rank();
            EXPECT_EQ(rz.get(0, 1), product);
        }
        return once;
    }
    Values on_gpu_ranks(int ranks, const StencilMatrix& of, const char* scope) const {
        Values found;
        on_each_gpu_rank(ranks, [&](const Context& context) {
            Values mine = applied(context, of, scope);
            if (is_first_rank(context)) found = std::move(mine);
        });
        return found;
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
        if (key == "storage" || key == "triangular_solve") name += "_" + value;
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
INSTANTIATE_TEST_SUITE_P(Multicolor, GlobalRanksOnDevice, testing::ValuesIn(cases_of_multicolor()), name_of_rank_case);
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
    if (GetParam().preconditioner == "struct_ilu") {
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

struct RoundingOnRanksOnDevice : DeviceTest {
    /// Returns what a set-up in single precision reports: an overflow, or the number of values that became zero.
    static std::string outcome(const Context& context, const StencilMatrix& of, const std::string& name) {
        const Layout mine = part_of(context, layout_for(LayoutKind::natural, of, "star7", 0), 1);
        const StructMatrix a =
            in_context(context, reference::to_struct_matrix(context.host(), mine, of, MatrixStorage::lower, "star7"));
        Settings settings{{"storage", "single"}};
        if (name == "subdomain_ildu0") settings.push_back({"subdomain", "3 4 1"});
        try {
            return std::to_string(make(name, a, settings)->setup(a).values_flushed);
        } catch (const SetupError& error) {
            return error.what();
        }
    }
    /// A matrix in which planes from `plane` on, or their couplings along x, are multiplied.
    static StencilMatrix scaled(const Box& box, int plane, double rows, double along_x) {
        StencilMatrix matrix = reference::random_spd_matrix(box, reference::stencil_named("star7").offsets, 1, 2);
        for (int row = 0; row < box.points(); ++row)
            for (auto& [offset, block] : matrix.blocks[row])
                if (box.point(row).z >= plane) block(0, 0) *= rows * (offset.x != 0 ? along_x : 1.0);
        return matrix;
    }
};

TEST_F(RoundingOnRanksOnDevice, IsReportedAsOnOneGpu) {
    const Box box{5, 4, 8};
    for (const auto& [matrix, text] :
         {std::pair(scaled(box, 2, 1.0, 1e-60), "96"), std::pair(scaled(box, 3, 1e-60, 1.0), "(0,0,3)")})
        for (const char* name : {"struct_ilu", "jacobi", "multicolor", "par_ilu", "jacobi_sweeps", "subdomain_ildu0"}) {
            const std::string one = outcome(Context::cuda(), matrix, name);
            if (std::string(name) == "struct_ilu") {
                EXPECT_NE(one.find(text), std::string::npos) << one;
            }
            for (const int ranks : {2, 3})
                on_each_gpu_rank(ranks, [&, &matrix = matrix](const Context& context) {
                    EXPECT_EQ(outcome(context, matrix, name), one) << name << " on " << ranks << " ranks";
                });
        }
}

struct PivotsOfRanksOnDevice : DeviceTest {
    /// The message of a set-up, or counts, places and values of the pivots that it changed.
    static std::string outcome(const Context& context, const StencilMatrix& of, const char* policy,
                               const char* name = "struct_ilu") {
        const Layout mine = part_of(context, layout_for(LayoutKind::natural, of, "star7", 0), 1);
        const StructMatrix a =
            in_context(context, reference::to_struct_matrix(context.host(), mine, of, MatrixStorage::full, "star7"));
        try {
            Settings settings{{"pivot_policy", policy}};
            if (name == std::string("subdomain_ildu0")) settings.push_back({"subdomain", "3 4 1"});
            const SetupReport report = make(name, a, settings)->setup(a);
            std::string text = std::to_string(report.pivots_modified) + " of " +
                               std::to_string(mine.grid().row(report.smallest_pivot_cell));
            for (const PivotEvent& event : report.modified)
                text += " " + std::to_string(mine.grid().row(event.cell)) + ":" + std::to_string(event.value);
            return text;
        } catch (const SetupError& error) {
            return error.what();
        }
    }
};

TEST_F(PivotsOfRanksOnDevice, AreReportedAsOnOneRank) {
    const Box box{5, 4, 6};
    StencilMatrix of = reference::random_matrix(box, reference::stencil_named("star7").offsets, 1, 2);
    const auto expect_equal = [&](const char* policy) {
        const std::string one = outcome(Context::cpu(1), of, policy);
        const std::string of_colours = outcome(Context::cuda(), of, policy, "multicolor");
        for (const int ranks : {2, 3})
            on_each_gpu_rank(ranks, [&](const Context& c) {
                EXPECT_EQ(outcome(c, of, policy), one) << ranks;
                EXPECT_EQ(outcome(c, of, policy, "multicolor"), of_colours) << ranks;
            });
    };
    const auto expect_equal_to_one_gpu = [&](const char* policy) {
        for (const char* name : {"par_ilu", "subdomain_ildu0"}) {
            const std::string one = outcome(Context::cuda(), of, policy, name);
            for (const int ranks : {2, 3})
                on_each_gpu_rank(
                    ranks, [&](const Context& c) { EXPECT_EQ(outcome(c, of, policy, name), one) << name << ranks; });
        }
    };
    expect_equal("fail");  // no pivot fails
    expect_equal_to_one_gpu("fail");
    for (const reference::Offset p : {reference::Offset{2, 3, 4}, reference::Offset{1, 1, 5}})
        for (auto& [offset, block] : of.blocks[box.row(p)]) block(0, 0) = 0.0;
    for (const char* policy : {"fail", "shift"}) {
        expect_equal(policy);
        expect_equal_to_one_gpu(policy);
    }
    for (const reference::Offset p : {reference::Offset{2, 3, 4}, reference::Offset{1, 1, 5}})
        of.blocks[box.row(p)].at({})(0, 0) = 1e-300;
    expect_equal("boost");
}

}  // namespace
}  // namespace hyperplane
