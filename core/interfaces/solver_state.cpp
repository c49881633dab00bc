// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/solver_state.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {

void SolverState::put(const std::string& name, const Vector& values) {
    items_[name] = SavedValues::of(values);
}

void SolverState::put(const std::string& name, std::span<const double> values) {
    items_[name] = std::vector<double>(values.begin(), values.end());
}

void SolverState::get(const std::string& name, Vector& values) const {
    item(name).restore(values);
}

std::vector<double> SolverState::get(const std::string& name) const {
    return item(name).all();
}

const SavedValues& SolverState::item(const std::string& name) const {
    const auto found = items_.find(name);
    if (found == items_.end())
        throw FileError(fmt::format("the saved state holds no {}; it was left by another solver or program", name));
    return found->second;
}

}  // namespace hyperplane
