// SPDX-License-Identifier: BSD-3-Clause
// The order in which consecutive values are summed, whatever the width of the processor's vectors: value t belongs to
// lane t mod 16, each lane is summed upwards, and the lanes are added in pairs. `#pragma omp simd reduction` would
// leave the number of partial sums to the compiler, which chooses it by the width of the vectors.
//
// Sources that include this are compiled without contraction of a * b + c (-ffp-contract=off): whether gcc contracts
// such a chain depends on the processor that it tunes for.
#pragma once

#include <array>

#include "core/types.hpp"
#include "core/vector/quad.hpp"

namespace hyperplane {

/// `count` sums over the values of terms.operator()<T>(at), a std::array<T, count>, for `at` in [0, size): T is Quad
/// for four values from `at` on, and double for one. A term may also write to memory; `at` ascends.
template <std::size_t count, class Terms>
std::array<double, count> sum_in_lanes(Index size, const Terms& terms) {
    constexpr int quads = 4, lanes = 4 * quads;
    Quad part[count][quads] = {};
    Index at = 0;
    for (; at + lanes <= size; at += lanes)
#pragma GCC unroll 4
        for (int q = 0; q < quads; ++q) {
            const std::array<Quad, count> value = terms.template operator()<Quad>(at + 4 * q);
#pragma GCC unroll 8
            for (std::size_t m = 0; m < count; ++m) part[m][q] += value[m];
        }
    double rest[count][lanes] = {};
    for (int lane = 0; at < size; ++at, ++lane) {
        const std::array<double, count> value = terms.template operator()<double>(at);
        for (std::size_t m = 0; m < count; ++m) rest[m][lane] = value[m];
    }
    std::array<double, count> sums;
    for (std::size_t m = 0; m < count; ++m) {
        for (int q = 0; q < quads; ++q) part[m][q] += load<Quad>(rest[m] + 4 * q);
        const Quad all = (part[m][0] + part[m][1]) + (part[m][2] + part[m][3]);
        sums[m] = (all[0] + all[1]) + (all[2] + all[3]);
    }
    return sums;
}

/// The same for one sum; terms.operator()<T>(at) is a T.
template <class Term>
double sum_in_lanes(Index size, const Term& term) {
    return sum_in_lanes<1>(size,
                           [&]<class T>(Index at) { return std::array<T, 1>{term.template operator()<T>(at)}; })[0];
}

}  // namespace hyperplane
