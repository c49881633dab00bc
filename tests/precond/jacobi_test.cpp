// jacobi and none.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "precond/support.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

struct Case {
    std::string stencil;
    int dof;
    Box box;
    LayoutKind kind;
};

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const char* stencil : {"star7", "box27"})
        for (int dof : {1, 2, 3, 4, 5, 8, 17, 32})
            for (const Box& box : {Box{7, 5, 3}, Box{1, 9, 1}, Box{5, 5, 1, {true, true, false}}})
                for (LayoutKind kind : layout_kinds) list.push_back({stencil, dof, box, kind});
    return list;
}

class JacobiTest : public testing::TestWithParam<Case> {};

TEST_P(JacobiTest, InvertsTheBlockDiagonal) {
    const Context context = Context::cpu(1);
    const auto offsets = reference::stencil_named(GetParam().stencil).offsets;
    for (MatrixStorage storage : storages) {
        const StencilMatrix data = storage == MatrixStorage::full
                                       ? reference::random_matrix(GetParam().box, offsets, GetParam().dof, 61)
                                       : reference::random_spd_matrix(GetParam().box, offsets, GetParam().dof, 62);
        const StructMatrix a = reference::to_struct_matrix(
            context, layout_for(GetParam().kind, data, GetParam().stencil, 0), data, storage);
        const auto m = make("jacobi", a);
        m->setup(a);
        EXPECT_TRUE(m->traits().fixed);
        EXPECT_EQ(m->traits().symmetric, storage == MatrixStorage::lower);
        const std::vector<double> r = reference::Random(8).vector(int(a.unknowns()));
        const auto expected = reference::apply_block_jacobi(reference::assembled(data), r);
        EXPECT_LT(reference::relative_difference(apply(*m, a, r), expected), 1e-13);
        for (int threads : {2, 3}) {
            const SeveralThreads several(threads);
            EXPECT_LT(reference::relative_difference(apply(*m, a, r), expected), 1e-13) << threads << " threads";
        }
        const auto none = make("none", a);
        none->setup(a);
        EXPECT_TRUE(none->traits().symmetric);
        EXPECT_EQ(apply(*none, a, r), r);
    }
}

INSTANTIATE_TEST_SUITE_P(All, JacobiTest, testing::ValuesIn(cases()), [](const auto& info) {
    const Case& c = info.param;
    return c.stencil + "_dof" + std::to_string(c.dof) + "_" + reference::name_of(c.box) + "_" + to_string(c.kind);
});

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
    EXPECT_LT(reference::relative_difference(apply(*m, a, r), expected), 1e-13);
}

}  // namespace
}  // namespace hyperplane
