// SPDX-License-Identifier: BSD-3-Clause
// Fingerprints: 64 bits that tell whether two linear systems are the same to the last bit.
//
//   f = sum over k of scramble(scramble(k + 1) xor bits(v_k))  mod 2^64
//
// v_k in natural order, so neither the memory layout nor the number of threads matters.
#pragma once

#include <cstdint>
#include <string>

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// Of every coefficient of the stencil at every point: stored, mirrored, or zero outside the grid.
std::uint64_t fingerprint(const StructMatrix& matrix);
std::uint64_t fingerprint(const Vector& x);

/// Sixteen hexadecimal digits.
std::string in_hex(std::uint64_t bits);

}  // namespace hyperplane
