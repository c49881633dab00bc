// SPDX-License-Identifier: BSD-3-Clause
// Planes of factors that ranks on GPUs send to each other, through the host.
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
    RankPlanes(const Context& context, const IluPattern& pattern, double* values)
        : context_(context), pattern_(pattern), values_(values) {}

    void send(int to, const std::vector<int>& entries, int first) const;
    void receive(int from, const std::vector<int>& entries, int first) const;
    /// Fills the halos at both ends with what the ranks beside this one have computed. All ranks must call it.
    void exchange(const std::vector<int>& entries) const;

private:
    /// Copies between the planes of an entry and `message`.
    void copy(int entry, int first, double* message, bool to_gpu) const;
    Index values_of_entry() const {
        return pattern_.halo * pattern_.layout.slots_of_plane() * pattern_.dof * pattern_.dof;
    }

    const Context& context_;
    const IluPattern& pattern_;
    double* values_;
};

}  // namespace hyperplane
