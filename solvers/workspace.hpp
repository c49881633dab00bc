// SPDX-License-Identifier: BSD-3-Clause
// The work vectors of a Krylov method: they are allocated at first use and kept for the next solve.
#pragma once

#include <string>
#include <vector>

#include "core/vector/vector.hpp"

namespace hyperplane {

class Workspace {
public:
    /// `count` vectors that the memory ledger lists under one label.
    struct Group {
        std::string label;
        Index count;
    };

    Workspace(const Context& context, std::vector<Group> groups) : context_(context), groups_(std::move(groups)) {}

    Index count() const {
        Index total = 0;
        for (const Group& group : groups_) total += group.count;
        return total;
    }
    /// Allocates vectors of b's index space and dof, unless they exist already. If it throws OutOfMemory, it holds
    /// none.
    void shape_like(const Vector& b) {
        if (!vectors_.empty() && vectors_[0].space() == b.space() && vectors_[0].dof() == b.dof()) return;
        vectors_.clear();
        std::vector<Vector> fresh;
        for (const Group& group : groups_)
            for (Index at = 0; at < group.count; ++at) fresh.emplace_back(context_, b.space(), b.dof(), group.label);
        vectors_ = std::move(fresh);
    }
    /// Vector number `at`, in the order of the groups.
    Vector& operator[](Index at) { return vectors_[std::size_t(at)]; }

private:
    Context context_;
    std::vector<Group> groups_;
    std::vector<Vector> vectors_;
};

}  // namespace hyperplane
