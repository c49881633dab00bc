// SPDX-License-Identifier: BSD-3-Clause
// Sums on a CPU have one order, which follows from the grid alone. The expected bits do not depend on the processor
// that the program is compiled for, so this test is the same for every width of vectors.
#include "core/vector/plane_sums.hpp"

#include <gtest/gtest.h>

#include "core/vector/blas1.hpp"
#include "core/vector/pipelined_step.hpp"
#include "reference/bridge.hpp"
#include "reference/plane_sums.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using reference::rounded_product;
using PlaneTerms = std::vector<double>;

/// Planes of less than one block, of exactly one, of several and of one point; one plane alone.
class SumsByPlanes : public testing::TestWithParam<reference::Box> {
protected:
    static constexpr int dof = 3;

    Vector vector(std::uint64_t seed) const {
        Vector x(context, layout, dof, "x");
        const PlaneTerms values = reference::Random(seed).vector(int(dof * layout.slots()));
        std::copy(values.begin(), values.end(), x.data());
        return x;
    }
    static PlaneTerms products(const Vector& x, const Vector& y) {
        PlaneTerms terms;
        for (Index at = 0; at < x.size(); ++at) terms.push_back(rounded_product(x.data()[at], y.data()[at]));
        return terms;
    }
    double expected(const PlaneTerms& terms, int components = dof) const {
        return reference::plane_sum(GetParam(), components, terms);
    }
    double expected(const Vector& x, const Vector& y) const { return expected(products(x, y)); }

    Context context = Context::cpu(1);
    Layout layout{LayoutKind::natural, reference::to_grid(GetParam()), {1, 1}};
};

INSTANTIATE_TEST_SUITE_P(OnHost, SumsByPlanes,
                         testing::Values(reference::Box{17, 9, 5}, reference::Box{64, 32, 3}, reference::Box{67, 61, 4},
                                         reference::Box{1, 1, 21}, reference::Box{2100, 3, 1}),
                         [](const auto& info) { return reference::name_of(info.param); });

TEST_P(SumsByPlanes, ProductsAndNormsHaveTheBitsOfTheReference) {
    const Vector x = vector(1), y = vector(2), z = vector(3);
    EXPECT_EQ(dot(x, y), expected(x, y));
    EXPECT_EQ(norm2(x), std::sqrt(expected(x, x)));
    double xy, yy, h[2];
    dot_norm2(x, y, &xy, &yy);
    EXPECT_EQ(xy, expected(x, y));
    EXPECT_EQ(yy, expected(y, y));
    const Vector* const columns[] = {&x, &y};
    dots(columns, z, h);
    EXPECT_EQ(h[0], expected(x, z));
    EXPECT_EQ(h[1], expected(y, z));
}

TEST_P(SumsByPlanes, SumOfAComponentHasTheBitsOfTheReference) {
    const Vector x = vector(1);
    for (int c = 0; c < dof; ++c)
        EXPECT_EQ(sum(x, c), expected(PlaneTerms(x.component(c), x.component(c) + layout.slots()), 1));
}

TEST_P(SumsByPlanes, FusedStepsHaveTheBitsOfTheReference) {
    const Vector x = vector(1), u = vector(2);
    const PlaneTerms before(u.data(), u.data() + u.size());
    Vector y = vector(2);
    double yy, uy;
    axpy_norm2(0.3, x, y, &yy);
    for (Index at = 0; at < y.size(); ++at) ASSERT_EQ(y.data()[at], before[at] + rounded_product(0.3, x.data()[at]));
    EXPECT_EQ(yy, expected(y, y));
    axpy_norm2_dot(-0.7, x, y, u, &yy, &uy);
    EXPECT_EQ(yy, expected(y, y));
    EXPECT_EQ(uy, expected(u, y));
    const Vector* const columns[] = {&x, &u};
    const double c[] = {0.25, -0.5};
    add_combination(1.0, c, columns, y, &yy);
    EXPECT_EQ(yy, expected(y, y));
    double h[2];
    add_combination_dots(-1.0, c, columns, y, h);
    EXPECT_EQ(h[0], expected(x, y));
    EXPECT_EQ(h[1], expected(u, y));
}

TEST_P(SumsByPlanes, PipelinedStepHasTheBitsOfTheReference) {
    const Vector v = vector(1), n = vector(2);
    Vector x = vector(3), r = vector(4), u = vector(5), w = vector(6), p = vector(7), s = vector(8), q = vector(9),
           z = vector(10);
    const double before[pipelined_scalars] = {3.0, 8.0, 99.0, -1.0, 2.0, 4.0, 0.4};
    double now[pipelined_scalars] = {};
    pipelined_step(before, now, {v, n, x, r, u, w, p, s, q, z});
    EXPECT_EQ(now[sum_ru], expected(r, u));
    EXPECT_EQ(now[sum_wu], expected(w, u));
    EXPECT_EQ(now[sum_rr], expected(r, r));
    EXPECT_EQ(now[sum_ps], expected(p, s));
    PlaneTerms both;
    for (Index at = 0; at < x.size(); ++at)
        both.push_back(rounded_product(u.data()[at], s.data()[at]) + rounded_product(w.data()[at], p.data()[at]));
    EXPECT_EQ(now[sum_us_wp], expected(both));
}

TEST_P(SumsByPlanes, ThreadsDoNotMatter) {
    const Vector x = vector(1), y = vector(2);
    expect_same_bits_for_any_threads(context, [&] { return std::pair(dot(x, y), sum(x, 1)); });
}

}  // namespace
}  // namespace hyperplane
