// SPDX-License-Identifier: BSD-3-Clause
// The bits of products and residuals on a CPU where axes are periodic. At each point the couplings inside the grid come
// first, their products fused with the sum; then those that wrap around, each product rounded before it is added. Both
// are in the order of the stencil's entries.
#include <gtest/gtest.h>

#include "core/matrix/struct_matrix.hpp"
#include "core/vector/blas1.hpp"
#include "reference/bridge.hpp"
#include "reference/equal_lines.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using reference::Box;
using reference::Offset;
using reference::StencilMatrix;

/// Calls inside(a, x) for the coefficients of a row in this order, and then wrapped(a, x).
template <class Inside, class Wrapped>
void for_coefficients(const StencilMatrix& a, const std::vector<double>& x, int point, int row, const Inside& inside,
                      const Wrapped& wrapped) {
    for (const bool inner : {true, false})
        for (const auto& [offset, block] : a.blocks[point]) {
            const Offset q = a.box.point(point) + offset;
            if (a.box.contains(q) != inner) continue;
            for (int col = 0; col < a.dof; ++col) {
                const double value = x[a.box.row(a.box.wrapped(q)) * a.dof + col];
                inner ? inside(block(row, col), value) : wrapped(block(row, col), value);
            }
        }
}

std::vector<double> product_of(const StencilMatrix& a, const std::vector<double>& x) {
    std::vector<double> y;
    for (int point = 0; point < a.box.points(); ++point)
        for (int row = 0; row < a.dof; ++row) {
            double sum = 0.0;
            for_coefficients(
                a, x, point, row, [&](double c, double value) { sum = std::fma(c, value, sum); },
                [&](double c, double value) {
                    const volatile double product = c * value;
                    sum += product;
                });
            y.push_back(sum);
        }
    return y;
}

/// b - A x with the errors of products and sums added at the end.
std::vector<double> residual_of(const StencilMatrix& a, const std::vector<double>& b, const std::vector<double>& x) {
    std::vector<double> r;
    for (int point = 0; point < a.box.points(); ++point)
        for (int row = 0; row < a.dof; ++row) {
            double sum = b[point * a.dof + row], errors = 0.0;
            const auto add = [&](double c, double value) {
                const volatile double product = -c * value;
                const volatile double of_product = std::fma(-c, value, -product);
                const volatile double next = sum + product;
                const volatile double part = next - sum;
                const volatile double first = sum - (next - part), second = product - part;
                const volatile double of_sum = first + second;
                const volatile double both = of_sum + of_product;
                errors += both;
                sum = next;
            };
            for_coefficients(a, x, point, row, add, add);
            r.push_back(sum + errors);
        }
    return r;
}

struct Expected {
    std::vector<double> x, b, product, difference, residual;

    explicit Expected(const StencilMatrix& a)
        : x(reference::Random(6).vector(a.box.points() * a.dof)),
          b(reference::Random(7).vector(a.box.points() * a.dof)),
          product(product_of(a, x)),
          difference(b),
          residual(residual_of(a, b, x)) {
        for (std::size_t at = 0; at < b.size(); ++at) difference[at] -= product[at];
    }
};

void expect_bits(const StructMatrix& a, const Expected& expected) {
    const auto vector = [&](const std::vector<double>& from) {
        return reference::to_vector(a.context(), a.layout(), a.dof(), from);
    };
    const Vector own_x = vector(expected.x), own_b = vector(expected.b);
    Vector y(a.context(), a.layout(), a.dof(), "y");
    const auto computed = [&](const auto& compute) {
        for (Index at = 0; at < y.size(); ++at) y.data()[at] = NAN;
        compute();
        return reference::from_vector(y);
    };
    EXPECT_EQ(computed([&] { a.apply(own_x, y); }), expected.product);
    double product = NAN;
    EXPECT_EQ(computed([&] { a.apply_dot(own_x, y, &product); }), expected.product);
    EXPECT_EQ(product, dot(own_x, y));
    EXPECT_EQ(computed([&] { a.subtract_product(own_b, own_x, y); }), expected.difference);
    EXPECT_EQ(computed([&] { a.residual(own_b, own_x, y); }), expected.residual);
}

struct WrappedCase {
    std::string stencil;
    int dof;
    Box box;
};

std::vector<WrappedCase> wrapped_cases() {
    constexpr std::array<bool, 3> x{true, false, false}, y{false, true, false}, z{false, false, true},
        xy{true, true, false}, xz{true, false, true}, yz{false, true, true}, all{true, true, true};
    std::vector<WrappedCase> list;
    for (const auto& stencil : reference::all_stencils()) {
        for (const auto& axes : {x, y, z, xy, xz, yz, all}) list.push_back({stencil.name, 1, {35, 7, 5, axes}});
        for (const auto& axes : {x, yz, all}) list.push_back({stencil.name, 2, {9, 5, 7, axes}});
        for (const int dof : {3, 4, 5, 6, 7, 8}) list.push_back({stencil.name, dof, {9, 5, 5, dof % 2 ? xy : all}});
        list.push_back({stencil.name, 1, {67, 37, 5, xy}});  // several pieces of a plane
    }
    return list;
}

class WrappedProduct : public testing::TestWithParam<WrappedCase> {
protected:
    void expect_all(const StencilMatrix& data, MatrixStorage storage) {
        StructMatrix a = reference::to_struct_matrix(context, layout(LayoutKind::natural), data, storage);
        const Expected expected(data);
        expect_bits(a, expected);
        a.find_equal_lines();
        expect_bits(a, expected);
        const SeveralThreads several(context, 2);
        expect_bits(a, expected);
        expect_bits(reference::to_struct_matrix(context, layout(LayoutKind::hyperplane), data, storage), expected);
    }
    Layout layout(LayoutKind kind) const {
        return {kind, reference::to_grid(GetParam().box), reference::to_stencil(stencil).level_map()};
    }

    Context context = Context::cpu(1);
    reference::NamedStencil stencil = reference::stencil_named(GetParam().stencil);
};

TEST_P(WrappedProduct, HasTheBitsOfItsOrder) {
    const auto& [name, dof, box] = GetParam();
    expect_all(reference::random_matrix(box, stencil.offsets, dof, 1), MatrixStorage::full);
    expect_all(reference::random_spd_matrix(box, stencil.offsets, dof, 2), MatrixStorage::lower);
}

TEST_P(WrappedProduct, HasTheSameBitsWhereLinesAreEqual) {
    const auto& [name, dof, box] = GetParam();
    for (const bool symmetric : {false, true})
        if (dof <= 3)
            expect_all(reference::equal_lines(box, stencil.offsets, dof, symmetric, {1, 3, 4}),
                       symmetric ? MatrixStorage::lower : MatrixStorage::full);
}

INSTANTIATE_TEST_SUITE_P(All, WrappedProduct, testing::ValuesIn(wrapped_cases()), [](const auto& info) {
    const WrappedCase& c = info.param;
    return c.stencil + "_dof" + std::to_string(c.dof) + "_" + reference::name_of(c.box);
});

}  // namespace
}  // namespace hyperplane
