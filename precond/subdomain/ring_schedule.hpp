// SPDX-License-Identifier: BSD-3-Clause
// When a producer warp copies which piece of memory into a ring in shared memory, ahead of the steps that read it
// (precond/subdomain/solve.cuh).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/types.hpp"

namespace hyperplane {

/// Where the pieces of the steps lie in the ring, and when their copies start. Piece n keeps its place until step n
/// ends; then other pieces may take it.
///
/// The place is not free a step earlier, although all threads may have issued their loads of the piece by then: loads
/// can still be in flight when threads pass a barrier, and bulk copies do not wait for them
/// (docs/log/subdomain_ildu0.md).
struct RingSchedule {
    static constexpr int ahead = 32;  ///< largest number of pieces that are being read or copied; each has a barrier

    std::vector<int> place;    ///< of each step's piece in the ring
    std::vector<int> started;  ///< the copies of all pieces before started[n] start before step n begins
    bool fits = true;          ///< the ring has room for the pieces of any two consecutive steps

    /// Makes the schedule of the steps [first, last), whose pieces have size[n] values, for a ring of `ring` values.
    ///
    /// A piece follows the one before it, or begins at the ring's beginning if the end is too near. A piece of more
    /// than a third of the ring is placed at its beginning or its end, so that the rest is contiguous.
    RingSchedule(const std::vector<int>& size, int first, int last, Index ring) : place(last), started(last) {
        Index head = 0;
        int next = first;
        for (int step = first; step < last; ++step) {
            for (; next < last && next - step < ahead; ++next) {
                const bool large = size[next] > ring / 3;
                const auto places = large ? std::array{Index(0), ring - size[next]} : std::array{head, Index(0)};
                const auto at = std::find_if(places.begin(), places.end(), [&](Index begin) {
                    return begin >= 0 && begin + size[next] <= ring && !overlaps(size, step, next, begin);
                });
                if (at == places.end()) break;
                place[next] = int(*at);
                head = *at + size[next];
            }
            started[step] = next;
            fits = fits && next >= std::min(step + 2, last);
        }
    }

private:
    /// Whether [at, at + size[next]) overlaps the piece of one of the steps [step, next), which are still needed.
    bool overlaps(const std::vector<int>& size, int step, int next, Index at) const {
        for (int other = step; other < next; ++other)
            if (place[other] < at + size[next] && at < place[other] + size[other]) return true;
        return false;
    }
};

}  // namespace hyperplane
