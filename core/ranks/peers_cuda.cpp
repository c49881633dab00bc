// SPDX-License-Identifier: BSD-3-Clause
#include "core/ranks/peers_cuda.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "core/device/cuda.hpp"
#include "core/error.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane::cuda {
namespace {

/// Objects without padding travel between ranks as values.
template <class T>
constexpr std::size_t values_of = sizeof(T) / sizeof(double);

template <class T>
void append(const T& object, std::vector<double>& message) {
    static_assert(sizeof(T) % sizeof(double) == 0);
    std::array<double, values_of<T>> values;
    std::memcpy(values.data(), &object, sizeof object);
    message.insert(message.end(), values.begin(), values.end());
}

template <class T>
T object_of(std::span<const double> values) {
    T object;
    std::memcpy(static_cast<void*>(&object), values.data(), sizeof object);
    return object;
}

bool has_equal(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return std::adjacent_find(values.begin(), values.end()) != values.end();
}

/// Events of this process that no rank uses, by GPU and flags. Events are never destroyed, since a rank that ends
/// because of an error may have let another one wait for them.
class FreeEvents {
public:
    static FreeEvents& of(int ordinal, unsigned flags) {
        static std::mutex mutex;
        static auto* const all = new std::map<std::pair<int, unsigned>, FreeEvents>;
        const std::scoped_lock lock(mutex);
        FreeEvents& these = (*all)[{ordinal, flags}];
        these.flags_ = flags;
        return these;
    }
    /// The GPU must be the current one.
    cudaEvent_t take() {
        const std::scoped_lock lock(mutex_);
        cudaEvent_t event = nullptr;
        if (events_.empty()) {
            check(cudaEventCreateWithFlags(&event, flags_), "cudaEventCreateWithFlags");
        } else {
            event = events_.back();
            events_.pop_back();
        }
        return event;
    }
    void give_back(void* event) {
        const std::scoped_lock lock(mutex_);
        events_.push_back(static_cast<cudaEvent_t>(event));
    }

private:
    std::mutex mutex_;
    std::vector<cudaEvent_t> events_;
    unsigned flags_ = 0;
};

/// The two events of a rank in its own process.
class OwnEvents {
public:
    OwnEvents(const Context& context, unsigned more_flags)
        : free_(FreeEvents::of(context.stream().properties().ordinal, cudaEventDisableTiming | more_flags)) {
        stream(context);  // makes its GPU the current one
        events_ = {free_.take(), free_.take()};
    }
    ~OwnEvents() {
        free_.give_back(events_.offered);
        free_.give_back(events_.read);
    }
    OwnEvents(const OwnEvents&) = delete;
    OwnEvents& operator=(const OwnEvents&) = delete;
    PeerEvents get() const { return events_; }

private:
    FreeEvents& free_;
    PeerEvents events_;
};

/// Makes the memory of GPU `other` accessible from GPU `mine`, the current one, once in a process.
void enable_peer(int mine, int other) {
    static std::mutex mutex;
    static std::set<std::pair<int, int>> enabled;
    const std::scoped_lock lock(mutex);
    if (enabled.contains({mine, other})) return;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled)  // by another library
        cudaGetLastError();
    else
        check(error, "cudaDeviceEnablePeerAccess");
    enabled.insert({mine, other});
}

class ThreadPeers final : public Peers {
public:
    explicit ThreadPeers(const Context& context) : own_(context, 0) {
        const int mine = context.stream().properties().ordinal;
        const std::vector<double> ordinals = gathered(context, {double(mine)});
        share_gpus_ = has_equal(ordinals);
        for (const double other : ordinals) {
            if (int(other) == mine) continue;
            check_peers({mine, int(other)});
            enable_peer(mine, int(other));
        }
        std::vector<double> message;
        append(own_.get(), message);
        const std::vector<double> all = gathered(context, message);
        for (std::size_t at = 0; at < all.size(); at += values_of<PeerEvents>)
            events_.push_back(object_of<PeerEvents>(std::span(all).subspan(at)));
    }
    std::size_t values_of_address() const override { return values_of<const void*>; }
    void describe(const void* address, std::vector<double>& message) override { append(address, message); }
    void* reach(int /*rank*/, std::span<const double> description) override { return object_of<void*>(description); }
    PeerEvents events(int rank) const override { return events_[rank]; }

private:
    OwnEvents own_;
    std::vector<PeerEvents> events_;
};

class ProcessPeers final : public Peers {
public:
    explicit ProcessPeers(const Context& context)
        : stream_(context.stream()), rank_(context.ranks()->rank()), own_(context, cudaEventInterprocess) {
        if (!stream_.chunks())
            throw Error(ExitCode::internal, "a rank that is a process has memory that others cannot map");
        share_gpus_ = has_equal(gathered(context, {identity_as_value(stream_.properties())}));
        open_events(context);
    }
    ~ProcessPeers() override {
        stream_.drain();
        for (const auto& [handle, chunk] : opened_) cudaIpcCloseMemHandle(chunk);
        for (std::size_t rank = 0; rank < events_.size(); ++rank)
            if (int(rank) != rank_)
                for (void* const event : {events_[rank].offered, events_[rank].read})
                    cudaEventDestroy(static_cast<cudaEvent_t>(event));
    }

    std::size_t values_of_address() const override { return values_of<Place>; }
    void describe(const void* address, std::vector<double>& message) override {
        void* const chunk = stream_.chunks()->exported(address);
        const auto [known, is_new] = exported_.try_emplace(chunk);
        if (is_new) {
            stream_.handle();
            check(cudaIpcGetMemHandle(&known->second, chunk), "cudaIpcGetMemHandle");
        }
        append(Place{known->second, address, static_cast<const char*>(address) - static_cast<char*>(chunk)}, message);
    }
    void* reach(int rank, std::span<const double> description) override {
        const Place place = object_of<Place>(description);
        if (rank == rank_) return const_cast<void*>(place.address);
        Key key{rank, {}};
        std::memcpy(key.second.data(), &place.chunk, sizeof place.chunk);
        const auto [known, is_new] = opened_.try_emplace(key, nullptr);
        if (is_new) {
            stream_.handle();
            const cudaError_t error = cudaIpcOpenMemHandle(&known->second, place.chunk, cudaIpcMemLazyEnablePeerAccess);
            if (error != cudaSuccess) {
                cudaGetLastError();
                opened_.erase(known);
                throw DeviceError("rank " + std::to_string(rank_) + " cannot map the memory of rank " +
                                  std::to_string(rank) + " (cudaIpcOpenMemHandle: " + cudaGetErrorString(error) +
                                  "), which ranks on GPUs need; start one process with --ranks, or give "
                                  "device.backend = cpu");
            }
        }
        return static_cast<char*>(known->second) + place.distance;
    }
    PeerEvents events(int rank) const override { return events_[rank]; }

private:
    struct Place {
        cudaIpcMemHandle_t chunk;
        const void* address;      ///< in the process that has it
        std::ptrdiff_t distance;  ///< from the beginning of the chunk
    };
    struct EventHandles {
        cudaIpcEventHandle_t offered, read;
    };
    using Key = std::pair<int, std::array<unsigned char, sizeof(cudaIpcMemHandle_t)>>;

    void open_events(const Context& context) {
        EventHandles mine{};
        const auto handle = [](void* event, cudaIpcEventHandle_t& of) {
            check(cudaIpcGetEventHandle(&of, static_cast<cudaEvent_t>(event)), "cudaIpcGetEventHandle");
        };
        handle(own_.get().offered, mine.offered);
        handle(own_.get().read, mine.read);
        std::vector<double> message;
        append(mine, message);
        const std::vector<double> all = gathered(context, message);
        const auto opened = [](const cudaIpcEventHandle_t& of) {
            cudaEvent_t event = nullptr;
            check(cudaIpcOpenEventHandle(&event, of), "cudaIpcOpenEventHandle");
            return event;
        };
        for (int rank = 0; rank < context.ranks()->size(); ++rank) {
            const auto theirs =
                object_of<EventHandles>(std::span(all).subspan(std::size_t(rank) * values_of<EventHandles>));
            events_.push_back(rank == rank_ ? own_.get() : PeerEvents{opened(theirs.offered), opened(theirs.read)});
        }
    }

    const device::Stream& stream_;
    const int rank_;
    OwnEvents own_;
    std::vector<PeerEvents> events_;
    std::map<void*, cudaIpcMemHandle_t> exported_;  ///< by chunk
    std::map<Key, void*> opened_;                   ///< chunks of other ranks, by handle
};

}  // namespace

std::unique_ptr<Peers> Peers::of(const Context& context) {
    if (context.ranks()->one_process()) return std::make_unique<ThreadPeers>(context);
    if (context.ranks()->ranks_on_host() < context.ranks()->size())
        throw UsageError("ranks on GPUs reach each other's memory, so all of them must be on one host");
    return std::make_unique<ProcessPeers>(context);
}

void check_peers(const std::vector<int>& ordinals) {
    for (const int one : ordinals)
        for (const int other : ordinals) {
            int reachable = 1;
            if (one != other) check(cudaDeviceCanAccessPeer(&reachable, one, other), "cudaDeviceCanAccessPeer");
            if (!reachable)
                throw DeviceError("GPU " + std::to_string(one) + " cannot reach the memory of GPU " +
                                  std::to_string(other) +
                                  ", which ranks on GPUs need; make them run on one GPU (CUDA_VISIBLE_DEVICES), or "
                                  "give device.backend = cpu");
        }
}

double identity_as_value(const device::Properties& gpu) {
    return double(std::hash<std::string>{}(gpu.identity) >> 11);
}

}  // namespace hyperplane::cuda
