// SPDX-License-Identifier: BSD-3-Clause
// How a rank on a GPU reaches the memory of the others, and waits for what their streams have queued.
//
// Ranks that are threads of one process have the same addresses and may wait for each other's events. Ranks that are
// processes of one host give each other handles (CUDA IPC): those of events once, and for an address the handle of the
// chunk in which it lies (core/device/chunks.hpp) and its distance from there. A chunk is opened when an address in it
// arrives for the first time, and stays open until the links between ranks end.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/device/context.hpp"

namespace hyperplane::cuda {

/// The events of a rank's stream that other ranks' streams wait for.
struct PeerEvents {
    void* offered = nullptr;  ///< all that had been queued when memory was offered is done
    void* read = nullptr;     ///< what was offered has been read
};

class Peers {
public:
    /// All ranks must make theirs at the same time. Throws DeviceError if a GPU cannot reach another one's memory.
    static std::unique_ptr<Peers> of(const Context& context);
    virtual ~Peers() = default;
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    /// How many values describe an address to other ranks.
    virtual std::size_t values_of_address() const = 0;
    /// Appends them to `message`. The address must lie in memory of the context.
    virtual void describe(const void* address, std::vector<double>& message) = 0;
    /// The address by which this rank reaches what a rank, which may be itself, has described.
    virtual void* reach(int rank, std::span<const double> description) = 0;
    /// The events of a rank, for calls that wait for them, and for this one's own to be recorded.
    virtual PeerEvents events(int rank) const = 0;
    /// Whether any two ranks have the same GPU.
    bool share_gpus() const { return share_gpus_; }

protected:
    Peers() = default;
    bool share_gpus_ = false;
};

/// Throws DeviceError unless the GPUs with these ordinals can reach each other's memory.
void check_peers(const std::vector<int>& ordinals);

/// A value that tells GPUs apart, for messages between ranks (device::Properties::identity).
double identity_as_value(const device::Properties& gpu);

}  // namespace hyperplane::cuda
