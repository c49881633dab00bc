// SPDX-License-Identifier: BSD-3-Clause
// What ranks exchange where their parts of the grid meet, for arrays in any order whose part near a cut is contiguous.
#pragma once

#include <vector>

#include "core/device/context.hpp"

namespace hyperplane {

/// What a rank exchanges with the rank beside one end of its part: slots of its own, and those of its halo.
struct SlabEnd {
    Index own, owned;      ///< the first slot, and how many are sent
    Index halo, received;  ///< the first slot, and how many are received
};

/// Exchanges the slots at both ends of arrays that are given by their value at slot 0. All ranks must call it, and
/// there must be ranks.
void exchange_ends(const Context& context, const SlabEnd& low, const SlabEnd& high, const std::vector<double*>& arrays);

}  // namespace hyperplane
