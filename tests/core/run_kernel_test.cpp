// SPDX-License-Identifier: BSD-3-Clause
// Sums of products along a run: every position has the bits of the same fused products in the same order, whether all
// of its terms are valid or some end before it.
#include "core/vector/run_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/block_matrix.hpp"

namespace hyperplane {
namespace {

template <int sign>
void expect_fused_products(int terms, int shortest) {
    constexpr int count = 37;
    reference::Random random(4);
    std::vector<std::vector<double>> a, x;
    std::vector<RunTerm> list;
    for (int e = 0; e < terms; ++e) {
        a.push_back(random.vector(count));
        x.push_back(random.vector(count));
        const int end = e == terms / 2 ? shortest : count;
        list.push_back({a[e].data(), x[e].data(), e == terms / 2 ? count - shortest : 0, end});
    }
    const std::vector<double> in = random.vector(count);
    std::vector<double> out(count);
    accumulate<sign>(list, in.data(), out.data(), count);
    for (int t = 0; t < count; ++t) {
        double expected = in[t];
        for (int e = 0; e < terms; ++e)
            if (t >= list[e].begin && t < list[e].end) expected = std::fma(sign * a[e][t], x[e][t], expected);
        EXPECT_EQ(out[t], expected) << terms << " terms, position " << t;
    }
}

TEST(RunKernel, FusesProductsAtAllPositionsInTheOrderOfTheTerms) {
    for (int terms : {1, 3, 7, 8, 9, 27})
        for (int shortest : {37, 30, 20}) {
            expect_fused_products<+1>(terms, shortest);
            expect_fused_products<-1>(terms, shortest);
        }
}

}  // namespace
}  // namespace hyperplane
