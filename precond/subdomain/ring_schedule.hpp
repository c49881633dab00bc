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
/// Not earlier, although all threads may have issued their loads of the piece a step before: loads still in flight when
/// threads pass a barrier are not complete, and bulk copies do not wait for them (docs/log/subdomain_ildu0.md).
struct RingSchedule {
    static constexpr int ahead = 32;  ///< most pieces that are being read or copied; each has a barrier

    std::vector<int> place;    ///< in the ring, of each step's piece
    std::vector<int> started;  ///< the copies of all pieces before started[n] start before step n begins
    bool fits = true;          ///< each step's piece and the one after have room together

    /// Of steps [first, last), which have size[n] values each, in `ring` values.
    ///
    /// A piece lies behind the one before, from the ring's beginning on where the end is too near; one of more than a
    /// third of the ring at its beginning or its end, so that what it leaves is in one piece.
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
    /// Whether [at, at + size[next]) holds part of a piece that is still needed, of steps [step, next).
    bool overlaps(const std::vector<int>& size, int step, int next, Index at) const {
        for (int other = step; other < next; ++other)
            if (place[other] < at + size[next] && at < place[other] + size[other]) return true;
        return false;
    }
};

}  // namespace hyperplane
