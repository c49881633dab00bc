// SPDX-License-Identifier: BSD-3-Clause
// The sums of Eisenstat's form along a line on a CPU. Compiled without contraction of a * b + c (-ffp-contract=off),
// see core/vector/lane_sums.hpp.
#include "core/vector/lane_sums.hpp"
#include "precond/triangular/wavefront/eisenstat.hpp"

namespace hyperplane::wavefront_cpu {

namespace {

template <std::size_t count>
void add(const std::array<double, count>& of_line, double* sums) {
    for (std::size_t m = 0; m < count; ++m) sums[m] += of_line[m];
}

}  // namespace

void add_sums(const EisenstatUpperLine& line, Index count, double* sums) {
    add(sum_in_lanes<eisenstat_upper_sums>(
            count,
            [&]<class T>(Index at) {
                const T inverse = load<T>(line.inverse + at), s = load<T>(line.s + at), u = load<T>(line.u + at);
                const T t = inverse * u, p = load<T>(line.p + at);
                return std::array<T, eisenstat_upper_sums>{s * (inverse * s),
                                                           t * (2.0 * (p - u) + load<T>(line.diagonal + at) * t)};
            }),
        sums);
}

void add_sums(const EisenstatLowerLine& line, Index count, double* sums) {
    add(sum_in_lanes<eisenstat_lower_sums>(
            count,
            [&]<class T>(Index at) {
                const T r = load<T>(line.r + at), next = load<T>(line.next + at);
                return std::array<T, eisenstat_lower_sums>{r * r, next * (load<T>(line.inverse + at) * next)};
            }),
        sums);
}

}  // namespace hyperplane::wavefront_cpu
