// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/point_values.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/vector/blas1.hpp"
#include "core/vector/blas1_cuda.hpp"

namespace hyperplane {
namespace {

/// The smallest of the ranks' values. They are in natural order, so of equal values the first rank's comes first.
PointValue first_of_ranks(const Context& context, const Layout& layout, const PointValue& mine) {
    if (!layout.is_part()) return mine;
    const std::vector<double> all = gathered(context, {mine.value, double(layout.grid().row(mine.point))});
    PointValue first{all[0], layout.grid().point(Index(all[1]))};
    for (std::size_t at = 2; at < all.size(); at += 2) {
        const PointValue other{all[at], layout.grid().point(Index(all[at + 1]))};
        const bool nan = std::isnan(other.value), first_is_nan = std::isnan(first.value);
        if (!first_is_nan && (nan || other.value < first.value)) first = other;
    }
    return first;
}

}  // namespace

PointValue PointValues::smallest(const Layout& layout) const {
    Index slot = 0;
    if constexpr (cuda_built)
        if (values_.backend() == Backend::cuda) {
            double value;
            cuda::smallest(values_.context(), layout, values_.data(), &value, &slot);
            return first_of_ranks(values_.context(), layout, {value, layout.point(slot)});
        }
    constexpr Index block = 4096;
    const Index blocks = (layout.slots() + block - 1) / block;
    const double* values = values_.data();
    std::vector<Index> best(blocks);
#pragma omp parallel for schedule(static) num_threads(values_.context().threads_for(layout.slots()))
    for (Index b = 0; b < blocks; ++b) {
        const Index end = std::min(layout.slots(), (b + 1) * block);
        best[b] = b * block;
        for (Index at = b * block + 1; at < end; ++at)
            if (comes_before(layout, values[at], at, values[best[b]], best[b])) best[b] = at;
    }
    slot = best[0];
    for (Index at : best)
        if (comes_before(layout, values[at], at, values[slot], slot)) slot = at;
    return first_of_ranks(values_.context(), layout, {values[slot], layout.point(slot)});
}

double PointValues::sum() const {
    return hyperplane::sum(values_, 0);
}

}  // namespace hyperplane
