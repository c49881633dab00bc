// SPDX-License-Identifier: BSD-3-Clause
// Memory of the host that is pinned: a GPU's copies to and from it are queued like kernels, and nobody waits for them.
#pragma once

#include <utility>

#include "core/types.hpp"

namespace hyperplane::cuda {

/// Owns `count` values of pinned memory, of any GPU. To pin memory takes the driver up to a millisecond, in which it
/// may wait for the GPU, so a page at most is kept for the next ones of the process when it is released. Movable, not
/// copyable. Throws OutOfMemory.
class Pinned {
public:
    Pinned() = default;
    explicit Pinned(Index count);
    Pinned(Pinned&& other) noexcept { swap(other); }
    Pinned& operator=(Pinned&& other) noexcept {
        swap(other);
        return *this;
    }
    /// No work that reads or writes the values may be under way.
    ~Pinned();

    double* data() const { return data_; }
    Index count() const { return count_; }

private:
    void swap(Pinned& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
    }

    double* data_ = nullptr;
    Index count_ = 0;
};

}  // namespace hyperplane::cuda
