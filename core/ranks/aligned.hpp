// SPDX-License-Identifier: BSD-3-Clause
// Ranks whose parts of the grid begin at multiples of some number of planes, for preconditioners that compute in boxes
// of the grid, which no cut may divide.
#pragma once

#include <memory>
#include <utility>

#include "core/ranks/passed_on_ranks.hpp"

namespace hyperplane {

/// Ranks of which part_of (core/ranks/cuts.hpp) cuts the grid at multiples of `planes` alone.
class AlignedRanks final : public PassedOnRanks {
public:
    AlignedRanks(std::shared_ptr<Communicator> ranks, int planes) : PassedOnRanks(std::move(ranks)), planes_(planes) {}
    int planes() const { return planes_; }

private:
    int planes_;
};

}  // namespace hyperplane
