// SPDX-License-Identifier: BSD-3-Clause
// Counter-based random numbers: a value depends on seed and counter only, never on the order or the
// thread in which points are visited.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/types.hpp"

namespace hyperplane {

/// The mixing function of splitmix64 (Steele, Lea, Flood 2014; Stafford's variant 13): a bijection that scatters
/// neighbouring integers.
HYPERPLANE_HD inline std::uint64_t scramble(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// 64 random bits for a seed and a counter: splitmix64, with its mixing function applied twice.
HYPERPLANE_HD inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
    return scramble(scramble(seed * 0xd1342543de82ef95ULL + (counter + 1) * 0x9e3779b97f4a7c15ULL));
}

/// Uniform in (0, 1).
HYPERPLANE_HD inline double random_uniform(std::uint64_t seed, std::uint64_t counter) {
    return (double(random_bits(seed, counter) >> 11) + 0.5) * 0x1p-53;
}

/// Uniform in (-1, 1).
HYPERPLANE_HD inline double random_symmetric(std::uint64_t seed, std::uint64_t counter) {
    return 2.0 * random_uniform(seed, counter) - 1.0;
}

/// Standard normal, by Box and Muller.
HYPERPLANE_HD inline double random_normal(std::uint64_t seed, std::uint64_t counter) {
    const double radius = std::sqrt(-2.0 * std::log(random_uniform(seed, 2 * counter)));
    return radius * std::cos(2 * std::numbers::pi * random_uniform(seed, 2 * counter + 1));
}

}  // namespace hyperplane
