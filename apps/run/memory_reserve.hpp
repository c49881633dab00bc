// SPDX-License-Identifier: BSD-3-Clause
// The memory of a run on a GPU, taken from the driver before anything is timed.
#pragma once

#include <future>

#include "apps/run/case.hpp"

namespace hyperplane {

/// Takes what a case is predicted to need, beyond what it holds, from the GPU's driver at once, in another thread while
/// this one goes on, and leaves it to the pool of the context's stream. So the first set-up does not wait for the
/// driver, which takes more than a millisecond for each GiB. Does nothing on a CPU, on several ranks, whose memory is
/// in no pool, and where so much memory is used or needed that it might not be enough.
class MemoryReserve {
public:
    explicit MemoryReserve(const Case& a_case);
    /// Waits for the memory, and returns the seconds that it took; 0 if nothing was done.
    double wait();

private:
    std::future<double> running_;
};

}  // namespace hyperplane
