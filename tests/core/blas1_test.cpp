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
    Vector a = vector(2), b = vector(2), c = vector(3), d = vector(4), e = vector(4);
    axpy(0.7, x, a);
    xpby(x, -1.3, b);
    axpbypcz(0.5, x, 2.5, y, -0.25, c);
    copy(x, d);
    scale(3.0, d);
    fill(e, -2.5);
    for (Index at = 0; at < x.size(); ++at) {
        const double xs = x.data()[at], ys = y.data()[at], zs = z.data()[at];
        ASSERT_NEAR(a.data()[at], 0.7 * xs + ys, 4 * epsilon);
        ASSERT_NEAR(b.data()[at], xs - 1.3 * ys, 4 * epsilon);
        ASSERT_NEAR(c.data()[at], 0.5 * xs + 2.5 * ys - 0.25 * zs, 8 * epsilon);
        ASSERT_EQ(d.data()[at], 3.0 * xs);
        ASSERT_EQ(e.data()[at], -2.5);
    }
    set_zero(e);
    for (Index at = 0; at < e.size(); ++at) ASSERT_EQ(e.data()[at], 0.0);
}

TEST_P(Blas1, FusedUpdatesEqualTheirParts) {
    const Vector p = vector(1), q = vector(2);
    Vector x = vector(3), r = vector(4);
    const double rr = axpy_pair(0.3, p, x, q, r);
    const Vector old_x = vector(3), old_r = vector(4);
    for (Index at = 0; at < x.size(); ++at) {
        ASSERT_NEAR(x.data()[at], old_x.data()[at] + 0.3 * p.data()[at], 2 * epsilon);
        ASSERT_NEAR(r.data()[at], old_r.data()[at] - 0.3 * q.data()[at], 2 * epsilon);
    }
    expect_sum(rr, r, r);

    Vector s = vector(4);
    const double ss = axpy_norm2(-0.3, q, s);
    for (Index at = 0; at < s.size(); ++at) ASSERT_NEAR(s.data()[at], r.data()[at], 2 * epsilon);
    expect_sum(ss, s, s);

    Vector direction = vector(1), sum_x = vector(3);
    axpy_xpby(0.3, sum_x, q, -0.7, direction);
    for (Index at = 0; at < x.size(); ++at) {
        ASSERT_NEAR(sum_x.data()[at], old_x.data()[at] + 0.3 * p.data()[at], 2 * epsilon);
        ASSERT_NEAR(direction.data()[at], q.data()[at] - 0.7 * p.data()[at], 2 * epsilon);
    }

    const Vector* v[] = {&p, &q, &old_x};
    double h[3];
    dots(v, old_r, h);
    for (int m = 0; m < 3; ++m) expect_sum(h[m], *v[m], old_r);

    Vector w = vector(4);
    const double c[] = {0.5, -1.5, 2.0};
    const double ww = add_combination(c, v, w);
    for (Index at = 0; at < w.size(); ++at) {
        const double expected = old_r.data()[at] + 0.5 * p.data()[at] - 1.5 * q.data()[at] + 2.0 * old_x.data()[at];
        ASSERT_NEAR(w.data()[at], expected, 16 * epsilon);
    }
    expect_sum(ww, w, w);
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
        double h[2];
        std::vector<double> results{dot(p, q), norm2(p), axpy_pair(0.3, p, x, q, r), axpy_norm2(0.2, q, r), sum(q, 2)};
        dots(v, r, h);
        results.insert(results.end(), {h[0], h[1], add_combination(h, v, x)});
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

TEST(Blas1Extremes, NormOfNoNumberIsNoNumber) {
    const Context context = Context::cpu(1);
    Vector x(context, Layout(LayoutKind::natural, Grid{}, {}), 2, "x");
    EXPECT_EQ(norm2(x), 0.0);
    x.data()[1] = NAN;
    EXPECT_TRUE(std::isnan(norm2(x)));
}

}  // namespace
}  // namespace hyperplane
