// SPDX-License-Identifier: BSD-3-Clause
// A norm whose last bits do not depend on how a vector is stored.
#pragma once

#include <vector>

#include "core/vector/vector.hpp"

namespace hyperplane::multigrid {

/// *norm = ||x||_2, where `norm` lies in the memory of x's backend. On a GPU the order of its sum follows from the grid
/// alone, so that it has the same bits in every layout and for any number of ranks. On a CPU it is norm2, which has the
/// same bits for any number of ranks in the natural layout, the only one that ranks have there.
void grid_norm(const Vector& x, double* norm);

/// Such norms on a GPU one after another, in memory of their own, so that they may run beside other work of a stream,
/// and may be recorded once and queued again and again.
class NormList {
public:
    /// For at most so many norms of vectors of a layout that is no rank's part.
    NormList(const Context& context, const Layout& layout, int most);

    /// Queues: there are no norms.
    void clear() const;
    /// Queues: the norm of x becomes the last one.
    void add(const Vector& x);
    /// Where the last norm is, on the GPU.
    const double* last() const { return room_.data() + last_; }
    int most() const { return most_; }
    /// Norms [first, first + count); waits for them.
    std::vector<double> get(int first, int count) const;
    static Index bytes(const Layout& layout, int most);

private:
    // A counter of thread blocks, their sums, the last norm, the number of norms, and all of them.
    Buffer<double> room_;
    Index last_;
    int most_;
};

}  // namespace hyperplane::multigrid
