// SPDX-License-Identifier: BSD-3-Clause
// The sums of Eisenstat's form along a line on a CPU. Compiled without contraction of a * b + c (-ffp-contract=off),
// see core/vector/lane_sums.hpp.
#include "core/vector/lane_sums.hpp"
#include "precond/triangular/wavefront/eisenstat.hpp"

namespace hyperplane::wavefront_cpu {

void add_sums(const EisenstatLine& line, Index count, double* sums) {
    const auto of_line = sum_in_lanes<eisenstat_sums>(count, [&]<class T>(Index at) {
        const T inverse = load<T>(line.inverse + at), s = load<T>(line.s + at), r = load<T>(line.r + at);
        const T w = load<T>(line.u + at) + load<T>(line.e + at), scaled = inverse * w;
        return std::array<T, eisenstat_sums>{r * r, s * (inverse * s), load<T>(line.p + at) * scaled, s * scaled,
                                             w * scaled};
    });
    for (std::size_t m = 0; m < eisenstat_sums; ++m) sums[m] += of_line[m];
}

}  // namespace hyperplane::wavefront_cpu
