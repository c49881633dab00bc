// SPDX-License-Identifier: BSD-3-Clause
// Planes of factors that ranks on GPUs copy from each other.
#pragma once

#include <vector>

#include "core/device/context.hpp"
#include "precond/factors/pattern.hpp"

namespace hyperplane {

/// Factors of a pattern with planes of other ranks (IluPattern::halo), in the order `together` of
/// precond/factors/coefficient_order.hpp. All functions move as many planes as the halo has, from plane `first` of the
/// pattern's grid on, of the given entries.
class RankPlanes {
public:
    /// `values`: those of entry 0 from the pattern's slot 0 on.
    RankPlanes(const Context& context, const IluPattern& pattern, double* values);

    /// Lets a rank copy planes from here, and waits, within the stream, until it has.
    void send(int to, const std::vector<int>& entries, int first) const;
    void receive(int from, const std::vector<int>& entries, int first) const;
    /// Fills the halos at both ends with what the ranks beside this one have computed. All ranks must call it.
    void exchange(const std::vector<int>& entries) const;

private:
    void offer(int to, int first) const;
    /// Between hosts: from the planes to a message, or from there to the planes.
    enum class Way { to_message, from_message };
    void move(Way way, const std::vector<int>& entries, int first, Buffer<double>& message) const;
    /// The rank below or above with which planes are exchanged, and the first of these planes.
    struct Planes {
        int rank, first;
    };
    void exchange_messages(const std::vector<Planes>& sent, const std::vector<Planes>& received,
                           const std::vector<int>& entries) const;
    /// The values of an entry in consecutive planes are contiguous, but for a division into levels: one in the natural
    /// layout, nx (levels modulo nx) in the hyperplane layout.
    int levels_, turn_;      ///< their number; by how many of them the next plane is ahead
    Index plane_, entries_;  ///< values of a plane in one of them; distance of entries
    const Context& context_;
    const IluPattern& pattern_;
    double* values_;
};

}  // namespace hyperplane
