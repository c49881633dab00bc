// SPDX-License-Identifier: BSD-3-Clause
// A GPU that is not there, for plans of what a run on one would hold.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "core/device/device.hpp"
#include "core/error.hpp"

namespace hyperplane::device {

/// The ordinal of a GPU that is not there.
inline constexpr int planned_ordinal = -1;

/// The properties of that GPU are those of NVIDIA's H100 and H200, which have these multiprocessors and this shared
/// memory.
inline Properties planned_properties() {
    Properties gpu;
    gpu.name = "a GPU that is not here";
    gpu.major = 9;
    gpu.multiprocessors = 132;
    gpu.shared_per_block = Index(227) << 10;
    gpu.ordinal = planned_ordinal;
    return gpu;
}

/// Whether a stream's GPU is one that is not there.
inline bool is_planned(const Properties& gpu) {
    return gpu.ordinal == planned_ordinal;
}

/// The stream of that GPU: its memory is the host's, and whatever needs the GPU, such as a kernel, throws DeviceError.
class PlannedStream final : public Stream {
public:
    PlannedStream() : Stream(planned_properties()) {}

    void* handle() const override {
        throw DeviceError(
            fmt::format("what follows {} needs a GPU, and none can be used: {}", last_kernel(), unavailable()));
    }
    void* allocate(Index bytes) const override { return std::malloc(std::size_t(bytes > 0 ? bytes : 1)); }
    void return_released() const override {}
    void release(void* memory) const override { std::free(memory); }
    void synchronize() const override {}
    void drain() const noexcept override {}

private:
    void queue_zero(void* memory, Index bytes) const override { std::memset(memory, 0, std::size_t(bytes)); }
    void queue_copy(const void* from, void* to, Index bytes) const override {
        std::memmove(to, from, std::size_t(bytes));
    }
};

}  // namespace hyperplane::device
