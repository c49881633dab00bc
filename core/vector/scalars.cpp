// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/scalars.hpp"

#include <algorithm>

namespace hyperplane {

void Scalars::set(Index first, std::span<const double> values) {
    if (values_.backend() == Backend::cuda)
        values_.context().stream().copy(values.data(), values_.data() + first, Index(values.size_bytes()));
    else
        std::copy(values.begin(), values.end(), values_.data() + first);
}

std::vector<double> Scalars::get(Index first, Index count) const {
    std::vector<double> values(count);
    if (values_.backend() == Backend::cuda)
        values_.context().stream().copy(values_.data() + first, values.data(), count * Index(sizeof(double)));
    else
        std::copy_n(values_.data() + first, count, values.begin());
    return values;
}

}  // namespace hyperplane
