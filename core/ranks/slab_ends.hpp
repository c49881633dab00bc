// SPDX-License-Identifier: BSD-3-Clause
// The exchange between ranks where their parts of the grid meet, for arrays in any order in which the slots near a cut
// are contiguous; and the gathering of all ranks' parts on every rank.
#pragma once

#include <vector>

#include "core/device/context.hpp"
#include "core/grid/grid.hpp"
#include "core/ranks/communicator.hpp"

namespace hyperplane {

/// The slots that a rank exchanges with the rank beside one end of its part: some of its own, and those of its halo.
struct SlabEnd {
    Index own, owned;      ///< the first slot that is sent, and how many are
    Index halo, received;  ///< the first slot that is received, and how many are
};

/// Whether the upper end of the last rank's part meets the lower end of the first rank's: along a periodic axis they
/// do.
enum class OuterEnds { open, meet };
inline OuterEnds outer_ends_of(const Grid& grid) {
    return grid.periodic[2] ? OuterEnds::meet : OuterEnds::open;
}

/// The ranks at the ends of a rank's part; -1: there is none. With periodic ends two ranks are beside each other at
/// both: what the other one sends first is that of its lower end, so a rank receives from above first.
struct RanksBeside {
    int below, above;
    RanksBeside(const Communicator& ranks, OuterEnds outer) {
        const auto neighbour = [&](int step) {
            const int other = ranks.rank() + step;
            if (outer == OuterEnds::meet) return (other + ranks.size()) % ranks.size();
            return other < ranks.size() ? other : -1;
        };
        below = neighbour(-1), above = neighbour(+1);
    }
};

/// Exchanges the slots at both ends of arrays, each given by a pointer to its slot 0. The context must have ranks, and
/// all of them must call it.
void exchange_ends(const Context& context, const SlabEnd& low, const SlabEnd& high, const std::vector<double*>& arrays,
                   OuterEnds outer = OuterEnds::open);

/// An end of a slab, as SlabEnd, where the arrays that are sent and those that receive differ.
struct EndArrays {
    std::vector<const double*> own;  ///< what is sent
    Index owned = 0;                 ///< values of each
    std::vector<double*> halo;       ///< where what is received goes
    Index received = 0;              ///< values of each
};
void exchange_arrays(const Context& context, const EndArrays& low, const EndArrays& high,
                     OuterEnds outer = OuterEnds::open);

/// Gives arrays that every rank has as a whole the values of all ranks. Rank r has those in the slots [begins[r],
/// begins[r + 1]). `first` is slot 0 of the first array, `distance` that from one array to the next. The context must
/// have ranks, and all of them must call it.
void gather_slots(const Context& context, const std::vector<Index>& begins, int arrays, double* first, Index distance);
/// Bytes of the context's memory that gather_slots holds until it returns.
Index bytes_to_gather(const Context& context, const std::vector<Index>& begins, int arrays);

}  // namespace hyperplane
