// SPDX-License-Identifier: BSD-3-Clause
// Products and residuals of a StructMatrix on a GPU, compared with the reference, and on large grids with the CPU.
#include <functional>

#include "core/epsilon.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/scalars.hpp"
#include "on_device.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

/// Kernels are compiled for each case: stencil, dof, layout, storage, periodic or not. The grids of a case share them.
struct DeviceCase {
    std::string stencil;
    int dof;
    LayoutKind kind;
    MatrixStorage storage;
    bool periodic;
};

std::vector<Box> boxes_for(const DeviceCase& c) {
    const std::array<bool, 3> all{true, true, true}, x{true, false, false}, y{false, true, false},
        z{false, false, true}, xz{true, false, true};
    if (c.periodic && c.dof > 3) return {{5, 5, 7, all}, {3, 7, 2, y}};
    if (c.periodic) return {{7, 5, 5, all}, {9, 3, 2, x}, {3, 7, 5, y}, {1, 2, 6, z}, {5, 1, 7, xz}};
    if (c.dof > 8) return {{1, 1, 1}, {5, 3, 3}, {9, 1, 1}, {1, 7, 1}, {1, 1, 5}};
    if (c.dof > 3) return {{1, 1, 1}, {7, 5, 3}, {1, 9, 1}, {5, 4, 1}, {3, 1, 7}, {33, 3, 1}};
    return {{1, 1, 1}, {17, 9, 5}, {1, 1, 9}, {1, 33, 1}, {67, 1, 1}, {33, 1, 7}, {13, 7, 1}, {1, 9, 5}, {2, 2, 2}};
}

/// Grids with more points than a thread block of any kernel has threads.
std::vector<Box> large_boxes_for(const DeviceCase& c) {
    if (c.periodic) return {{19, 23, 11, {true, true, true}}};
    if (c.dof > 8) return {{13, 11, 7}};
    if (c.dof > 3) return {{29, 31, 7}, {9, 70, 3}};
    return {{70, 67, 9}, {33, 130, 5}, {7, 11, 131}};
}

/// Every stencil with every dof; layouts and storages alternate so that each stencil and each dof occurs with all.
std::vector<DeviceCase> device_cases() {
    std::vector<DeviceCase> list;
    const auto add = [&](int stencil, int dof, int form, bool periodic) {
        list.push_back({reference::all_stencils()[stencil].name, dof,
                        form % 2 ? LayoutKind::natural : LayoutKind::hyperplane,
                        form / 2 % 2 ? MatrixStorage::lower : MatrixStorage::full, periodic});
    };
    for (int stencil = 0; stencil < 7; ++stencil) {
        int form = stencil;
        for (int dof : reference::all_dofs) add(stencil, dof, form++, false);
        for (int wrapped : {stencil, stencil + 3}) add(stencil, 1 + (stencil + wrapped) % 5, wrapped, true);
    }
    for (int form : {1, 2, 3}) add(0, 1, form, false);
    return list;
}

class MatrixOnDevice : public DeviceTest, public testing::WithParamInterface<DeviceCase> {
protected:
    Layout layout(const Box& box) const {
        return Layout(GetParam().kind, reference::to_grid(box), stencil.level_map());
    }
    StencilMatrix data(const Box& box, int seed) const {
        return GetParam().storage == MatrixStorage::full ? reference::random_matrix(box, named.offsets, dof, seed)
                                                         : reference::random_spd_matrix(box, named.offsets, dof, seed);
    }

    int dof = GetParam().dof;
    reference::NamedStencil named = reference::stencil_named(GetParam().stencil);
    Stencil stencil = reference::to_stencil(named);
};

TEST_P(MatrixOnDevice, ProductsEqualTheReferences) {
    const Context gpu = Context::cuda();
    for (const Box& box : boxes_for(GetParam())) {
        SCOPED_TRACE(reference::name_of(box));
        const StencilMatrix a = data(box, 1);
        const Layout layout = this->layout(box);
        const StructMatrix there =
            in_context(gpu, reference::to_struct_matrix(gpu.host(), layout, a, GetParam().storage, named.name));
        for (int seed : {2, 3}) {
            const std::vector<double> x = reference::Random(seed).vector(int(there.unknowns()));
            const reference::Product expected = reference::multiply(reference::assembled(a), x);
            Vector y = poisoned(gpu, layout, dof);
            there.apply(to_vector(gpu, layout, dof, x), y);
            const std::vector<double> actual = from_vector(y);
            for (std::size_t at = 0; at < x.size(); ++at)
                ASSERT_NEAR(actual[at], expected.value[at], 16 * epsilon * expected.magnitude[at]) << "row " << at;
        }
    }
}

TEST_P(MatrixOnDevice, ResidualsAreAccurateWhereBAndAxCancel) {
    const Context gpu = Context::cuda();
    for (const Box& box : boxes_for(GetParam())) {
        SCOPED_TRACE(reference::name_of(box));
        const StencilMatrix a = data(box, 4);
        const Layout layout = this->layout(box);
        const StructMatrix there =
            in_context(gpu, reference::to_struct_matrix(gpu.host(), layout, a, GetParam().storage, named.name));
        const std::vector<double> x = reference::Random(5).vector(int(there.unknowns()));
        const reference::BlockMatrix assembled = reference::assembled(a);
        const reference::Product product = reference::multiply(assembled, x);
        const std::vector<double> expected = reference::exact_residual(assembled, product.value, x);
        Vector r = poisoned(gpu, layout, dof);
        there.residual(to_vector(gpu, layout, dof, product.value), to_vector(gpu, layout, dof, x), r);
        const std::vector<double> actual = from_vector(r);
        for (std::size_t at = 0; at < x.size(); ++at)
            ASSERT_NEAR(actual[at], expected[at], epsilon * std::abs(expected[at]) + 1e-28 * product.magnitude[at])
                << "row " << at;
    }
}

TEST_P(MatrixOnDevice, ProductsOnLargeGridsEqualTheCpus) {
    const Context gpu = Context::cuda();
    for (const Box& box : large_boxes_for(GetParam())) {
        SCOPED_TRACE(reference::name_of(box));
        const Layout layout = this->layout(box);
        const StructMatrix here = random_struct_matrix(layout, stencil, dof, GetParam().storage, 6);
        const StructMatrix there = in_context(gpu, here);
        const Vector x = to_vector(here.context(), layout, dof, reference::Random(7).vector(int(here.unknowns())));
        Vector y = poisoned(here.context(), layout, dof), r = poisoned(here.context(), layout, dof);
        here.apply(x, y);
        here.residual(y, x, r);
        const Vector gpu_x = in_context(gpu, x), gpu_b = in_context(gpu, y);
        Vector gpu_y = poisoned(gpu, layout, dof), gpu_r = poisoned(gpu, layout, dof);
        there.apply(gpu_x, gpu_y);
        there.subtract_product(gpu_x, gpu_x, gpu_r);
        const std::vector<double> product = from_vector(gpu_y), difference = from_vector(gpu_r), b = from_vector(x);
        for (std::size_t at = 0; at < b.size(); ++at) ASSERT_EQ(difference[at], b[at] - product[at]) << "row " << at;
        there.residual(gpu_b, gpu_x, gpu_r);
        EXPECT_LT(reference::relative_difference(from_vector(gpu_y), from_vector(y)), 1e-14);
        // Both are exact except for their last bits, and small compared with b and A x.
        EXPECT_LT(reference::relative_difference(from_vector(gpu_r), from_vector(r)), 1e-10);
    }
}

TEST_P(MatrixOnDevice, TwentyProductsHaveTheSameBits) {
    const Context gpu = Context::cuda();
    const Layout layout = this->layout(large_boxes_for(GetParam()).front());
    const StructMatrix a = in_context(gpu, random_struct_matrix(layout, stencil, dof, GetParam().storage, 8));
    const Vector x = to_vector(gpu, layout, dof, reference::Random(9).vector(int(a.unknowns())));
    std::vector<double> first;
    for (int repeat = 0; repeat < 20; ++repeat) {
        Vector y = poisoned(gpu, layout, dof);
        a.apply(x, y);
        const std::vector<double> again = from_vector(y);
        if (first.empty()) first = again;
        ASSERT_EQ(again, first) << "repeat " << repeat;
    }
}

/// Checks y = A x and x'y of one pass against two passes, twice over.
void expect_one_pass_to_equal_two(const StructMatrix& a,
                                  const std::function<void(const Vector&, Vector&, double*)>& one) {
    const Context& gpu = a.context();
    const Vector x = to_vector(gpu, a.layout(), 1, reference::Random(10).vector(int(a.unknowns())));
    Vector y = poisoned(gpu, a.layout(), 1);
    Scalars sums(gpu, "sums", 3);
    a.apply(x, y);
    dot(x, y, sums.data());
    const std::vector<double> expected = from_vector(y);
    for (int repeat = 1; repeat <= 2; ++repeat) {
        Vector again = poisoned(gpu, a.layout(), 1);
        one(x, again, sums.data() + repeat);
        ASSERT_EQ(from_vector(again), expected);
    }
    const std::vector<double> found = sums.get(0, 3);
    EXPECT_EQ(found[1], found[0]);
    EXPECT_EQ(found[2], found[0]);
}

TEST_P(MatrixOnDevice, SumsOfProductsInOnePassHaveTheBitsOfTwo) {
    const Context gpu = Context::cuda();
    std::vector<Box> boxes = boxes_for(GetParam());
    for (const Box& box : large_boxes_for(GetParam())) boxes.push_back(box);
    for (const Box& box : boxes) {
        SCOPED_TRACE(reference::name_of(box));
        const Layout layout = this->layout(box);
        if (!StructMatrixCuda::has_dot(layout, dof)) continue;
        const StructMatrix a = in_context(gpu, random_struct_matrix(layout, stencil, dof, GetParam().storage, 9));
        const StructMatrixCuda kernels(a);
        expect_one_pass_to_equal_two(a,
                                     [&](const Vector& x, Vector& y, double* sum) { kernels.apply_dot(a, x, y, sum); });
    }
}

class ProductsOfLargeGridsOnDevice : public DeviceTest {};

TEST_F(ProductsOfLargeGridsOnDevice, SumUpInOnePassWithTheSameBits) {
    const Context gpu = Context::cuda();
    const auto matrix = [&](const Box& box) {
        const Layout layout(LayoutKind::natural, reference::to_grid(box), {});
        return in_context(gpu, random_struct_matrix(layout, Stencil::star7(), 1, MatrixStorage::lower, 9));
    };
    for (const Box& box : {Box{129, 101, 83}, Box{1025, 1023, 1}, Box{1048577, 1, 1}, Box{7, 11, 16411}}) {
        SCOPED_TRACE(reference::name_of(box));
        const StructMatrix a = matrix(box);
        EXPECT_EQ(a.vectors_of_dot(), 2) << "the grid is small";
        const StructMatrixCuda kernels(a);
        expect_one_pass_to_equal_two(a,
                                     [&](const Vector& x, Vector& y, double* sum) { kernels.apply_dot(a, x, y, sum); });
    }
    const Box large{257, 251, 127};
    const StructMatrix a = matrix(large);
    EXPECT_EQ(a.vectors_of_dot(), 0);
    const Layout layout(LayoutKind::natural, reference::to_grid(large), {});
    EXPECT_EQ(StructMatrix(gpu, layout, Stencil::star13(), 1, MatrixStorage::lower, "a").vectors_of_dot(), 2);
    expect_one_pass_to_equal_two(a, [&](const Vector& x, Vector& y, double* sum) { a.apply_dot(x, y, sum); });
}

INSTANTIATE_TEST_SUITE_P(All, MatrixOnDevice, testing::ValuesIn(device_cases()), [](const auto& info) {
    const DeviceCase& c = info.param;
    return c.stencil + "_dof" + std::to_string(c.dof) + "_" + to_string(c.kind) +
           (c.storage == MatrixStorage::full ? "_full" : "_lower") + (c.periodic ? "_periodic" : "");
});

class MatrixCopiesOnDevice : public DeviceTest {};

TEST_F(MatrixCopiesOnDevice, KeepEveryBit) {
    const Context gpu = Context::cuda();
    for (const auto& named : reference::all_stencils())
        for (LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane})
            for (MatrixStorage storage : {MatrixStorage::full, MatrixStorage::lower})
                for (const Box& box : {Box{7, 5, 3}, Box{7, 5, 5, {true, true, true}}, Box{1, 1, 1}, Box{1, 33, 1}}) {
                    const Stencil stencil = reference::to_stencil(named);
                    const Layout layout(kind, reference::to_grid(box), stencil.level_map());
                    const StructMatrix a = random_struct_matrix(layout, stencil, 3, storage, 10);
                    const StructMatrix there = in_context(gpu, a), again = in_context(gpu, there);
                    EXPECT_EQ(there.backend(), Backend::cuda);
                    const CsrMatrix expected = a.to_csr(), actual = in_context(a.context(), again).to_csr();
                    EXPECT_EQ(actual.column, expected.column);
                    EXPECT_EQ(actual.value, expected.value) << named.name << " " << reference::name_of(box);
                }
}

TEST_F(MatrixCopiesOnDevice, CountInTheDevicesLedger) {
    const Context gpu = Context::cuda();
    const Stencil stencil = Stencil::star7();
    const Layout layout(LayoutKind::hyperplane, reference::to_grid({17, 9, 5}), stencil.level_map());
    {
        const StructMatrix a = in_context(gpu, random_struct_matrix(layout, stencil, 2, MatrixStorage::full, 11));
        EXPECT_EQ(gpu.ledger().held(), a.bytes());
        const Vector x = poisoned(gpu, layout, 2);
        EXPECT_EQ(gpu.ledger().held(), a.bytes() + 2 * 17 * 9 * 5 * 8);
    }
    EXPECT_EQ(gpu.ledger().held(), 0);
}

TEST_F(MatrixCopiesOnDevice, AnEntryCanBeSetToZero) {
    const Context gpu = Context::cuda();
    const Stencil stencil = Stencil::box27();
    const Layout layout(LayoutKind::hyperplane, reference::to_grid({7, 5, 3}), stencil.level_map());
    StructMatrix a = random_struct_matrix(layout, stencil, 2, MatrixStorage::full, 12), there = in_context(gpu, a);
    for (int entry : {0, 13, 26}) a.set_zero(entry), there.set_zero(entry);
    EXPECT_EQ(in_context(a.context(), there).to_csr().value, a.to_csr().value);
}

class VectorsOnDevice : public DeviceTest {};

TEST_F(VectorsOnDevice, BeginWithZerosAndKeepEveryBit) {
    const Context gpu = Context::cuda();
    const Layout layout(LayoutKind::hyperplane, reference::to_grid({17, 9, 5}), Stencil::star7().level_map());
    const std::vector<double> values = reference::Random(13).vector(3 * 17 * 9 * 5);
    EXPECT_EQ(from_vector(Vector(gpu, layout, 3, "x")), std::vector<double>(values.size(), 0.0));
    const Vector x = to_vector(gpu, layout, 3, values);
    EXPECT_EQ(x.backend(), Backend::cuda);
    EXPECT_EQ(from_vector(x), values);
    EXPECT_EQ(from_vector(in_context(gpu, x)), values);
    Vector copy;
    EXPECT_NE(&on_host(x, copy), &x);
    const Vector here = reference::to_vector(Context::cpu(1), layout, 3, values);
    EXPECT_EQ(&on_host(here, copy), &here);
}

}  // namespace
}  // namespace hyperplane
