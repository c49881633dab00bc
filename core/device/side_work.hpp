// SPDX-License-Identifier: BSD-3-Clause
// Work that is recorded once and runs beside a stream's own work. A program built without CUDA has no SideWork.
#pragma once

#include <functional>
#include <memory>

#include "core/device/device.hpp"

namespace hyperplane::device {

/// A CUDA graph with a stream of its own. Between queue() and join() its work and the stream's run at the same time, so
/// neither may write what the other one reads or writes, the stream's Scratch included.
class SideWork {
public:
    /// Records the work that `call` queues on `stream`, without running it. `call` must have run once before, as for
    /// Recording; unlike there, Stream::recording() stays false, so it must exchange nothing with other ranks.
    SideWork(const Stream& stream, const std::function<void()>& call);
    ~SideWork();
    SideWork(const SideWork&) = delete;
    SideWork& operator=(const SideWork&) = delete;

    /// Runs after all work that is queued on the stream so far.
    void queue();
    /// Whatever is queued on the stream from now on runs after this work.
    void join() noexcept;

private:
    struct Handles;
    const Stream& stream_;
    std::unique_ptr<Handles> handles_;
};

}  // namespace hyperplane::device
