// SPDX-License-Identifier: BSD-3-Clause
// Marks in a stream of a GPU, between which the time is measured, and ranges that NVIDIA's tools show.
#pragma once

#include <memory>

#include "core/device/device.hpp"

namespace hyperplane::device {

/// Numbered marks (CUDA events) in the work of one stream.
class Marks {
public:
    explicit Marks(const Stream& stream);
    ~Marks();
    Marks(const Marks&) = delete;
    Marks& operator=(const Marks&) = delete;

    /// Makes so many marks now, which takes the GPU's driver a while.
    void reserve(int count);
    /// Queues mark number `number`; while a graph is recorded, as a node of the graph. A number is used again in the
    /// same way only after its time has been read.
    void set(int number);
    /// Seconds from one mark to a later one; waits for the later one.
    double seconds(int from, int to) const;
    /// Seconds from a mark of `others`, on the same GPU, to a later one of these; waits for the later one.
    double seconds_after(const Marks& others, int from, int to) const;

private:
    struct Events;
    const Stream& stream_;
    std::unique_ptr<Events> events_;
};

/// Opens and closes a range of the calling thread for Nsight Systems and other tools that read NVTX; without such a
/// tool nothing happens.
void open_range(const char* name);
void close_range();

}  // namespace hyperplane::device
