// SPDX-License-Identifier: BSD-3-Clause
// A vector of four doubles, for sums and loops on a CPU.
#pragma once

#include <cstring>

namespace hyperplane {

/// Four doubles, of which a processor with shorter vectors needs two registers or four.
typedef double Quad __attribute__((vector_size(4 * sizeof(double))));

/// Loads and stores of a double or of a Quad.
template <class T>
T load(const double* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
template <class T>
void store(T value, double* to) {
    std::memcpy(to, &value, sizeof value);
}

}  // namespace hyperplane
