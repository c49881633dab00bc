// SPDX-License-Identifier: BSD-3-Clause
// jacobi and none, on a CPU and on a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "on_device.hpp"
#include "precond/bad_pivots.hpp"
#include "precond/jacobi/jacobi_cuda.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

struct Case {
    std::string stencil;
    int dof;
    Box box;
    LayoutKind kind;
};

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const char* stencil : {"star7", "box27"})
        for (int dof : reference::all_dofs)
            for (const Box& box : {Box{7, 5, 3}, Box{1, 9, 1}, Box{5, 5, 1, {true, true, false}}})
                for (LayoutKind kind : layout_kinds) list.push_back({stencil, dof, box, kind});
    return list;
}

/// The matrix of a case in its layout and in a context.
StructMatrix matrix(const Context& context, const Case& c, const StencilMatrix& data, MatrixStorage storage) {
    return in_context(context, reference::to_struct_matrix(context.host(), layout_for(c.kind, data, c.stencil, 0), data,
                                                           storage, c.stencil));
}

// M^-1 r of jacobi, with and without l1, equals the reference's; that of none equals r.
void expect_inverse_of_block_diagonal(const Context& context, const Case& c) {
    const auto offsets = reference::stencil_named(c.stencil).offsets;
    for (MatrixStorage storage : storages) {
        const StencilMatrix data = storage == MatrixStorage::full
                                       ? reference::random_matrix(c.box, offsets, c.dof, 61)
                                       : reference::random_spd_matrix(c.box, offsets, c.dof, 62);
        const StructMatrix a = matrix(context, c, data, storage);
        const std::vector<double> r = reference::Random(8).vector(int(a.unknowns()));
        for (bool l1 : {false, true}) {
            const auto m = make("jacobi", a, {{"l1", l1 ? "true" : "false"}});
            m->setup(a);
            EXPECT_TRUE(m->traits().fixed);
            EXPECT_EQ(m->traits().symmetric, storage == MatrixStorage::lower);
            const reference::BlockMatrix whole = reference::assembled(data);
            const auto expected = reference::apply_block_jacobi(l1 ? reference::with_l1_diagonal(whole) : whole, r);
            EXPECT_LT(reference::relative_difference(applied(*m, a, r), expected), 1e-13);
            for (int threads : {2, 3}) {
                const SeveralThreads several(a.context(), threads);
                EXPECT_LT(reference::relative_difference(applied(*m, a, r), expected), 1e-13) << threads << " threads";
            }
        }
        const auto none = make("none", a);
        none->setup(a);
        EXPECT_TRUE(none->traits().symmetric);
        EXPECT_EQ(applied(*none, a, r), r);
    }
}

class JacobiTest : public testing::TestWithParam<Case> {};
class JacobiOnDevice : public DeviceTest, public testing::WithParamInterface<Case> {};

TEST_P(JacobiTest, InvertsTheBlockDiagonal) {
    expect_inverse_of_block_diagonal(Context::cpu(1), GetParam());
}

TEST_P(JacobiOnDevice, InvertsTheBlockDiagonal) {
    expect_inverse_of_block_diagonal(Context::cuda(), GetParam());
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
    const Case& c = info.param;
    return c.stencil + "_dof" + std::to_string(c.dof) + "_" + reference::name_of(c.box) + "_" + to_string(c.kind);
}
INSTANTIATE_TEST_SUITE_P(All, JacobiTest, testing::ValuesIn(cases()), name_of);
INSTANTIATE_TEST_SUITE_P(All, JacobiOnDevice, testing::ValuesIn(cases()), name_of);

TEST(Jacobi, ABlockWithoutInverseNamesItsCell) {
    const Context context = Context::cpu(1);
    for (LayoutKind kind : layout_kinds)
        for (double bad : {0.0, double(NAN)}) {
            StencilMatrix data = reference::random_matrix({7, 5, 3}, reference::stencil_named("star7").offsets, 2, 63);
            reference::Dense& block = data.blocks[data.box.row({4, 3, 2})].at({});
            block.values = {1.0, 1.0, 1.0, 1.0 + bad};
            const StructMatrix a =
                reference::to_struct_matrix(context, layout_for(kind, data, "star7", 0), data, MatrixStorage::full);
            const auto m = make("jacobi", a);
            try {
                m->setup(a);
                ADD_FAILURE() << "accepted";
            } catch (const SetupError& error) {
                EXPECT_EQ(error.code(), ExitCode::preconditioner);
                EXPECT_NE(std::string(error.what()).find("(4,3,2)"), std::string::npos) << error.what();
            }
        }
}

/// The largest eigenvalue of M^-1 A, by power iteration.
double largest_eigenvalue(const LinearOperator& m, const StructMatrix& a, const StencilMatrix& data) {
    std::vector<double> x = reference::Random(10).vector(int(a.unknowns()));
    double norm = 0.0;
    for (int step = 0; step < 300; ++step) {
        x = applied(m, a, reference::multiply(reference::assembled(data), x).value);
        norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
        for (double& value : x) value /= norm;
    }
    return norm;
}

TEST(Jacobi, WithL1NoEigenvalueIsAboveOneForAPositiveDefiniteMatrix) {
    for (const char* stencil : {"star7", "box27"})
        for (int dof : {1, 3}) {
            const auto offsets = reference::stencil_named(stencil).offsets;
            const StencilMatrix data = reference::random_spd_matrix({5, 4, 3}, offsets, dof, 66);
            const StructMatrix a =
                matrix(Context::cpu(1), {stencil, dof, data.box, LayoutKind::natural}, data, MatrixStorage::lower);
            for (bool l1 : {false, true}) {
                const auto m = make("jacobi", a, {{"l1", l1 ? "true" : "false"}});
                m->setup(a);
                const double largest = largest_eigenvalue(*m, a, data);
                EXPECT_EQ(largest <= 1.0 + 1e-9, l1) << stencil << " dof " << dof << ": " << largest;
            }
        }
}

TEST(Jacobi, ASecondSetupSeesTheNewValues) {
    const Context context = Context::cpu(1);
    StencilMatrix data = reference::random_matrix({7, 5, 3}, reference::stencil_named("star7").offsets, 2, 64);
    StructMatrix a = reference::to_struct_matrix(context, layout_for(LayoutKind::natural, data, "star7", 0), data,
                                                 MatrixStorage::full);
    const auto m = make("jacobi", a);
    m->setup(a);
    data = reference::random_matrix(data.box, data.offsets, 2, 65);
    a = reference::to_struct_matrix(context, a.layout(), data, MatrixStorage::full);
    m->setup(a);
    const std::vector<double> r = reference::Random(8).vector(int(a.unknowns()));
    const auto expected = reference::apply_block_jacobi(reference::assembled(data), r);
    EXPECT_LT(reference::relative_difference(applied(*m, a, r), expected), 1e-13);
}

/// The report of a set-up, or its error message.
struct Outcome {
    SetupReport report;
    std::string message;
};

Outcome outcome(const StructMatrix& a) {
    const auto m = make("jacobi", a);
    try {
        return {m->setup(a), ""};
    } catch (const SetupError& error) {
        return {{}, error.what()};
    }
}

/// Expects that the set-up's outcome on a GPU equals the CPU's, and returns it.
Outcome expect_equal_outcome(const StructMatrix& a) {
    const Outcome expected = outcome(a), actual = outcome(in_context(Context::cuda(), a));
    EXPECT_EQ(actual.message, expected.message);
    EXPECT_EQ(actual.report.pivots_modified, expected.report.pivots_modified);
    EXPECT_EQ(actual.report.factor_bytes, expected.report.factor_bytes);
    EXPECT_EQ(actual.report.smallest_pivot_cell, expected.report.smallest_pivot_cell);
    EXPECT_NEAR(actual.report.smallest_pivot_ratio, expected.report.smallest_pivot_ratio,
                1e-12 * expected.report.smallest_pivot_ratio);
    return actual;
}

struct PivotCase {
    int dof;
    LayoutKind kind;
};

class JacobiPivotsOnDevice : public DeviceTest, public testing::WithParamInterface<PivotCase> {
protected:
    StructMatrix matrix_of(const StencilMatrix& data) const {
        return matrix(Context::cpu(1), {"star7", dof, data.box, GetParam().kind}, data, MatrixStorage::full);
    }
    /// A random matrix with these diagonal blocks.
    StencilMatrix with_blocks(const std::vector<std::pair<Offset, Dense>>& blocks) const {
        StencilMatrix data = reference::random_matrix(box, reference::stencil_named("star7").offsets, dof, 66);
        for (const auto& [cell, block] : blocks) data.blocks[box.row(cell)].at({}) = block;
        return data;
    }
    /// A block for which elimination leaves `left` as the last pivot: the identity with ones in the corners of the
    /// other diagonal and 1 + left as its last coefficient.
    Dense leaving(double left) const {
        Dense block = diagonal_block(dof, dof > 1 ? 1.0 + left : left);
        if (dof > 1) block(0, dof - 1) = block(dof - 1, 0) = 1.0;
        return block;
    }

    int dof = GetParam().dof;
};

TEST_P(JacobiPivotsOnDevice, ThatCannotBeUsed) {
    for (double bad : {0.0, 0x1p-50, double(NAN), double(INFINITY)}) {
        if (dof == 1 && bad == 0x1p-50) continue;  // a block of one number is as large as its pivot
        const Dense block = bad == 0x1p-50 ? leaving(bad) : diagonal_block(dof, bad);
        const std::string one = expect_equal_outcome(matrix_of(with_blocks({{bad_cell, block}}))).message;
        EXPECT_NE(one.find("(3,2,1)"), std::string::npos) << one;
        EXPECT_NE(one.find("(1 such pivot in"), std::string::npos) << one;
        // The first bad cell in natural order is not the first in the hyperplane layout.
        const std::string three =
            expect_equal_outcome(matrix_of(with_blocks({{{0, 0, 2}, block}, {{6, 4, 1}, block}, {bad_cell, block}})))
                .message;
        EXPECT_NE(three.find("(3,2,1)"), std::string::npos) << three;
        EXPECT_NE(three.find("(3 such pivots"), std::string::npos) << three;
    }
}

TEST_P(JacobiPivotsOnDevice, InEveryBlock) {
    StencilMatrix data = with_blocks({});
    for (auto& row : data.blocks) row.at({}) = Dense(dof, dof);
    const std::string message = expect_equal_outcome(matrix_of(data)).message;
    EXPECT_NE(message.find("(0,0,0), component 0"), std::string::npos) << message;
    EXPECT_NE(message.find("(105 such pivots"), std::string::npos) << message;
}

TEST_P(JacobiPivotsOnDevice, SmallestRatio) {
    const Dense one = diagonal_block(dof, 1.0), small = leaving(1e-6);
    StencilMatrix data = with_blocks({});
    for (auto& row : data.blocks) row.at({}) = one;
    data.blocks[box.row({6, 4, 1})].at({}) = data.blocks[box.row({0, 0, 2})].at({}) = small;
    const SetupReport report = expect_equal_outcome(matrix_of(data)).report;
    EXPECT_EQ(report.smallest_pivot_cell, dof > 1 ? (Int3{6, 4, 1}) : Int3{});
    EXPECT_NEAR(report.smallest_pivot_ratio, dof > 1 ? 1e-6 : 1.0, 1e-9);
}

/// A grid with more points than the GPU processes at a time, so that each thread block takes several groups of points.
TEST_P(JacobiPivotsOnDevice, AmongManyPoints) {
    Grid grid;
    grid.nx = dof == 1 ? 151 : 37, grid.ny = dof <= 3 ? 73 : 35, grid.nz = dof <= 3 ? 67 : dof <= 8 ? 59 : 13;
    const Layout layout(GetParam().kind, grid, LevelMap{2, 4});
    StructMatrix a = random_struct_matrix(layout, Stencil("point", {{0, 0, 0}}), dof, MatrixStorage::full, 67);
    for (int row = 0; row < dof; ++row)  // avoids singular blocks, which so many random ones would include
        for (Index slot = 0; slot < layout.slots(); ++slot) a.values(0, row, row)[slot] += 2 * dof;
    const StructMatrix there = in_context(Context::cuda(), a);
    expect_equal_outcome(a);
    const std::vector<double> r = reference::Random(9).vector(int(a.unknowns()));
    const auto here_m = make("jacobi", a), there_m = make("jacobi", there);
    here_m->setup(a), there_m->setup(there);
    const std::vector<double> once = applied(*there_m, there, r);
    EXPECT_LT(reference::relative_difference(once, applied(*here_m, a, r)), 1e-13);
    there_m->setup(there);
    EXPECT_EQ(applied(*there_m, there, r), once);

    for (const Int3 cell : {Int3{grid.nx - 1, grid.ny - 1, grid.nz - 1}, Int3{17, 11, 7}, Int3{5, 3, 11}})
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col) a.values(0, row, col)[layout.slot(cell)] = 0.0;
    const std::string message = expect_equal_outcome(a).message;
    EXPECT_NE(message.find("(17,11,7), component 0"), std::string::npos) << message;
    EXPECT_NE(message.find("(3 such pivots"), std::string::npos) << message;
}

std::vector<PivotCase> pivot_cases() {
    std::vector<PivotCase> list;
    for (int dof : {1, 2, 3, 8, 17, 32})
        for (LayoutKind kind : layout_kinds) list.push_back({dof, kind});
    return list;
}

INSTANTIATE_TEST_SUITE_P(All, JacobiPivotsOnDevice, testing::ValuesIn(pivot_cases()), [](const auto& info) {
    return "dof" + std::to_string(info.param.dof) + "_" + to_string(info.param.kind);
});

TEST(Jacobi, ItsKernelCompilesWithoutADeviceAndSpillsNothing) {
    if constexpr (!cuda_built) GTEST_SKIP() << "built without CUDA";
    if constexpr (cuda_built)
        for (const char* architecture : {"sm_80", "sm_90", "sm_100"})
            for (int dof : reference::all_dofs) {
                const auto resources = rtc::compile(invert_diagonal_programs(dof), architecture).at(0);
                EXPECT_EQ(resources.local_bytes, 0) << architecture << ", dof " << dof;
                EXPECT_GT(resources.registers, 0);
                std::cout << architecture << " dof " << dof << ": " << resources.registers << " registers, "
                          << resources.local_bytes << " bytes local\n";
            }
}

TEST(Jacobi, HoldsAndMovesWhatIsPlanned) {
    for (const FactorStorage storage : all_factor_storages)
        for (int dof : {1, 3}) {
            SCOPED_TRACE(to_string(storage) + std::string(" ") + std::to_string(dof));
            const Context context = Context::cpu(1);
            const Layout layout(LayoutKind::natural, {9, 8, 7}, {1, 1});
            StructMatrix a(context, layout, Stencil::star7(), dof);
            a.assign(random_struct_matrix(layout, a.stencil(), dof, MatrixStorage::full, 3));
            const Settings settings{{"storage", to_string(storage)}};
            const PreconditionerPlan plan =
                find_preconditioner("jacobi").plan(parameters_of("jacobi", settings), setting_of(a));
            const Index before = context.ledger().held();
            const auto m = make("jacobi", a, settings);
            const SetupReport report = m->setup(a);
            const double held = double(context.ledger().held() - before);
            EXPECT_NEAR(double(plan.bytes), held, 0.01 * held);
            EXPECT_LE(report.factor_bytes, held);
            EXPECT_EQ(m->bytes_per_apply(),
                      plan.bytes_per_apply > 0 ? plan.bytes_per_apply : plan.bytes + 2 * a.unknowns() * 8);
        }
}

}  // namespace
}  // namespace hyperplane
