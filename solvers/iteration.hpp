// SPDX-License-Identifier: BSD-3-Clause
// Runs the iterations of a Krylov method: its operations follow each other without the host.
//
// A method is three functions of a slot, the number of a step modulo the steps of which no two are alike:
//
//   step   gives the operations of one iteration, in order; scalars go from one to the next in memory
//   more   whether another step may follow, asked before the step's scalars are known
//   look   sees the step's scalars and decides; false: the method wants to do something else first
//
// On a CPU step, more and look alternate. On a GPU a step runs as it is the first time, so that operators can
// make what they need, becomes a CUDA graph the second time and is replayed from then on. The host looks at a
// step's scalars while the next one runs already: at a look that returns false, one step more than was looked at
// may have run (`ahead`). Methods are arranged so that it does no harm: x follows a step late, and nothing
// reaches it that its own scalars forbid (Ratio).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/vector/scalars.hpp"

namespace hyperplane {

struct Method {
    std::function<void(Index slot)> step;
    std::function<bool(Index slot)> more;
    std::function<bool(Index slot, const double* scalars)> look;
};

/// Lives as long as one solve.
class Iteration {
public:
    /// Slots 0 .. `slots` - 1; each step has `scalars` scalars.
    Iteration(const Context& context, Index slots, Index scalars);
    ~Iteration();
    Iteration(const Iteration&) = delete;
    Iteration& operator=(const Iteration&) = delete;

    /// What the steps write, in the context's memory. A step and the one before it have scalars of their own.
    double* scalars(Index slot) { return scalars_.data() + row(slot); }
    /// Sets the scalars of a slot between runs, or in a look that returns false.
    void set(Index slot, Index first, const std::vector<double>& values) { scalars_.set(row(slot) + first, values); }
    std::vector<double> get(Index slot) const { return scalars_.get(row(slot), count_); }

    /// Steps from slot `first` on, cyclically, until a look returns false or no more may follow.
    void run(Index first, const Method& method);
    /// In a look and after run: the step after the one looked at has run too.
    bool ahead() const { return ahead_; }

private:
    class Graphs;

    Index row(Index slot) const { return slot % 2 * count_; }
    void run_ahead(Index first, const Method& method);

    Index slots_, count_;
    Scalars scalars_;
    std::unique_ptr<Graphs> graphs_;  ///< on a GPU
    bool ahead_ = false;
};

}  // namespace hyperplane
