// SPDX-License-Identifier: BSD-3-Clause
// Work that is recorded once and runs beside a stream's own work. A program built without CUDA has no SideWork.
#pragma once

#include <functional>
#include <memory>

#include "core/device/device.hpp"

namespace hyperplane::device {

/// Two CUDA graphs, for the beginning of some work and for a step that is repeated, and a stream of their own. Between
/// queue() and join() their work and the stream's run at the same time, so neither may write what the other one reads
/// or writes, the stream's Scratch included.
class SideWork {
public:
    /// Records the work that `first` and `step` queue on `stream`, without running it. Both must have run once before,
    /// as for Recording; unlike there, Stream::recording() stays false, so they must exchange nothing with other ranks.
    SideWork(const Stream& stream, const std::function<void()>& first, const std::function<void()>& step);
    ~SideWork();
    SideWork(const SideWork&) = delete;
    SideWork& operator=(const SideWork&) = delete;

    /// Runs `first`, and then so many steps, after all work that is queued on the stream so far.
    void queue(int steps);
    /// Whatever is queued on the stream from now on runs after this work.
    void join() noexcept;

private:
    struct Handles;
    const Stream& stream_;
    std::unique_ptr<Handles> handles_;
};

}  // namespace hyperplane::device
