// SPDX-License-Identifier: BSD-3-Clause
// The squares of double precision that have all their digits. Below 1e-290 the terms of a sum of squares may have lost
// digits or be 0, near the largest number the sum overflows.
#pragma once

namespace hyperplane {

inline constexpr double smallest_norm = 1e-145, largest_norm = 1e152;

/// Whether a sum of squares has kept its digits.
inline bool square_is_exact(double square) {
    return square >= smallest_norm * smallest_norm && square <= largest_norm * largest_norm;
}
/// Whether the square of this norm is such a number.
inline bool square_of_is_exact(double norm) {
    return norm >= smallest_norm && norm <= largest_norm;
}

}  // namespace hyperplane
