// SPDX-License-Identifier: BSD-3-Clause
// Pieces of memory that a warp brings into a ring of shared memory, ahead of the steps that read them
// (precond/subdomain/solve.cuh).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/types.hpp"

namespace hyperplane {

/// Where the pieces of the steps lie in the ring, and when they are asked for. Piece n stays where it is until step n
/// ends; then others may lie in its place.
///
/// Not earlier, even where threads have asked for all of it in the step before: reads that are still on their way when
/// threads meet are not over, and bulk copies do not wait for them (docs/log/subdomain_ildu0.md).
struct RingSchedule {
    static constexpr int ahead = 32;  ///< most pieces that are needed or on their way; each has a barrier

    std::vector<int> place;  ///< in the ring, of each step's piece
    std::vector<int> asked;  ///< all pieces before asked[n] have been asked for when step n begins
    bool fits = true;        ///< each step's piece and the one after have room together

    /// Of steps [first, last), which have size[n] values each, in `ring` values.
    ///
    /// A piece lies behind the one before, from the ring's beginning on where the end is too near; one of more than a
    /// third of the ring at its beginning or its end, so that what it leaves is in one piece.
    RingSchedule(const std::vector<int>& size, int first, int last, Index ring) : place(last), asked(last) {
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
            asked[step] = next;
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
