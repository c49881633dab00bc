// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/messages_cuda.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "core/device/cuda.hpp"
#include "core/device/pinned_cuda.hpp"
#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/offers_cuda.hpp"
#include "core/ranks/slab_ends.hpp"

namespace hyperplane::cuda {
namespace {

Index bytes_of(std::span<const RankPart> parts) {
    Index bytes = 0;
    for (const RankPart& part : parts) bytes += part.bytes;
    return bytes;
}

/// Brings parts of the same rank together, and leaves out empty ones.
std::vector<RankPart> by_rank(std::vector<RankPart> parts) {
    std::erase_if(parts, [](const RankPart& part) { return part.bytes == 0; });
    std::stable_sort(parts.begin(), parts.end(),
                     [](const RankPart& one, const RankPart& other) { return one.rank < other.rank; });
    return parts;
}

/// Calls body(rank, parts) for each rank of parts that are together by rank.
template <class Body>
void for_each_rank(const std::vector<RankPart>& parts, const Body& body) {
    for (std::size_t first = 0, end = 0; first < parts.size(); first = end) {
        while (end < parts.size() && parts[end].rank == parts[first].rank) ++end;
        body(parts[first].rank, std::span(parts).subspan(first, end - first));
    }
}

/// Synchronises with the ranks with which parts are exchanged: they have come here, too, when it returns.
void synchronise(Communicator& ranks, const std::vector<RankPart>& sent, const std::vector<RankPart>& received) {
    std::set<int> others;
    for (const auto* const parts : {&sent, &received})
        for (const RankPart& part : *parts) others.insert(part.rank);
    double here = 1.0;
    for (const int other : others) ranks.send(other, {&here, 1});
    for (const int other : others) ranks.receive(other, {&here, 1});
}

}  // namespace

/// An event that does not measure time.
struct Event {
    cudaEvent_t handle = nullptr;

    Event() { check(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(handle); }

    void record(cudaStream_t stream) const { check(cudaEventRecord(handle, stream), "cudaEventRecord"); }
    void wait() const { check(cudaEventSynchronize(handle), "cudaEventSynchronize"); }
    void hold(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, handle, 0), "cudaStreamWaitEvent"); }
};

/// A stream for exchanges that go on beside the context's, and events by which either waits for the other.
struct RankMessages::Beside {
    cudaStream_t stream = nullptr;
    Event begun, done;

    Beside() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;
    ~Beside() { cudaStreamDestroy(stream); }
};

/// An exchange through pinned memory of the host, which the GPU's copies need not wait for.
struct RankMessages::ThroughHosts {
    Pinned out, in;
    Event read, placed;  ///< what is sent has been copied; what was received before as well
    std::vector<RankPart> sent, received;

    void begin(const Context& context) {
        for (const auto& [pinned, parts] : {std::pair{&out, &sent}, std::pair{&in, &received}})
            if (const Index values = bytes_of(*parts) / Index(sizeof(double)); values > pinned->count()) {
                context.synchronize();
                *pinned = {};
                *pinned = Pinned(values);
            }
        double* next = out.data();
        for (const RankPart& part : sent) {
            copy(context, part.address, next, part.bytes);
            next += part.bytes / Index(sizeof(double));
        }
        read.record(stream(context));
    }
    void end(const Context& context) {
        Communicator& ranks = *context.ranks();
        read.wait();
        double* next = out.data();
        const auto next_message = [&](std::span<const RankPart> parts) {
            const std::span message(next, std::size_t(bytes_of(parts)) / sizeof(double));
            next += message.size();
            return message;
        };
        for_each_rank(sent, [&](int rank, std::span<const RankPart> parts) { ranks.send(rank, next_message(parts)); });
        placed.wait();
        next = in.data();
        for_each_rank(received,
                      [&](int rank, std::span<const RankPart> parts) { ranks.receive(rank, next_message(parts)); });
        next = in.data();
        for (const RankPart& part : received) {
            copy(context, next, part.address, part.bytes);
            next += part.bytes / Index(sizeof(double));
        }
        placed.record(stream(context));
        context.stream().note("exchange through the hosts' memory");
    }

private:
    static void copy(const Context& context, const void* from, void* to, Index bytes) {
        check(cudaMemcpyAsync(to, from, std::size_t(bytes), cudaMemcpyDefault, stream(context)), "cudaMemcpyAsync");
    }
};

RankMessages::RankMessages(const Context& context, bool by_nccl) {
    stream(context);  // makes its GPU the current one
    if (by_nccl) {
        nccl_ = std::make_unique<NcclRanks>(*context.ranks());
        beside_ = std::make_unique<Beside>();
        connect(context);
    } else {
        through_ = std::make_unique<ThroughHosts>();
    }
}

/// NCCL connects ranks at their first exchange, with help of both processes. Nothing that may wait for a GPU, such as
/// an allocation, must come between; so all ranks exchange something with all others, and synchronise when it has
/// arrived.
void RankMessages::connect(const Context& context) const {
    const device::Scratch& scratch = context.stream().scratch();
    Communicator& ranks = *context.ranks();
    nccl_->all_gather(scratch.planes, scratch.partial, 1, stream(context));
    const Index bytes = sizeof(double);
    std::vector<RankPart> sent, received;
    for (int other = 0; other < ranks.size(); ++other)
        if (other != ranks.rank()) {
            sent.push_back({other, scratch.planes, bytes});
            received.push_back({other, scratch.partial + other, bytes});
        }
    nccl_->exchange(sent, received, stream(context));
    context.synchronize();
    gathered(context, {1.0});
}

RankMessages::~RankMessages() = default;

void RankMessages::begin(const Context& context, const std::vector<RankPart>& sent,
                         const std::vector<RankPart>& received) {
    if (through_) {
        if (context.stream().recording())
            throw Error(ExitCode::internal, "a message through the host's memory was to be recorded");
        through_->sent = by_rank(sent);
        through_->received = by_rank(received);
        return through_->begin(context);
    }
    const std::vector<RankPart> out = by_rank(sent), in = by_rank(received);
    if (!context.stream().recording()) synchronise(*context.ranks(), out, in);
    beside_->begun.record(stream(context));
    beside_->begun.hold(beside_->stream);
    nccl_->exchange(out, in, beside_->stream);
    beside_->done.record(beside_->stream);
}

void RankMessages::end(const Context& context) {
    if (through_) return through_->end(context);
    beside_->done.hold(stream(context));
}

void RankMessages::exchange(const Context& context, const std::vector<RankPart>& sent,
                            const std::vector<RankPart>& received) {
    if (through_) {
        begin(context, sent, received);
        return end(context);
    }
    const std::vector<RankPart> out = by_rank(sent), in = by_rank(received);
    if (out.empty() && in.empty()) return;
    if (!context.stream().recording()) synchronise(*context.ranks(), out, in);
    context.stream().note("exchange by NCCL");
    nccl_->exchange(out, in, stream(context));
}

void RankMessages::record_gather(const Context& context, const std::vector<Index>& counts, double* mine,
                                 double* all) const {
    const int rank = context.ranks()->rank();
    context.stream().note("gathering by NCCL");
    if (std::all_of(counts.begin(), counts.end(), [&](Index count) { return count == counts[0]; }))
        return nccl_->all_gather(mine, all, counts[0], stream(context));
    std::vector<RankPart> sent, received;
    double* to = all;
    for (int other = 0; other < int(counts.size()); ++other) {
        if (other == rank)
            check(cudaMemcpyAsync(to, mine, std::size_t(counts[rank]) * sizeof(double), cudaMemcpyDeviceToDevice,
                                  stream(context)),
                  "cudaMemcpyAsync");
        else {
            sent.push_back({other, mine, counts[rank] * Index(sizeof(double))});
            received.push_back({other, to, counts[other] * Index(sizeof(double))});
        }
        to += counts[other];
    }
    nccl_->exchange(sent, received, stream(context));
}

void exchange_parts(const Context& context, const std::vector<RankPart>& sent, const std::vector<RankPart>& received) {
    if (by_messages(context)) return links_of(context).messages().exchange(context, sent, received);
    const std::vector<RankPart> given = by_rank(sent), taken = by_rank(received);
    for_each_rank(given, [&](int rank, std::span<const RankPart> parts) {
        std::vector<const void*> addresses;
        for (const RankPart& part : parts) addresses.push_back(part.address);
        offer(context, rank, {addresses});
    });
    for_each_rank(taken, [&](int rank, std::span<const RankPart> parts) {
        const Offer theirs = take_offer(context, rank, parts.size());
        for (std::size_t at = 0; at < parts.size(); ++at)
            context.stream().copy(theirs.addresses[at], parts[at].address, parts[at].bytes);
        acknowledge(context, rank);
    });
    for_each_rank(given, [&](int rank, std::span<const RankPart>) { await_acknowledgement(context, rank); });
}

void begin_halo_messages(const Vector& x) {
    const Layout& l = x.layout();
    const Index halo = l.halo_slots(), end = l.slots(), bytes = halo * Index(sizeof(double));
    const RanksBeside beside(*x.context().ranks(), outer_ends_of(l.grid()));
    std::vector<RankPart> sent, received;
    const auto list = [&](std::vector<RankPart>& parts, int other, Index first) {
        for (double* const component : const_cast<Vector&>(x).components())
            if (other >= 0) parts.push_back({other, component + first, bytes});
    };
    list(sent, beside.below, 0);
    list(sent, beside.above, end - halo);
    list(received, beside.above, end);
    list(received, beside.below, -halo);
    links_of(x.context()).messages().begin(x.context(), sent, received);
}

void end_halo_messages(const Vector& x) {
    links_of(x.context()).messages().end(x.context());
}

}  // namespace hyperplane::cuda
