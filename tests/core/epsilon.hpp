// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

namespace hyperplane {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

}  // namespace hyperplane
