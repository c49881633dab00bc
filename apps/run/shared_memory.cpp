// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/shared_memory.hpp"

#include <functional>
#include <string>
#include <vector>

#include "apps/environment.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {

Index together_in_one_memory(const Context& context, Index mine) {
    std::string memory = host_name();
    if (context.backend() == Backend::cuda) memory += context.stream().properties().identity;
    const double name = double(std::hash<std::string>{}(memory) >> 11);
    const std::vector<double> all = gathered(context, {double(mine), name});
    Index together = 0;
    for (std::size_t at = 0; at < all.size(); at += 2)
        if (all[at + 1] == name) together += Index(all[at]);
    return together;
}

}  // namespace hyperplane
