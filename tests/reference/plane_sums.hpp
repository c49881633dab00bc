// SPDX-License-Identifier: BSD-3-Clause
// The order in which a vector on a grid in natural layout is summed on a CPU, one value after the other.
#pragma once

#include <vector>

#include "reference/stencils.hpp"

namespace hyperplane::reference {

/// a b and a + b, each rounded: a compiler may not fuse what passes through a volatile variable.
inline double rounded_product(double a, double b) {
    volatile double product = a * b;
    return product;
}

/// Sixteen lanes, value t in lane t mod 16; then lanes 0, 4, 8 and 12, and so on, in pairs; then those four in pairs.
inline double sum_of_block(const double* terms, int count) {
    double lane[16] = {};
    for (int t = 0; t < count; ++t) lane[t % 16] += terms[t];
    double of_four[4];
    for (int i = 0; i < 4; ++i) of_four[i] = (lane[i] + lane[4 + i]) + (lane[8 + i] + lane[12 + i]);
    return (of_four[0] + of_four[1]) + (of_four[2] + of_four[3]);
}

/// A plane has as few blocks of at most 2048 points as it can; they are equally long, up to multiples of 16.
inline int block_length(int plane) {
    const int blocks = (plane + 2047) / 2048, length = (plane + blocks - 1) / blocks;
    return (length + 15) / 16 * 16;
}

/// The sum of terms[component][point], points in natural order: plane by plane, in a plane component by component, in
/// a component block by block.
inline double plane_sum(const Box& box, int components, const std::vector<double>& terms) {
    const int plane = box.nx * box.ny, length = block_length(plane);
    double sum = 0.0;
    for (int k = 0; k < box.nz; ++k) {
        double of_plane = 0.0;
        for (int c = 0; c < components; ++c)
            for (int first = 0; first < plane; first += length) {
                const int count = first + length < plane ? length : plane - first;
                of_plane += sum_of_block(terms.data() + (c * box.nz + k) * plane + first, count);
            }
        sum += of_plane;
    }
    return sum;
}

}  // namespace hyperplane::reference
