// SPDX-License-Identifier: BSD-3-Clause
// How ranks on GPUs of several hosts exchange data: as messages. Each rank lists what it sends and what it receives.
//
// NCCL moves them from GPU to GPU, within the stream and within graphs. What is not recorded is queued when the hosts
// have told each other that they have come to it; so no stream waits for what is never going to be queued, unless a
// rank fails at the very place. Where NCCL cannot be used, values go through pinned memory of the hosts and the
// communicator's messages; the host takes part, so nothing is recorded.
#pragma once

#include <memory>
#include <vector>

#include "core/device/context.hpp"
#include "core/ranks/nccl.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane::cuda {

/// Whether ranks of the context do not reach each other's memory, so that all they exchange are messages.
inline bool by_messages(const Context& context) {
    return context.ranks() && are_on_several_hosts(*context.ranks());
}

class RankMessages {
public:
    /// All ranks must make theirs at the same time.
    RankMessages(const Context& context, bool by_nccl);
    ~RankMessages();
    RankMessages(const RankMessages&) = delete;
    RankMessages& operator=(const RankMessages&) = delete;

    bool in_graphs() const { return nccl_ != nullptr; }
    /// What is queued between begin and end runs beside the exchange, so it must neither change what is sent nor use
    /// what is received.
    void begin(const Context& context, const std::vector<RankPart>& sent, const std::vector<RankPart>& received);
    void end(const Context& context);
    void exchange(const Context& context, const std::vector<RankPart>& sent, const std::vector<RankPart>& received);
    /// Gathers `counts[r]` values of each rank r within a graph.
    void record_gather(const Context& context, const std::vector<Index>& counts, double* mine, double* all) const;

private:
    struct Beside;
    struct ThroughHosts;

    void connect(const Context& context) const;

    std::unique_ptr<NcclRanks> nccl_;
    std::unique_ptr<Beside> beside_;         ///< with NCCL
    std::unique_ptr<ThroughHosts> through_;  ///< without
};

/// Exchanges parts of the memory of the context's GPU: by messages, or, on one host and not recorded, by copies from
/// the other ranks' memory. The ranks that are named must call it, too.
void exchange_parts(const Context& context, const std::vector<RankPart>& sent, const std::vector<RankPart>& received);

/// Begins the exchange of a vector's halo by messages, and ends it (RankMessages::begin).
void begin_halo_messages(const Vector& x);
void end_halo_messages(const Vector& x);

}  // namespace hyperplane::cuda
