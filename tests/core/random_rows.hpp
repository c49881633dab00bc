// SPDX-License-Identifier: BSD-3-Clause
// Random systems of general rows for tests of their cuts between ranks, on CPUs and on GPUs.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/vector/vector.hpp"
#include "reference/general_matrices.hpp"

namespace hyperplane::testing_support {

struct RandomRows {
    std::string pattern;
    int rows, dof;
};

inline std::string rows_name(const testing::TestParamInfo<RandomRows>& info) {
    return info.param.pattern + std::to_string(info.param.rows) + "x" + std::to_string(info.param.dof);
}

/// A fixture on top of another one.
template <class Base>
class WithRandomRows : public Base, public testing::WithParamInterface<RandomRows> {
protected:
    reference::BlockMatrix data() const {
        return reference::random_blocks(reference::pattern_named(GetParam().pattern, GetParam().rows, 4, 11), dof, 5);
    }
    Vector vector(const Context& context, const IndexSpace& space, std::uint64_t seed) const {
        Vector x(context, space, dof, "x");
        from_natural(reference::Random(seed).vector(GetParam().rows * dof), x);
        return x;
    }
    static const RandomRows& GetParam() { return testing::WithParamInterface<RandomRows>::GetParam(); }

    int dof = GetParam().dof;
};

}  // namespace hyperplane::testing_support
