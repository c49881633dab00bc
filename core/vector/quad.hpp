// SPDX-License-Identifier: BSD-3-Clause
// A vector of four doubles, for sums and loops on a CPU.
#pragma once

namespace hyperplane {

/// Four doubles, of which a processor with shorter vectors needs two registers or four.
typedef double Quad __attribute__((vector_size(4 * sizeof(double))));

}  // namespace hyperplane
