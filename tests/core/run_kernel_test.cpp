// SPDX-License-Identifier: BSD-3-Clause
// Sums of products along a run: every position has the bits of the same fused products in the same order, whether all
// of its terms are valid or some end before it.
#include "core/vector/run_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/block_matrix.hpp"

namespace hyperplane {
namespace {

/// Term `terms` / 2 is valid at the `shortest` positions from `first` on.
template <int sign>
void expect_fused_products(int count, int terms, int first, int shortest, bool in_place) {
    reference::Random random(4);
    std::vector<std::vector<double>> a, x;
    std::vector<RunTerm> list;
    for (int e = 0; e < terms; ++e) {
        a.push_back(random.vector(count));
        x.push_back(random.vector(count));
        const bool is_short = e == terms / 2;
        list.push_back({a[e].data(), x[e].data(), is_short ? first : 0, is_short ? first + shortest : count});
    }
    const std::vector<double> in = random.vector(count);
    constexpr double nothing = -77.0;
    std::vector<double> out(count + 2, nothing);
    if (in_place) std::copy(in.begin(), in.end(), out.begin() + 1);
    accumulate<sign>(list, in_place ? out.data() + 1 : in.data(), out.data() + 1, count);
    for (int t = 0; t < count; ++t) {
        double expected = in[t];
        for (int e = 0; e < terms; ++e)
            if (t >= list[e].begin && t < list[e].end) expected = std::fma(sign * a[e][t], x[e][t], expected);
        EXPECT_EQ(out[t + 1], expected) << terms << " terms of " << count << " positions, position " << t;
    }
    EXPECT_TRUE(out.front() == nothing && out.back() == nothing) << "written beyond the run";
}

TEST(RunKernel, FusesProductsAtAllPositionsInTheOrderOfTheTerms) {
    for (int count : {1, 7, 8, 9, 37, 64, 75})
        for (int terms : {0, 1, 3, 7, 8, 9, 27})
            for (int less : {0, 1, 7, 17, 40})
                for (int first : {0, less / 2, less}) {
                    if (less >= count) continue;
                    expect_fused_products<+1>(count, terms, first, count - less, false);
                    expect_fused_products<-1>(count, terms, first, count - less, true);
                }
}

TEST(RunKernel, SumsFromZero) {
    const std::vector<double> a(11, 2.0), x(11, 3.0);
    std::vector<double> out(11, -1.0);
    const std::vector<RunTerm> list{{a.data(), x.data(), 0, 11}, {a.data(), x.data(), 1, 10}};
    accumulate<+1>(list, nullptr, out.data(), 11);
    for (int t = 0; t < 11; ++t) EXPECT_EQ(out[t], t > 0 && t < 10 ? 12.0 : 6.0);
}

}  // namespace
}  // namespace hyperplane
