// SPDX-License-Identifier: BSD-3-Clause
// Copies past the caches have all values at any alignment, and write nothing beside them.
#include "core/vector/streamed_copy.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace hyperplane {
namespace {

TEST(StreamedCopies, HaveAllValuesAndNoOthers) {
    std::vector<double> from(120);
    std::iota(from.begin(), from.end(), 1.0);
    for (const bool past_caches : {false, true})
        for (int count = 0; count <= 80; ++count)
            for (int start = 0; start < 9; ++start) {
                std::vector<double> to(120, -1.0), expected = to;
                std::copy_n(from.begin() + start / 2, count, expected.begin() + start);
                StreamedCopy(past_caches).copy(from.data() + start / 2, count, to.data() + start);
                ASSERT_EQ(to, expected) << count << " values at " << start;
            }
}

}  // namespace
}  // namespace hyperplane
