// SPDX-License-Identifier: BSD-3-Clause
// Fingerprints: 64 bits by which two linear systems can be compared to the last bit.
//
//   f = sum over k of scramble(scramble(k + 1) xor bits(v_k))  mod 2^64
//
// where v_k are the values in natural order, or in the given order of a general matrix's rows, so it depends neither on
// layout and ordering nor on the number of threads.
#pragma once

#include <cstdint>
#include <string>

#include "core/interfaces/saved_values.hpp"
#include "core/matrix/row_order.hpp"
#include "core/matrix/system_matrix.hpp"

namespace hyperplane {

/// The fingerprint of every coefficient of the stencil at every point: stored, mirrored, or zero outside the grid.
std::uint64_t fingerprint(const SystemMatrix& matrix);
/// The first takes a vector of unknowns, the second one of equations, such as b. `order` is that of the rows; null for
/// the given one.
std::uint64_t fingerprint(const Vector& x, const RowOrder* order = nullptr);
std::uint64_t fingerprint_of_equations(const Vector& b, const RowOrder* order);

/// The fingerprint of values that can be read here, in their order.
std::uint64_t fingerprint(const SavedValues& values);

/// `bits` as sixteen hexadecimal digits.
std::string in_hex(std::uint64_t bits);

}  // namespace hyperplane
