// SPDX-License-Identifier: BSD-3-Clause
// Planes of factors that ranks on GPUs copy from each other.
#pragma once

#include <vector>

#include "core/device/context.hpp"
#include "precond/factors/pattern.hpp"

namespace hyperplane {

/// Factors of a pattern with planes of other ranks (IluPattern::halo). All functions move as many planes as the halo
/// has; `first` is the first of them in the pattern's grid.
class RankPlanes {
public:
    /// The factors are in the order `together` of precond/factors/coefficient_order.hpp; `values` are those of entry 0
    /// from the pattern's slot 0 on.
    RankPlanes(const Context& context, const IluPattern& pattern, double* values);
    /// The factors are in the order `apart`, with their coefficients `distance` values from each other. Each of these
    /// is an entry: coefficient (row, col) of entry e has the number (e dof + row) dof + col.
    RankPlanes(const Context& context, const IluPattern& pattern, double* values, Index distance);

    /// Lets a rank copy planes from here, and waits, within the stream, until it has.
    void send(int to, const std::vector<int>& entries, int first) const;
    void receive(int from, const std::vector<int>& entries, int first) const;
    /// Fills the halos at both ends with what the ranks beside this one have computed. All ranks must call it.
    void exchange(const std::vector<int>& entries) const;

    /// Ranks that factor one after the other exchange all stored entries: before its own factorisation a rank receives
    /// the planes below its first one, where there are any, and after it sends its last ones to the rank above.
    void receive_from_below() const;
    void send_above() const;
    /// Fills the halo at the upper end, where a symmetric matrix has the W of other ranks that an upper solve reads.
    /// All ranks must call it.
    void exchange_downwards() const;

private:
    RankPlanes(const Context& context, const IluPattern& pattern, double* values, int values_of_slot, Index distance);
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
    int levels_, turn_;        ///< their number; by how many of them the next plane is ahead
    Index plane_, entries_;    ///< values of a plane in one of them; distance of entries
    std::vector<int> stored_;  ///< the numbers of all stored entries
    const Context& context_;
    const IluPattern& pattern_;
    double* values_;
};

}  // namespace hyperplane
