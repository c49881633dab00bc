// SPDX-License-Identifier: BSD-3-Clause
// Runs the iterations of a Krylov method, on a GPU without waiting for the host between operations.
//
// A method consists of three functions of a slot: the number of a step modulo the number of different steps.
//
//   step   queues the operations of one iteration, in order; they pass scalars to each other in memory
//   more   returns whether another step may follow; it is called before the step's scalars are known
//   look   reads the step's scalars and decides; it returns false to leave run()
//
// On a CPU the three are called in turn. On a GPU a step is queued directly the first time, so that operators can
// allocate what they need, is recorded as a CUDA graph before the second time, while the GPU is at work on the step
// before it, and is replayed from then on. Unless steps are long and few, the host reads a step's scalars while the
// next step runs already, so when `look` returns false, one more step may have run (`ahead`). Methods are written so
// that this does no harm: x is updated a step late, and only with scalars that satisfy the method's conditions (Ratio).
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

/// Exists for one solve.
class Iteration {
public:
    /// There are `slots` different steps, and each has `scalars` scalars.
    Iteration(const Context& context, Index slots, Index scalars);
    ~Iteration();
    Iteration(const Iteration&) = delete;
    Iteration& operator=(const Iteration&) = delete;

    /// The number of scalars that it holds, for steps of so many.
    static constexpr Index held(Index scalars) { return 2 * scalars; }

    /// The scalars that a step writes, in the context's memory. Even and odd slots have separate ones, so that those of
    /// the previous step remain.
    double* scalars(Index slot) { return scalars_.data() + row(slot); }
    /// Sets scalars of a slot, from number `first` on. Allowed between calls of run(), or in a look that returns false.
    void set(Index slot, Index first, const std::vector<double>& values) { scalars_.set(row(slot) + first, values); }
    std::vector<double> get(Index slot) const { return scalars_.get(row(slot), count_); }

    /// Runs steps from slot `first` on, cyclically, until `look` or `more` returns false.
    void run(Index first, const Method& method);
    /// Within `look` and after run(): whether the step after the one that `look` was called for has run, too.
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
