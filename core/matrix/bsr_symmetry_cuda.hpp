// SPDX-License-Identifier: BSD-3-Clause
// Whether a general matrix in a GPU's memory is symmetric.
#pragma once

#include "core/matrix/bsr_matrix.hpp"

namespace hyperplane::cuda {

/// Whether A equals its transpose to the last bit, explicit zeros included. Waits for the device.
bool equals_transpose(const BsrMatrix& a);

}  // namespace hyperplane::cuda
