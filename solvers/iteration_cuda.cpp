// SPDX-License-Identifier: BSD-3-Clause
// Iterations on a GPU: steps are CUDA graphs, and the host reads their scalars one step behind.
//
// Where the context has a profile, a slot has a graph with marks between its parts, and of few slots also one without,
// which is replayed most of the time (core/profile.hpp): marks take about a microsecond each.
#include <array>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "core/device/cuda.hpp"
#include "core/device/marks.hpp"
#include "core/device/pinned_cuda.hpp"
#include "core/error.hpp"
#include "core/profile.hpp"
#include "core/ranks/links_cuda.hpp"
#include "solvers/iteration.hpp"

namespace hyperplane {

/// The graphs of the slots, and copies of the last two steps' scalars in the host's memory.
class Iteration::Graphs {
public:
    Graphs(const Context& context, Index slots, Index scalars) : context_(context), scalars_(scalars), replays_(slots) {
        cuda::stream(context);
        on_host_ = cuda::Pinned(2 * scalars);
        for (cudaEvent_t& event : known_)
            cuda::check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
    ~Graphs() {
        context_.stream().drain();  // a step that ran ahead may still write its scalars
        try {
            for (Replay& replay : replays_) read_marks(replay);
        } catch (const Error&) {  // the GPU has failed, which is known already
        }
        for (cudaEvent_t event : known_)
            if (event) cudaEventDestroy(event);
    }
    Graphs(const Graphs&) = delete;
    Graphs& operator=(const Graphs&) = delete;

    /// Queues a step and the copy of its scalars; `from` is their address on the device.
    void launch(Index slot, const double* from, const std::function<void(Index)>& step) {
        const auto give = [&] { queue(slot, from, step); };
        Replay& replay = replays_[slot];
        if (!replay.ran_before || !records()) {
            if (Profile* profile = context_.profile())
                profile->without_pauses(give);
            else
                give();
            replay.ran_before = true;
        } else if (is_marked(replay)) {
            queue_marked(replay, give);
        } else {
            if (!replay.recording) without_marks([&] { replay.recording = record(give); });
            synchronise_ranks(context_, true);
            replay.recording->queue();
            ++replay.count;
            if (replay.marks) replay.marks->skipped();
        }
        cuda::check(cudaEventRecord(known_[slot % 2], cuda::stream(context_)), "cudaEventRecord");
        if (waited_ >= 0 && waited_ != slot) read_marks(replays_[waited_]);  // while the GPU works on the next step
    }

    /// Records a step that may follow, if launch() would, while the GPU works on the one before: the host takes as long
    /// for that as the GPU for an iteration of a small grid. Ranks record when they launch, since they must do so
    /// together.
    void prepare(Index slot, const double* from, const std::function<void(Index)>& step) {
        Replay& replay = replays_[slot];
        if (!replay.ran_before || replay.recording || context_.ranks() || context_.profile()) return;
        replay.recording = record([&] { queue(slot, from, step); });
    }

    /// A decision that depends on time.
    bool of_first_rank(bool mine) const { return synchronise_ranks(context_, mine); }

    /// Waits for the scalars of a launched step. It must be the last one launched among those of even, or of odd,
    /// slots.
    const double* wait(Index slot) {
        cuda::check(cudaEventSynchronize(known_[slot % 2]), "cudaEventSynchronize");
        const auto now = std::chrono::steady_clock::now();
        last_step_ = std::chrono::duration<double>(now - last_wait_).count();
        last_wait_ = now;
        ++waits_;
        waited_ = slot;
        return row(slot);
    }

    /// Whether the next step should run before the scalars of the one before are known. A step for nothing, at the end,
    /// costs as much as waiting for the host `last_step_ / answer` times; so steps run ahead from that number on, and a
    /// solve loses one step's time at most.
    bool should_run_ahead() const {
        constexpr double answer = 25e-6;  // seconds from a step's end to the next one's beginning, if the host decides
        return waits_ > 0 && last_step_ < answer * double(waits_);
    }

private:
    struct Replay {
        bool ran_before = false;
        std::unique_ptr<device::Recording> recording;
        std::unique_ptr<Profile::Graph> marks;
        std::unique_ptr<device::Recording> marked;
        Index count = 0;
        bool unread = false;  ///< whether marks of a replay have not been read
    };

    void queue(Index slot, const double* from, const std::function<void(Index)>& step) {
        step(slot);
        cuda::check(cudaMemcpyAsync(row(slot), from, std::size_t(scalars_) * sizeof(double), cudaMemcpyDeviceToHost,
                                    cuda::stream(context_)),
                    "cudaMemcpyAsync");
    }

    /// Whether steps become graphs. Ranks that share a GPU may have to exchange through the host.
    bool records() const { return !context_.links() || context_.links()->records(); }

    std::unique_ptr<device::Recording> record(const std::function<void()>& give) const {
        return std::make_unique<device::Recording>(context_.stream(), give);
    }

    /// Whether the next replay is one with marks: the first ones of a solve, so that short solves need no second graph,
    /// and then one in sixteen.
    bool is_marked(const Replay& replay) const {
        constexpr Index few = 2, first = 8, every = 16;
        if (!context_.profile()) return false;
        return Index(replays_.size()) > few || waits_ < first || replay.count % every == 0;
    }

    void queue_marked(Replay& replay, const std::function<void()>& give) {
        read_marks(replay);
        if (!replay.marks) {
            replay.marks = std::make_unique<Profile::Graph>(*context_.profile());
            replay.marks->recording([&] { replay.marked = record(give); });
        }
        synchronise_ranks(context_, true);
        device::open_range("iteration");
        replay.marked->queue();
        device::close_range();
        replay.unread = true;
        ++replay.count;
    }

    void read_marks(Replay& replay) {
        if (!std::exchange(replay.unread, false)) return;
        replay.marks->replayed();
    }

    template <class Work>
    void without_marks(const Work& work) {
        if (Profile* profile = context_.profile()) return profile->without(work);
        work();
    }

    double* row(Index slot) const { return on_host_.data() + slot % 2 * scalars_; }

    Context context_;
    Index scalars_, waits_ = 0;
    Index waited_ = -1;       ///< the slot that was last waited for
    double last_step_ = 0.0;  ///< seconds
    std::chrono::steady_clock::time_point last_wait_ = std::chrono::steady_clock::now();
    cuda::Pinned on_host_;
    std::array<cudaEvent_t, 2> known_{};
    std::vector<Replay> replays_;
};

Iteration::Iteration(const Context& context, Index slots, Index scalars)
    : slots_(slots), count_(scalars), scalars_(context, "krylov: scalars", held(scalars)) {
    if (context.backend() == Backend::cuda) graphs_ = std::make_unique<Graphs>(context, slots, scalars);
}

Iteration::~Iteration() = default;

// Graphs of ranks wait for each other, so ranks meet before each of them is queued, and do as the first rank does.
void Iteration::run_ahead(Index first, const Method& method) {
    graphs_->launch(first, scalars(first), method.step);
    for (Index slot = first;;) {
        const Index next = (slot + 1) % slots_;
        const bool more = method.more(slot);
        ahead_ = more && graphs_->of_first_rank(graphs_->should_run_ahead());
        if (ahead_)
            graphs_->launch(next, scalars(next), method.step);
        else if (more)
            graphs_->prepare(next, scalars(next), method.step);
        if (!method.look(slot, graphs_->wait(slot)) || !more) return;
        if (!ahead_) graphs_->launch(next, scalars(next), method.step);
        slot = next;
    }
}

}  // namespace hyperplane
