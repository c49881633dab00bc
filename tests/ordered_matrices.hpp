// SPDX-License-Identifier: BSD-3-Clause
// Keys of [ordering], and general matrices in an order beside those of the reference.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/graph/orderings.hpp"
#include "core/matrix/bsr_matrix.hpp"

namespace hyperplane {

/// The ordering with a key of its own, unless `value` is empty.
inline Parameters ordering_parameters(const std::string& name, const std::string& value = "",
                                      const std::string& key = "seed") {
    Parameters parameters(common_ordering_parameters());
    parameters.add(find_row(orderings(), "ordering", name).parameters);
    parameters.set("ordering", "name", name);
    if (!value.empty()) parameters.set("ordering", key, value);
    return parameters;
}

/// Fails unless `ordered`, which is `a` in another order, has the entries of `expected` and leaves the program as `a`.
inline void expect_ordered(const BsrMatrix& ordered, const BsrMatrix& expected, const BsrMatrix& a) {
    ASSERT_EQ(ordered.pattern()->blocks(), expected.pattern()->blocks());
    for (Index at = 0; at < expected.pattern()->blocks(); ++at)
        ASSERT_EQ(ordered.pattern()->column()[at], expected.pattern()->column()[at]);
    for (Index at = 0; at < expected.nonzeros(); ++at) ASSERT_EQ(ordered.values()[at], expected.values()[at]);
    // What leaves the program is in the given order.
    const CsrMatrix out = ordered.to_csr(), given = a.to_csr();
    EXPECT_EQ(out.row_begin, given.row_begin);
    EXPECT_EQ(out.column, given.column);
    EXPECT_EQ(out.value, given.value);
}

}  // namespace hyperplane
