// SPDX-License-Identifier: BSD-3-Clause
// What set-ups on ranks on GPUs report is what one GPU reports: values that do not fit reduced precision, and pivots
// that cannot be used.
#include "on_device.hpp"
#include "on_ranks.hpp"
#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

struct RoundingOnRanksOnDevice : DeviceTest {
    /// Returns what a set-up in single precision reports: an overflow, or the number of values that became zero.
    static std::string outcome(const Context& context, const StencilMatrix& of, const std::string& name,
                               Settings settings = {}) {
        const Layout mine = part_of(context, layout_for(LayoutKind::natural, of, "star7", 0), 1);
        const StructMatrix a =
            in_context(context, reference::to_struct_matrix(context.host(), mine, of, MatrixStorage::lower, "star7"));
        settings.push_back({"storage", "single"});
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
    using Named = std::pair<std::string, Settings>;
    const Settings swept{{"triangular_solve", "jacobi"}};
    const Box box{5, 4, 8};
    for (const auto& [matrix, text] :
         {std::pair(scaled(box, 2, 1.0, 1e-60), "96"), std::pair(scaled(box, 3, 1e-60, 1.0), "(0,0,3)")})
        for (const auto& [name, settings] :
             {Named("struct_ilu", {}), Named("fgbilu", {}), Named("fgbilu", swept), Named("jacobi", {}),
              Named("multicolor", {}), Named("par_ilu", {}), Named("jacobi_sweeps", {}), Named("subdomain_ildu0", {}),
              Named("multicolor", swept), Named("subdomain_ildu0", swept)}) {
            const std::string one = outcome(Context::cuda(), matrix, name, settings);
            if (name == "struct_ilu") {
                EXPECT_NE(one.find(text), std::string::npos) << one;
            }
            for (const int ranks : {2, 3})
                on_each_gpu_rank(ranks, [&, &matrix = matrix, &name = name, &settings = settings](const Context& on) {
                    EXPECT_EQ(outcome(on, matrix, name, settings), one) << name << " on " << ranks << " ranks";
                });
        }
}

struct PivotsOfRanksOnDevice : DeviceTest {
    /// The message of a set-up, or counts, places and values of the pivots that it changed.
    static std::string outcome(const Context& context, const StencilMatrix& of, const char* policy,
                               const char* name = "struct_ilu", const Settings& more = {}) {
        const Layout mine = part_of(context, layout_for(LayoutKind::natural, of, "star7", 0), 1);
        const StructMatrix a =
            in_context(context, reference::to_struct_matrix(context.host(), mine, of, MatrixStorage::full, "star7"));
        try {
            Settings settings = more;
            settings.push_back({"pivot_policy", policy});
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
        const Settings greedy{{"colours", "greedy"}};
        const std::string of_colours = outcome(Context::cuda(), of, policy, "multicolor");
        const std::string of_hyperplanes = outcome(Context::cuda(), of, policy, "fgbilu");
        const std::string of_greedy_colours = outcome(Context::cuda(), of, policy, "multicolor", greedy);
        for (const int ranks : {2, 3})
            on_each_gpu_rank(ranks, [&](const Context& c) {
                EXPECT_EQ(outcome(c, of, policy), one) << ranks;
                EXPECT_EQ(outcome(c, of, policy, "multicolor"), of_colours) << ranks;
                EXPECT_EQ(outcome(c, of, policy, "fgbilu"), of_hyperplanes) << ranks;
                EXPECT_EQ(outcome(c, of, policy, "multicolor", greedy), of_greedy_colours) << ranks;
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
