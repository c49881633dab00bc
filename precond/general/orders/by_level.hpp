// SPDX-License-Identifier: BSD-3-Clause
// Slices of rows that threads make, each for some consecutive levels; slices never have rows of two levels, so the
// result does not depend on how many threads there are.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "precond/general/orders/levels.hpp"

namespace hyperplane {

/// Where the consecutive levels of each of `parts` parts begin; parts have about as many rows each.
inline std::vector<Index> parts_of_levels(const RowLevels& levels, Index parts) {
    std::vector<Index> first;
    const Index rows = levels.rows.size();
    for (Index part = 0; part < parts; ++part)
        first.push_back(std::lower_bound(levels.begin.begin(), levels.begin.end() - 1, rows * part / parts) -
                        levels.begin.begin());
    first.push_back(levels.levels());
    return first;
}

/// Sorts the rows of one level by class, from 0 to `classes` - 1; rows of one class stay in their order. `count` has
/// `classes` zeros, and has them again afterwards.
template <class ClassOf>
void sort_by_class(const int* rows, Index size, const ClassOf& class_of, std::vector<Index>& count, int* sorted) {
    int least = int(count.size()), most = -1;
    for (Index at = 0; at < size; ++at) {
        const int own = class_of(rows[at]);
        ++count[own];
        least = std::min(least, own), most = std::max(most, own);
    }
    Index before = 0;
    for (int one = least; one <= most; ++one) before += std::exchange(count[one], before);
    for (Index at = 0; at < size; ++at) sorted[count[class_of(rows[at])]++] = rows[at];
    if (most >= least) std::fill(count.begin() + least, count.begin() + most + 1, 0);
}

/// Calls make(part, level) for all levels, part by part over the threads; Part is default-constructed.
template <class Part, class Make>
std::vector<Part> made_by_level(const Context& host, const RowLevels& levels, const Make& make) {
    const int threads = host.threads_for(levels.rows.size());
    const std::vector<Index> first = parts_of_levels(levels, threads);
    std::vector<Part> parts;
    parts.resize(std::size_t(threads));
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int part = 0; part < threads; ++part)
        for (Index level = first[part]; level < first[part + 1]; ++level) make(parts[part], level);
    return parts;
}

/// The slices of all parts, one after the other; shift(slice, part) makes those of a part follow those before it.
template <class Slice, class Part, class Shift>
Buffer<Slice> joined_slices(const Context& host, const std::vector<Part>& parts, const std::string& label,
                            const Shift& shift) {
    std::vector<std::size_t> begin{0};
    for (const Part& part : parts) begin.push_back(begin.back() + part.slices.size());
    Buffer<Slice> all(host, label, Index(begin.back()));
#pragma omp parallel for schedule(static, 1) num_threads(int(parts.size()))
    for (std::size_t part = 0; part < parts.size(); ++part)
        for (std::size_t at = 0; at < parts[part].slices.size(); ++at) {
            all[begin[part] + at] = parts[part].slices[at];
            shift(all[begin[part] + at], part);
        }
    return all;
}

}  // namespace hyperplane
