// SPDX-License-Identifier: BSD-3-Clause
// Vectors of random numbers, from which set-ups estimate properties of operators.
#pragma once

#include <cstdint>

#include "core/vector/vector.hpp"

namespace hyperplane {

/// Sets x to random numbers between `low` and 1. They depend on seed, point or row, and component alone, not on the
/// layout, the backend or the number of threads.
void set_random(Vector& x, std::uint64_t seed, double low);

}  // namespace hyperplane
