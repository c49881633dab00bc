// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/shared_memory.hpp"

#include <functional>
#include <string>
#include <vector>

#include "apps/base/environment.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {

namespace {

Index together_in(const std::string& memory, const Context& context, Index mine) {
    const double name = double(std::hash<std::string>{}(memory) >> 11);
    const std::vector<double> all = gathered(context, {double(mine), name});
    Index together = 0;
    for (std::size_t at = 0; at < all.size(); at += 2)
        if (all[at + 1] == name) together += Index(all[at]);
    return together;
}

}  // namespace

Index together_in_one_memory(const Context& context, Index mine) {
    const bool on_gpu = context.backend() == Backend::cuda;
    return together_in(host_name() + (on_gpu ? context.stream().properties().identity : ""), context, mine);
}

Index together_on_one_host(const Context& context, Index mine) {
    return together_in(host_name(), context, mine);
}

}  // namespace hyperplane
