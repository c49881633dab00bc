// SPDX-License-Identifier: BSD-3-Clause
// Solves along a line in one pass (precond/walks/line_blocks.hpp), beside loops over its points.
#include "precond/walks/line_blocks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "precond/triangular/wavefront/lines_cpu.hpp"
#include "reference/block_matrix.hpp"

namespace hyperplane {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// A line whose arrays hold NaN wherever a position is not valid, so that a solve that uses one of these gives NaN.
struct RandomLine {
    int count, terms;
    std::vector<std::vector<double>> a, x;
    std::vector<RunTerm> list;
    std::vector<double> in, pivot, coupling, y;

    RandomLine(int count, int terms, bool descending, bool continues)
        : count(count), terms(terms), pivot(count), coupling(count, nothing), y(count + 2, nothing) {
        reference::Random random(7 + count + 100 * terms);
        a.resize(terms), x.resize(terms);
        for (int n = 0; n < terms; ++n) {
            const int shift = n % 3 - 1;  // of the neighbour along the line
            const int begin = shift < 0 ? 1 : 0, end = shift > 0 ? count - 1 : count;
            a[n].assign(count, nothing), x[n].assign(count, nothing);
            for (int t = begin; t < end; ++t) a[n][t] = random(), x[n][t] = random();
            list.push_back({a[n].data(), x[n].data(), begin, end});
        }
        in = random.vector(count);
        for (int t = 0; t < count; ++t) pivot[t] = 0.5 + 0.1 * random();
        for (int t = descending || continues ? 0 : 1; t < (descending && !continues ? count - 1 : count); ++t)
            coupling[t] = random();
        if (descending)
            for (int t = 0; t < count; ++t) y[t + 1] = random();
    }
    /// The sums, point by point.
    std::vector<double> sums(int sign, bool with_in) const {
        std::vector<double> s(count, 0.0);
        for (int t = 0; t < count; ++t) {
            if (with_in) s[t] = in[t];
            for (const RunTerm& term : list)
                if (t >= term.begin && t < term.end) s[t] += sign * term.a[t] * term.x[t];
        }
        return s;
    }
};

constexpr int counts[] = {9, 10, 15, 16, 17, 23, 24, 31, 40, 67};

TEST(LineBlocks, LowerSolveEqualsALoopOverPoints) {
    for (const int count : counts)
        for (int terms = 0; terms <= most_line_terms; ++terms)
            for (const bool continues : {false, true}) {
                RandomLine line(count, terms, false, continues);
                const double before = continues ? 0.75 : 0.0;
                const wavefront_cpu::LowerBlocks map{line.pivot.data(), line.coupling.data(), continues ? 0 : 1, count};
                std::vector<double> kept(count, nothing);
                solve_line<false, -1>(line.list, line.in.data(), map, count, before, line.y.data() + 1, kept.data());
                const std::vector<double> s = line.sums(-1, true);
                double y = before;
                for (int t = 0; t < count; ++t) {
                    y = line.pivot[t] * (s[t] - (t >= map.begin ? line.coupling[t] * y : 0.0));
                    ASSERT_NEAR(line.y[t + 1], y, 1e-13) << count << " " << terms << " " << continues << " " << t;
                    ASSERT_NEAR(kept[t], s[t], 1e-13) << count << " " << terms << " " << t;
                }
                EXPECT_TRUE(std::isnan(line.y[0]) && std::isnan(line.y[count + 1])) << "written beyond the line";
            }
}

TEST(LineBlocks, UpperSolveEqualsALoopOverPoints) {
    for (const int count : counts)
        for (int terms = 0; terms <= most_line_terms; ++terms)
            for (const bool continues : {false, true}) {
                if (continues && count % 8 != 0) continue;
                RandomLine line(count, terms, true, continues);
                const std::vector<double> before_solve = line.y;
                const double before = continues ? 0.75 : 0.0;
                double* const z = line.y.data() + 1;
                const wavefront_cpu::UpperBlocks map{line.pivot.data(), line.coupling.data(), z, 0,
                                                     continues ? count : count - 1};
                solve_line<true, +1>(line.list, nullptr, map, count, before, z, nullptr);
                const std::vector<double> s = line.sums(+1, false);
                double next = before;
                for (int t = count - 1; t >= 0; --t) {
                    next = before_solve[t + 1] - line.pivot[t] * (s[t] + (t < map.end ? line.coupling[t] * next : 0.0));
                    ASSERT_NEAR(z[t], next, 1e-13) << count << " " << terms << " " << continues << " " << t;
                }
                EXPECT_TRUE(std::isnan(line.y[0]) && std::isnan(line.y[count + 1])) << "written beyond the line";
            }
}

TEST(LineBlocks, TakesZerosOutsideTheValidPositions) {
    const std::vector<double> values{nothing, 1, 2, 3, 4, 5, 6, 7, 8, 9, nothing, nothing};
    for (int t = -8; t <= 16; ++t) {
        const detail::Lanes taken = TakeValid{}(values.data(), t, 1, 10);
        for (int i = 0; i < 8; ++i)
            EXPECT_EQ(taken[i], t + i >= 1 && t + i < 10 ? values[t + i] : 0.0) << t << " " << i;
    }
}

}  // namespace
}  // namespace hyperplane
