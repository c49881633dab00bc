#include "core/blas1.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/null_space.hpp"
#include "reference/bridge.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Vectors of 3 components whose sizes straddle one, two and many blocks of a sum.
class Blas1 : public testing::TestWithParam<reference::Box> {
protected:
    Vector vector(std::uint64_t seed) const {
        return reference::to_vector(context, layout, 3, reference::Random(seed).vector(int(3 * layout.slots())));
    }
    /// Sum of a[i] b[i] in long double, and of its magnitudes.
    static std::pair<double, double> exact_dot(const Vector& a, const Vector& b) {
        long double sum = 0.0L, magnitude = 0.0L;
        for (Index at = 0; at < a.size(); ++at) {
            sum += (long double)a.data()[at] * b.data()[at];
            magnitude += std::abs((long double)a.data()[at] * b.data()[at]);
        }
        return {double(sum), double(magnitude)};
    }
    static void expect_sum(double actual, const Vector& a, const Vector& b) {
        const auto [sum, magnitude] = exact_dot(a, b);
        EXPECT_NEAR(actual, sum, 64 * epsilon * magnitude);
    }

    Context context = Context::cpu(1);
    Layout layout{LayoutKind::hyperplane, reference::to_grid(GetParam()), {1, 1}};
};

TEST_P(Blas1, SumsEqualLongDoubleSums) {
    const Vector x = vector(1), y = vector(2);
    expect_sum(dot(x, y), x, y);
    EXPECT_NEAR(norm2(x), std::sqrt(exact_dot(x, x).first), 64 * epsilon * norm2(x));
    for (int c = 0; c < 3; ++c) {
        long double total = 0.0L;
        for (Index at = 0; at < layout.slots(); ++at) total += x.component(c)[at];
        EXPECT_NEAR(sum(x, c), double(total), 64 * epsilon * double(layout.slots()));
    }
}

TEST_P(Blas1, UpdatesEqualTheirFormulas) {
    const Vector x = vector(1), y = vector(2), z = vector(3);
    Vector a = vector(2), b = vector(2), c = vector(3), d = vector(4), e = vector(4), f = vector(4), g = vector(1);
    axpy(0.7, x, a);
    xpby(x, -1.3, b);
    direction(x, 0.5, 0.8, y, c);
    copy(x, d);
    scale(3.0, d);
    fill(e, -2.5);
    add(x, 0.3, y, f);
    const double square = 6.25;
    divide_by_root(&square, g);
    for (Index at = 0; at < x.size(); ++at) {
        const double xs = x.data()[at], ys = y.data()[at], zs = z.data()[at];
        ASSERT_NEAR(a.data()[at], 0.7 * xs + ys, 4 * epsilon);
        ASSERT_NEAR(b.data()[at], xs - 1.3 * ys, 4 * epsilon);
        ASSERT_NEAR(c.data()[at], xs + 0.5 * (zs / 0.8 - ys), 8 * epsilon);
        ASSERT_EQ(d.data()[at], 3.0 * xs);
        ASSERT_EQ(e.data()[at], -2.5);
        ASSERT_NEAR(f.data()[at], xs + 0.3 * ys, 4 * epsilon);
        ASSERT_NEAR(g.data()[at], xs / 2.5, 2 * epsilon);
    }
    set_zero(e);
    for (Index at = 0; at < e.size(); ++at) ASSERT_EQ(e.data()[at], 0.0);
}

TEST_P(Blas1, FusedUpdatesEqualTheirParts) {
    const Vector p = vector(1), q = vector(2), x = vector(3), r = vector(4);
    Vector s = vector(4), t = vector(4), direction = vector(1), sum_x = vector(3);
    double ss, tt, qt, qs, squares;
    axpy_norm2(-0.3, q, s, &ss);
    axpy_norm2_dot(-0.3, q, t, q, &tt, &qt);
    axpy_xpby(0.3, sum_x, q, -0.7, direction);
    for (Index at = 0; at < x.size(); ++at) {
        ASSERT_NEAR(s.data()[at], r.data()[at] - 0.3 * q.data()[at], 2 * epsilon);
        ASSERT_EQ(t.data()[at], s.data()[at]);
        ASSERT_NEAR(sum_x.data()[at], x.data()[at] + 0.3 * p.data()[at], 2 * epsilon);
        ASSERT_NEAR(direction.data()[at], q.data()[at] - 0.7 * p.data()[at], 2 * epsilon);
    }
    expect_sum(ss, s, s);
    expect_sum(tt, t, t);
    expect_sum(qt, q, t);
    dot_norm2(q, s, &qs, &squares);
    expect_sum(qs, q, s);
    expect_sum(squares, s, s);
}

TEST_P(Blas1, ColumnsEqualTheirFormulas) {
    const Vector p = vector(1), q = vector(2), x = vector(3), r = vector(4);
    const Vector* v[] = {&p, &q, &x};
    double h[3], again[3], ww;
    dots(v, r, h);
    for (int m = 0; m < 3; ++m) expect_sum(h[m], *v[m], r);

    const double c[] = {0.5, -1.5, 2.0};
    Vector w = vector(4), u = vector(4), y = vector(4);
    add_combination(-1.0, c, v, w);
    add_combination(-1.0, c, v, u, &ww);
    add_combination_dots(-1.0, c, v, y, again);
    for (Index at = 0; at < w.size(); ++at) {
        const double expected = r.data()[at] - 0.5 * p.data()[at] + 1.5 * q.data()[at] - 2.0 * x.data()[at];
        ASSERT_NEAR(w.data()[at], expected, 16 * epsilon);
        ASSERT_EQ(u.data()[at], w.data()[at]);
        ASSERT_EQ(y.data()[at], w.data()[at]);
    }
    expect_sum(ww, w, w);
    for (int m = 0; m < 3; ++m) expect_sum(again[m], *v[m], w);
}

/// Coefficients as methods give them: quotients of scalars that reductions have left in memory.
TEST_P(Blas1, CoefficientsAreQuotientsOfScalars) {
    const Vector x = vector(1), y = vector(2);
    Scalars scalars(context, "test", 2);
    double* at = scalars.data();
    dot(x, x, at);
    dot(y, y, at + 1);
    Vector by_ratio = vector(3), by_number = vector(3);
    axpy({-2.0, at, at + 1}, x, by_ratio);
    axpy(-2.0 * dot(x, x) / dot(y, y), x, by_number);
    EXPECT_EQ(reference::from_vector(by_ratio), reference::from_vector(by_number));
}

/// A coefficient of 0 keeps what it multiplies away, be it NaN.
TEST_P(Blas1, ZeroCoefficientsReadNothing) {
    const Vector x = vector(1);
    Vector bad = vector(2), y = vector(3), p = vector(4), z = vector(3);
    fill(bad, NAN);
    axpy(0.0, bad, y);
    add(bad, 0.0, bad, z);
    EXPECT_EQ(reference::from_vector(y), reference::from_vector(vector(3)));
    EXPECT_EQ(reference::from_vector(z), reference::from_vector(vector(3)));
    copy(bad, p);
    xpby(x, 0.0, p);
    EXPECT_EQ(reference::from_vector(p), reference::from_vector(x));
    copy(bad, p);
    direction(x, 0.0, NAN, bad, p);
    EXPECT_EQ(reference::from_vector(p), reference::from_vector(x));
    copy(bad, p);
    axpy_xpby(0.0, y, x, 0.0, p);
    EXPECT_EQ(reference::from_vector(p), reference::from_vector(x));
    EXPECT_EQ(reference::from_vector(y), reference::from_vector(vector(3)));
}

TEST_P(Blas1, ConstantsAreAddedAndProjectedOutByComponent) {
    Vector x = vector(1);
    const Vector old = vector(1);
    add_constant(x, 1, 5.0);
    for (Index at = 0; at < layout.slots(); ++at) {
        ASSERT_EQ(x.component(0)[at], old.component(0)[at]);
        ASSERT_EQ(x.component(1)[at], old.component(1)[at] + 5.0);
        ASSERT_EQ(x.component(2)[at], old.component(2)[at]);
    }
    remove_mean(x);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(sum(x, c), 0.0, 64 * epsilon * double(layout.slots()));
}

TEST_P(Blas1, SameBitsForAnyNumberOfThreads) {
    const auto everything = [&] {
        const Vector p = vector(1), q = vector(2);
        Vector x = vector(3), r = vector(4);
        const Vector* v[] = {&p, &q};
        double h[2], g[2], rr, xr, ww;
        axpy_norm2(0.2, q, r, &rr);
        axpy_norm2_dot(-0.4, p, r, x, &ww, &xr);
        dots(v, r, h);
        std::vector<double> results{dot(p, q), norm2(p), sum(q, 2), rr, ww, xr, h[0], h[1]};
        add_combination_dots(-1.0, h, v, x, g);
        add_combination(1.0, g, v, x, &ww);
        results.insert(results.end(), {g[0], g[1], ww});
        axpy(results[0], x, r);
        const std::vector<double> xs = reference::from_vector(x), rs = reference::from_vector(r);
        results.insert(results.end(), xs.begin(), xs.end());
        results.insert(results.end(), rs.begin(), rs.end());
        return results;
    };
    const std::vector<double> one = everything();
    for (int threads : {2, 3, 7}) {
        const SeveralThreads several(threads);
        EXPECT_EQ(everything(), one) << threads << " threads";
    }
}

TEST_P(Blas1, OneBadEntryIsFoundWhereverItIs) {
    Vector x = vector(1);
    EXPECT_TRUE(all_finite(x));
    const Index places[] = {0, x.size() / 2, x.size() - 1};
    for (double bad : {double(NAN), double(INFINITY), -double(INFINITY)})
        for (Index at : places) {
            const double good = x.data()[at];
            x.data()[at] = bad;
            EXPECT_FALSE(all_finite(x));
            EXPECT_FALSE(std::isfinite(norm2(x)));
            x.data()[at] = good;
        }
    EXPECT_TRUE(all_finite(x));
}

INSTANTIATE_TEST_SUITE_P(All, Blas1,
                         testing::Values(reference::Box{1, 1, 1}, reference::Box{17, 9, 5}, reference::Box{33, 17, 9},
                                         reference::Box{2048, 1, 1}),
                         [](const auto& info) { return reference::name_of(info.param); });

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

TEST(Blas1Extremes, NormOfNoNumberIsNoNumber) {
    const Context context = Context::cpu(1);
    Vector x(context, Layout(LayoutKind::natural, Grid{}, {}), 2, "x");
    EXPECT_EQ(norm2(x), 0.0);
    x.data()[1] = NAN;
    EXPECT_TRUE(std::isnan(norm2(x)));
}

}  // namespace
}  // namespace hyperplane
