// SPDX-License-Identifier: BSD-3-Clause
// Pivots that cannot be used, on a GPU: counts, cells and messages equal the CPU's.
#include "core/error.hpp"
#include "on_device.hpp"
#include "precond/bad_pivots.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

struct Case {
    std::string stencil;
    int dof, fill_level;
    MatrixStorage storage;
};

class PivotsOnDevice : public DeviceTest, public testing::WithParamInterface<Case> {
protected:
    /// The report of a set-up, or its error message.
    Outcome outcome(const Context& context, const StencilMatrix& data, const std::string& policy) const {
        const Layout layout = layout_for(LayoutKind::hyperplane, data, stencil, GetParam().fill_level);
        const StructMatrix a =
            in_context(context, reference::to_struct_matrix(context.host(), layout, data, GetParam().storage, stencil));
        const auto m =
            make("struct_ilu", a, {{"fill_level", std::to_string(GetParam().fill_level)}, {"pivot_policy", policy}});
        return outcome_of(*m, a);
    }

    /// Expects that the GPU's outcome equals the CPU's, and returns it.
    Outcome expect_equal(const StencilMatrix& data, const std::string& policy) const {
        SCOPED_TRACE(policy);
        const Outcome expected = outcome(Context::cpu(1), data, policy),
                      actual = outcome(Context::cuda(), data, policy);
        EXPECT_EQ(actual.message, expected.message);
        expect_equal_reports(actual.report, expected.report);
        EXPECT_EQ(actual.z.size(), expected.z.size());
        EXPECT_TRUE(expected.z.empty() || reference::relative_difference(actual.z, expected.z) < 1e-11);
        return actual;
    }
    void expect_equal(const StencilMatrix& data) const {
        for (const char* policy : {"fail", "shift", "boost"}) expect_equal(data, policy);
    }

    int dof = GetParam().dof;
    std::string stencil = GetParam().stencil;
    double tiny = 0x1p-50;  ///< a pivot below 1e-14: elimination of 1 from 1 + 2^-50 leaves exactly 2^-50
};

TEST_P(PivotsOnDevice, Zero) {
    const StencilMatrix data = with_block(stencil, diagonal_block(dof, 0.0));
    expect_equal(data);
    const std::string message = expect_equal(data, "fail").message;
    EXPECT_NE(message.find("(3,2,1)"), std::string::npos) << message;
}

TEST_P(PivotsOnDevice, Tiny) {
    const StencilMatrix data = with_pair(stencil, dof, 1.0, 1.0 + tiny);
    expect_equal(data);
    EXPECT_FALSE(expect_equal(data, "fail").message.empty());
    EXPECT_EQ(expect_equal(data, "boost").report.pivots_modified, 1);
    EXPECT_GT(expect_equal(data, "shift").report.shift, 0.0);
}

TEST_P(PivotsOnDevice, InverseOverflows) {
    for (const auto& [bad, policy] : {std::pair(5e-324, "fail"), {5e-324, "shift"}, {0x1p-1024, "fail"}}) {
        const std::string message = expect_equal(with_block(stencil, diagonal_block(dof, bad)), policy).message;
        EXPECT_NE(message.find("(3,2,1)"), std::string::npos) << message;
    }
}

TEST_P(PivotsOnDevice, SmallButOfUse) {
    const StencilMatrix data = with_pair(stencil, dof, 1.0, 1.0 + 1e-6);
    expect_equal(data);
    EXPECT_NEAR(expect_equal(data, "fail").report.smallest_pivot_ratio, 1e-6, 1e-9);
}

TEST_P(PivotsOnDevice, Negative) {
    const StencilMatrix data = with_pair(stencil, dof, 2.0, 1.0);
    expect_equal(data);
    EXPECT_EQ(expect_equal(data, "fail").message.empty(), GetParam().storage == MatrixStorage::full);
}

TEST_P(PivotsOnDevice, NoNumber) {
    for (double bad : {double(NAN), double(INFINITY)})
        for (const char* policy : {"fail", "shift", "boost"}) {
            const StencilMatrix data = with_block(stencil, diagonal_block(dof, bad));
            const std::string message = outcome(Context::cuda(), data, policy).message;
            EXPECT_NE(message.find("(3,2,1)"), std::string::npos) << policy << ": " << message;
        }
}

TEST_P(PivotsOnDevice, MoreThanAReportHolds) {
    StencilMatrix data = with_block(stencil, diagonal_block(dof, 0.0));
    const Dense bad = diagonal_block(dof, dof > 1 ? 0.0 : -1.0);
    for (int row = 1; row < box.points(); row += 4) {
        isolate(data, box.point(row));
        data.blocks[row].at({}) = bad;
    }
    if (dof == 1) data.blocks[box.row(bad_cell)].at({}) = bad;
    expect_equal(data);
    EXPECT_TRUE(dof == 1 || expect_equal(data, "boost").report.pivots_modified > 16);
}

std::vector<Case> cases() {
    std::vector<Case> list;
    for (MatrixStorage storage : storages) {
        for (int dof : {1, 3}) list.push_back({"star7", dof, 0, storage});
        list.push_back({"star7", 3, 1, storage});
        list.push_back({"box27", 1, 0, storage});
    }
    return list;
}

INSTANTIATE_TEST_SUITE_P(All, PivotsOnDevice, testing::ValuesIn(cases()), [](const auto& info) {
    const Case& c = info.param;
    return c.stencil + "_k" + std::to_string(c.fill_level) + "_dof" + std::to_string(c.dof) +
           (c.storage == MatrixStorage::full ? "_full" : "_lower");
});

}  // namespace
}  // namespace hyperplane
