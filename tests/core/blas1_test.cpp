// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/blas1.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "core/epsilon.hpp"
#include "core/interfaces/null_space.hpp"
#include "core/vector/pipelined_step.hpp"
#include "reference/bridge.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using Values = std::vector<double>;

/// The values of a vector by slot, from either backend.
Values values(const Vector& x) {
    Vector copy;
    const Vector& readable = on_host(x, copy);
    return Values(readable.data(), readable.data() + readable.size());
}

/// The sums of a[i] b[i] and of |a[i] b[i]|, in long double.
std::pair<double, double> exact_dot(const Values& a, const Values& b) {
    long double sum = 0.0L, magnitude = 0.0L;
    for (std::size_t at = 0; at < a.size(); ++at) {
        sum += (long double)a[at] * b[at];
        magnitude += std::abs((long double)a[at] * b[at]);
    }
    return {double(sum), double(magnitude)};
}

void expect_sum(double actual, const Values& a, const Values& b) {
    const auto [sum, magnitude] = exact_dot(a, b);
    EXPECT_NEAR(actual, sum, 64 * epsilon * magnitude);
}

/// Vectors of 3 components, whose odd and even sizes are less than one, about two and many blocks of a sum.
class Blas1 : public testing::TestWithParam<std::tuple<reference::Box, Backend>> {
protected:
    void SetUp() override {
        if (std::get<1>(GetParam()) == Backend::cuda) {
            if (!device::available()) GTEST_SKIP() << device::unavailable();
            context = Context::cuda();
        }
        scalars.emplace(context, "test", 80);
    }
    Vector vector(std::uint64_t seed) const { return vector(reference::Random(seed).vector(int(3 * layout.slots()))); }
    Vector vector(const Values& by_slot) const {
        Vector host(Context::cpu(1), layout, 3, "host"), x(context, layout, 3, "x");
        std::copy(by_slot.begin(), by_slot.end(), host.data());
        transfer(host, x);
        return x;
    }
    /// The address of a scalar for operations, and the value that they wrote there.
    double* at(Index place) { return scalars->data() + place; }
    double known(Index place) const { return scalars->get(place, 1)[0]; }

    Context context = Context::cpu(1);
    Layout layout{LayoutKind::hyperplane, reference::to_grid(std::get<0>(GetParam())), {1, 1}};
    std::optional<Scalars> scalars;
};

const auto boxes = testing::Values(reference::Box{1, 1, 1}, reference::Box{17, 9, 5}, reference::Box{33, 17, 9},
                                   reference::Box{2048, 1, 1});
const auto box_name = [](const auto& info) { return reference::name_of(std::get<0>(info.param)); };

INSTANTIATE_TEST_SUITE_P(OnHost, Blas1, testing::Combine(boxes, testing::Values(Backend::cpu)), box_name);
INSTANTIATE_TEST_SUITE_P(OnDevice, Blas1, testing::Combine(boxes, testing::Values(Backend::cuda)), box_name);
/// More values than the resident thread blocks of a GPU take in one pass.
INSTANTIATE_TEST_SUITE_P(LargeOnDevice, Blas1,
                         testing::Combine(testing::Values(reference::Box{151, 97, 41}), testing::Values(Backend::cuda)),
                         box_name);

TEST_P(Blas1, SumsEqualLongDoubleSums) {
    const Vector x = vector(1), y = vector(2);
    const Values xs = values(x), ys = values(y);
    expect_sum(dot(x, y), xs, ys);
    dot(x, y, at(0));
    EXPECT_EQ(known(0), dot(x, y));
    EXPECT_NEAR(norm2(x), std::sqrt(exact_dot(xs, xs).first), 64 * epsilon * norm2(x));
    for (int c = 0; c < 3; ++c) {
        long double total = 0.0L;
        for (Index slot = 0; slot < layout.slots(); ++slot) total += xs[c * layout.slots() + slot];
        EXPECT_NEAR(sum(x, c), double(total), 64 * epsilon * double(layout.slots()));
    }
}

TEST_P(Blas1, UpdatesEqualTheirFormulas) {
    const Vector x = vector(1), y = vector(2);
    Vector a = vector(2), b = vector(2), c = vector(3), d = vector(4), e = vector(4), f = vector(4), g = vector(1);
    axpy(0.7, x, a);
    xpby(x, -1.3, b);
    direction(x, 0.5, 0.8, y, c);
    copy(x, d);
    scale(3.0, d);
    fill(e, -2.5);
    add(x, 0.3, y, f);
    scalars->set(0, Values{6.25});
    divide_by_root(at(0), g);
    const Values xs = values(x), ys = values(y), zs = values(vector(3));
    const Values as = values(a), bs = values(b), cs = values(c), ds = values(d), es = values(e), fs = values(f),
                 gs = values(g);
    for (std::size_t i = 0; i < xs.size(); ++i) {
        ASSERT_NEAR(as[i], 0.7 * xs[i] + ys[i], 4 * epsilon);
        ASSERT_NEAR(bs[i], xs[i] - 1.3 * ys[i], 4 * epsilon);
        ASSERT_NEAR(cs[i], xs[i] + 0.5 / 0.8 * zs[i] - 0.5 * ys[i], 8 * epsilon);
        ASSERT_EQ(ds[i], 3.0 * xs[i]);
        ASSERT_EQ(es[i], -2.5);
        ASSERT_NEAR(fs[i], xs[i] + 0.3 * ys[i], 4 * epsilon);
        ASSERT_NEAR(gs[i], xs[i] / 2.5, 2 * epsilon);
    }
    set_zero(e);
    EXPECT_EQ(values(e), Values(xs.size()));
}

TEST_P(Blas1, FusedUpdatesEqualTheirParts) {
    const Vector p = vector(1), q = vector(2);
    Vector s = vector(4), t = vector(4), u = vector(1), x = vector(3);
    axpy_norm2(-0.3, q, s, at(0));
    axpy_norm2_dot(-0.3, q, t, q, at(1), at(2));
    axpy_xpby(0.3, x, q, -0.7, u);
    dot_norm2(q, s, at(3), at(4));
    const Values ps = values(p), qs = values(q), rs = values(vector(4)), old_x = values(vector(3)), ss = values(s),
                 us = values(u), xs = values(x);
    for (std::size_t i = 0; i < ps.size(); ++i) {
        ASSERT_NEAR(ss[i], rs[i] - 0.3 * qs[i], 2 * epsilon);
        ASSERT_NEAR(xs[i], old_x[i] + 0.3 * ps[i], 2 * epsilon);
        ASSERT_NEAR(us[i], qs[i] - 0.7 * ps[i], 2 * epsilon);
    }
    EXPECT_EQ(values(t), ss);
    expect_sum(known(0), ss, ss);
    expect_sum(known(1), ss, ss);
    expect_sum(known(2), qs, ss);
    expect_sum(known(3), qs, ss);
    expect_sum(known(4), ss, ss);
}

/// beta = 3 / 4, p^T A p = 8 - beta + beta^2 2, alpha = 3 / p^T A p; x lacks 0.4 p.
TEST_P(Blas1, PipelinedStepEqualsItsFormulas) {
    scalars->set(0, Values{3.0, 8.0, 99.0, -1.0, 2.0, 4.0, 0.4});
    const double beta = 0.75, pap = 8.0 - 0.75 + 0.75 * 0.75 * 2.0, alpha = 3.0 / pap;
    const Vector v = vector(1), n = vector(2);
    Vector x = vector(3), r = vector(4), u = vector(5), w = vector(6), p = vector(7), s = vector(8), q = vector(9),
           z = vector(10);
    pipelined_step(at(0), at(pipelined_scalars), {v, n, x, r, u, w, p, s, q, z});
    const auto old = [&](std::uint64_t seed) { return values(vector(seed)); };
    const Values vs = values(v), ns = values(n), xs = values(x), rs = values(r), us = values(u), ws = values(w),
                 ps = values(p), ss = values(s), qs = values(q), zs = values(z);
    const Values x0 = old(3), r0 = old(4), u0 = old(5), w0 = old(6), p0 = old(7), s0 = old(8), q0 = old(9),
                 z0 = old(10);
    for (std::size_t i = 0; i < xs.size(); ++i) {
        ASSERT_NEAR(xs[i], x0[i] + 0.4 * p0[i], 2 * epsilon);
        ASSERT_NEAR(zs[i], ns[i] + beta * z0[i], 2 * epsilon);
        ASSERT_NEAR(qs[i], vs[i] + beta * q0[i], 2 * epsilon);
        ASSERT_NEAR(ss[i], w0[i] + beta * s0[i], 2 * epsilon);
        ASSERT_NEAR(ps[i], u0[i] + beta * p0[i], 2 * epsilon);
        ASSERT_NEAR(rs[i], r0[i] - alpha * ss[i], 2 * epsilon);
        ASSERT_NEAR(us[i], u0[i] - alpha * qs[i], 2 * epsilon);
        ASSERT_NEAR(ws[i], w0[i] - alpha * zs[i], 2 * epsilon);
    }
    const Values now = scalars->get(pipelined_scalars, pipelined_scalars);
    expect_sum(now[sum_ru], rs, us);
    expect_sum(now[sum_wu], ws, us);
    expect_sum(now[sum_rr], rs, rs);
    expect_sum(now[sum_ps], ps, ss);
    EXPECT_NEAR(now[sum_us_wp], exact_dot(us, ss).first + exact_dot(ws, ps).first,
                64 * epsilon * (exact_dot(us, ss).second + exact_dot(ws, ps).second));
    EXPECT_EQ(now[used_ru], 3.0);
    EXPECT_EQ(now[used_alpha], alpha);
}

/// The first step reads no direction; one whose p^T A p is not positive touches nothing but x.
TEST_P(Blas1, PipelinedStepKeepsBadNumbersAway) {
    Vector bad = vector(1), x = vector(3), r = vector(4), u = vector(5), w = vector(6);
    fill(bad, NAN);
    Vector p = vector(7), s = vector(8), q = vector(9), z = vector(10);
    for (Vector* direction : {&p, &s, &q, &z}) copy(bad, *direction);
    scalars->set(0, Values{3.0, 8.0, 99.0, 0.0, 0.0, INFINITY, 0.0});
    pipelined_step(at(0), at(pipelined_scalars), {vector(1), vector(2), x, r, u, w, p, s, q, z});
    EXPECT_EQ(values(x), values(vector(3)));
    EXPECT_EQ(values(p), values(vector(5)));
    EXPECT_EQ(values(s), values(vector(6)));
    EXPECT_EQ(values(q), values(vector(1)));
    EXPECT_EQ(values(z), values(vector(2)));
    for (const Vector* updated : {&r, &u, &w}) EXPECT_TRUE(all_finite(*updated));

    const Values rs = values(r), us = values(u), ws = values(w);
    for (const double wu : {-8.0, 0.0, double(NAN)}) {
        scalars->set(0, Values{3.0, wu, 99.0, 0.0, 0.0, 4.0, 0.5});
        Vector y = vector(3), direction = vector(7);
        pipelined_step(at(0), at(pipelined_scalars), {bad, bad, y, r, u, w, direction, s, q, z});
        EXPECT_EQ(known(pipelined_scalars + used_alpha), 0.0);
        const Values ys = values(y), xs = values(vector(3)), ps = values(vector(7));
        for (std::size_t i = 0; i < ys.size(); ++i) ASSERT_NEAR(ys[i], xs[i] + 0.5 * ps[i], 2 * epsilon);
        EXPECT_EQ(values(r), rs);
        EXPECT_EQ(values(u), us);
        EXPECT_EQ(values(w), ws);
    }
}

/// Numbers of columns for each of the kernels, and more columns than one kernel takes.
TEST_P(Blas1, ColumnsEqualTheirFormulas) {
    const Values ws = values(vector(100));
    for (int count : {1, 3, 5, 9, 31, 50, 70}) {
        std::vector<Vector> held;
        for (int m = 0; m < count; ++m) held.push_back(vector(std::uint64_t(m) + 1));
        std::vector<const Vector*> v;
        for (const Vector& column : held) v.push_back(&column);
        Values c(count);
        for (int m = 0; m < count; ++m) c[m] = 0.5 - 0.25 * (m % 5);
        scalars->set(0, c);

        Vector w = vector(100), x = vector(100), y = vector(100);
        add_combination(-1.0, at(0), v, w);
        Values expected = ws;
        for (int m = 0; m < count; ++m) {
            const Values column = values(held[m]);
            for (std::size_t i = 0; i < expected.size(); ++i) expected[i] -= c[m] * column[i];
        }
        const Values actual = values(w);
        for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(actual[i], expected[i], 4 * (count + 4) * epsilon);

        add_combination(-1.0, at(0), v, x, at(count));
        EXPECT_EQ(values(x), actual);
        expect_sum(known(count), actual, actual);
        add_combination_dots(-1.0, at(0), v, y, at(0));
        EXPECT_EQ(values(y), actual);
        for (int m = 0; m < count; ++m) expect_sum(known(m), values(held[m]), actual);
        dots(v, vector(100), at(0));
        for (int m = 0; m < count; ++m) expect_sum(known(m), values(held[m]), ws);
    }
}

/// Coefficients as solvers use them: quotients of scalars that reductions have written to memory.
TEST_P(Blas1, CoefficientsAreQuotientsOfScalars) {
    const Vector x = vector(1), y = vector(2);
    dot(x, x, at(0));
    dot(y, y, at(1));
    Vector by_ratio = vector(3), by_number = vector(3);
    axpy({-2.0, at(0), at(1)}, x, by_ratio);
    axpy(-2.0 * dot(x, x) / dot(y, y), x, by_number);
    EXPECT_EQ(values(by_ratio), values(by_number));
}

/// The vector that a coefficient of 0 multiplies is not read, even if it is NaN.
TEST_P(Blas1, ZeroCoefficientsReadNothing) {
    const Vector x = vector(1);
    Vector bad = vector(2), y = vector(3), p = vector(4), z = vector(3);
    fill(bad, NAN);
    axpy(0.0, bad, y);
    add(bad, 0.0, bad, z);
    EXPECT_EQ(values(y), values(vector(3)));
    EXPECT_EQ(values(z), values(vector(3)));
    axpy_norm2(0.0, bad, y, at(0));
    EXPECT_EQ(values(y), values(vector(3)));
    EXPECT_TRUE(std::isfinite(known(0)));
    copy(bad, p);
    xpby(x, 0.0, p);
    EXPECT_EQ(values(p), values(x));
    copy(bad, p);
    direction(x, 0.0, 1.0, bad, p);
    EXPECT_EQ(values(p), values(x));
    copy(bad, p);
    axpy_xpby(0.0, y, x, 0.0, p);
    EXPECT_EQ(values(p), values(x));
    EXPECT_EQ(values(y), values(vector(3)));
}

TEST_P(Blas1, ConstantsAreAddedAndProjectedOutByComponent) {
    Vector x = vector(7);
    const Values old = values(x);
    add_constant(x, 1, 5.0);
    const Values now = values(x);
    const std::size_t slots = std::size_t(layout.slots());
    for (std::size_t i = 0; i < old.size(); ++i) ASSERT_EQ(now[i], i / slots == 1 ? old[i] + 5.0 : old[i]);
    remove_mean(x);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(sum(x, c), 0.0, 64 * epsilon * double(layout.slots()));
}

TEST_P(Blas1, SameBitsForAnyNumberOfThreadsAndInEveryRun) {
    const auto everything = [&] {
        const Vector p = vector(1), q = vector(2);
        Vector x = vector(3), r = vector(4);
        const Vector* v[] = {&p, &q};
        axpy_norm2(0.2, q, r, at(0));
        axpy_norm2_dot(-0.4, p, r, x, at(1), at(2));
        dots(v, r, at(3));
        add_combination_dots(-1.0, at(3), v, x, at(5));
        add_combination(1.0, at(5), v, x, at(7));
        scalars->set(8, Values{3.0, 8.0, 99.0, -1.0, 2.0, 4.0, 0.4});
        Vector u = vector(5), w = vector(6), direction = vector(7), s = vector(8), t = vector(9), z = vector(10);
        pipelined_step(at(8), at(15), {p, q, x, r, u, w, direction, s, t, z});
        Values results{dot(p, q), norm2(p), sum(q, 2)};
        const Values written = scalars->get(0, 22), xs = values(x), rs = values(r);
        results.insert(results.end(), written.begin(), written.end());
        results.insert(results.end(), xs.begin(), xs.end());
        results.insert(results.end(), rs.begin(), rs.end());
        return results;
    };
    const Values one = everything();
    for (int threads : {2, 3, 7}) {
        const SeveralThreads several(context, threads);
        EXPECT_EQ(everything(), one) << threads << " threads";
    }
}

TEST_P(Blas1, OneBadEntryIsFoundWhereverItIs) {
    const Values good = values(vector(1));
    EXPECT_TRUE(all_finite(vector(1)));
    for (double bad : {double(NAN), double(INFINITY), -double(INFINITY)})
        for (std::size_t place : {std::size_t(0), good.size() / 2, good.size() - 1}) {
            Values spoiled = good;
            spoiled[place] = bad;
            const Vector x = vector(spoiled);
            EXPECT_FALSE(all_finite(x));
            EXPECT_FALSE(std::isfinite(norm2(x)));
        }
}

/// The squares of these values, or their sum, underflow or overflow; the norm does neither.
TEST_P(Blas1, NormsDoNotNeedSquares) {
    const Values ordinary = values(vector(1));
    const double norm = norm2(vector(1));
    for (double size : {0x1p-1000, 0x1p-600, 0x1p-520, 0x1p-500, 1.0, 0x1p500, 0x1p520, 0x1p1000}) {
        Values scaled = ordinary;
        for (double& value : scaled) value *= size;
        EXPECT_DOUBLE_EQ(norm2(vector(scaled)) / size, norm) << size;
    }
    Values smallest(ordinary.size(), 0.0);
    EXPECT_EQ(norm2(vector(smallest)), 0.0);
    smallest[smallest.size() / 2] = 5e-324;
    EXPECT_EQ(norm2(vector(smallest)), 5e-324);
}

TEST(RatioOfScalars, IsZeroWhereItsConditionsDoNotHold) {
    const double one = 1.0, two = 2.0, negative = -1.0, zero = 0.0, tiny = 1e-20, bad = NAN, endless = INFINITY;
    EXPECT_EQ(Ratio(3.0).value(), 3.0);
    EXPECT_EQ(Ratio(3.0, &one, &two).value(), 1.5);
    EXPECT_EQ(Ratio(3.0, &two, nullptr).value(), 6.0);
    EXPECT_EQ(Ratio(-3.0, &one, &two).if_positive().value(), -1.5);
    for (const double* scalar : {&negative, &zero, &bad}) {
        EXPECT_EQ(Ratio(1.0, scalar, &two).if_positive().value(), 0.0);
        EXPECT_EQ(Ratio(1.0, &two, scalar).if_positive().value(), 0.0);
    }
    EXPECT_EQ(Ratio(1.0, &endless, &two).if_positive().value(), 0.0);
    EXPECT_EQ(Ratio(1.0, &two, &endless).if_positive().value(), 0.0);
    EXPECT_EQ(Ratio(1.0, &two, &one).if_stands_out(&one, &two, &two).value(), 2.0);
    for (const double* product : {&tiny, &zero, &bad})
        EXPECT_EQ(Ratio(1.0, &two, &one).if_stands_out(product, &two, &two).value(), 0.0);
    EXPECT_EQ(Ratio(1.0, &two, &one).if_stands_out(&one, &endless, &two).value(), 0.0);
}

TEST(Blas1Extremes, NormOfNanIsNan) {
    const Context context = Context::cpu(1);
    Vector x(context, Layout(LayoutKind::natural, Grid{}, {}), 2, "x");
    EXPECT_EQ(norm2(x), 0.0);
    x.data()[1] = NAN;
    EXPECT_TRUE(std::isnan(norm2(x)));
}

}  // namespace
}  // namespace hyperplane
