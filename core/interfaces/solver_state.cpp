// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/solver_state.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {

void SolverState::put(const std::string& name, const Vector& values) {
    items_[name] = to_natural(values);
}

void SolverState::put(const std::string& name, std::span<const double> values) {
    items_[name].assign(values.begin(), values.end());
}

void SolverState::get(const std::string& name, Vector& values) const {
    from_natural(get(name), values);
}

std::vector<double> SolverState::get(const std::string& name) const {
    const auto found = items_.find(name);
    if (found == items_.end())
        throw FileError(fmt::format("the saved state holds no {}; it was left by another solver or program", name));
    return found->second;
}

}  // namespace hyperplane
