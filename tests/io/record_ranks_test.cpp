// SPDX-License-Identifier: BSD-3-Clause
// States of which ranks have parts: the first rank writes them piece by piece, and each restores its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "core/interfaces/solver_state.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/rows_on_host.hpp"
#include "io/bad_luck.hpp"
#include "io/checkpoint.hpp"
#include "io/file_error.hpp"
#include "io/record.hpp"
#include "io/record_sample.hpp"
#include "io/scratch.hpp"
#include "on_ranks.hpp"

namespace hyperplane {
namespace {

using Numbers = std::vector<double>;

constexpr int dof = 3;

Grid small_grid() {
    Grid grid;
    grid.nx = 4, grid.ny = 3, grid.nz = 7;
    return grid;
}

Numbers numbers(Index count, double first) {
    Numbers all;
    for (Index at = 0; at < count; ++at) all.push_back(first + 0.1 * double(at));
    return all;
}

/// Counts the values that a rank receives between two of its sends: those that are on their way to it at a time.
class CountedRanks final : public PassedOnRanks {
public:
    using PassedOnRanks::PassedOnRanks;
    std::size_t most() const { return most_; }
    void send(int to, std::span<const double> values) override {
        received_ = 0;
        PassedOnRanks::send(to, values);
    }
    void receive(int from, std::span<double> values) override {
        PassedOnRanks::receive(from, values);
        most_ = std::max(most_, received_ += values.size());
    }

private:
    std::size_t received_ = 0, most_ = 0;
};

/// The state of a solve on a rank: u and a vector of the method in the rank's part, and scalars.
struct RankState {
    Vector u, p;
    RunState state;
    RankState(const Context& context, const RowOrder* order) {
        const Layout part = part_of(context, Layout(LayoutKind::natural, small_grid(), {}), 1);
        u = Vector(context, part, dof, "u"), p = Vector(context, part, dof, "p");
        const Index all = part.grid().points() * dof;
        from_natural(order ? order->to_places(numbers(all, 1.0), dof) : numbers(all, 1.0), u);
        from_natural(numbers(all, 1000.0), p);
        SolverState solver;
        solver.put("cg/p", p);
        solver.put("cg/rho", Numbers{0.5});
        solver.put("empty", Numbers{});
        state = {.step = 2, .u = SavedValues::of(u, order), .solver = solver.items()};
    }
};

RowOrder reversed(Index rows) {
    Buffer<int> given(Context::cpu(1), "order", rows);
    for (Index row = 0; row < rows; ++row) given[row] = int(rows - 1 - row);
    return make_row_order(Context::cpu(1), "reversed", std::move(given));
}

void expect_sample(const RunState& state) {
    const Index all = small_grid().points() * dof;
    EXPECT_EQ(state.step, 2);
    EXPECT_EQ(state.u.all(), numbers(all, 1.0));
    ASSERT_EQ(state.solver.size(), 3u);
    EXPECT_EQ(state.solver.at("cg/p").all(), numbers(all, 1000.0));
    EXPECT_EQ(state.solver.at("cg/rho").all(), Numbers{0.5});
    EXPECT_EQ(state.solver.at("empty").size(), 0);
}

TEST(RecordOfRanks, CheckpointIsWrittenWithOneSlabOnItsWay) {
    const RowOrder order = reversed(small_grid().points());
    for (const RowOrder* const given : {static_cast<const RowOrder*>(nullptr), &order})
        for (const int ranks : {1, 2, 3, 4}) {
            const Scratch scratch;
            CheckpointSlots slots(scratch.path("run.h5"));
            run_ranks(ranks, [&](const std::shared_ptr<Communicator>& communicator) {
                const auto counted = std::make_shared<CountedRanks>(communicator);
                const Context context = Context::cpu(1, ranks > 1 ? counted : nullptr);
                const RankState rank(context, given);
                SavedValues::read_on_first_rank(rank.state.arrays(), [&] {
                    RecordWriter writer(scratch.path("run.h5"), sample_header());
                    fill_sample(writer);
                    slots.write(writer, rank.state);
                });
                const std::size_t planes = std::size_t((small_grid().nz + ranks - 1) / ranks);
                if (ranks > 1 && communicator->rank() == 0) {
                    EXPECT_GT(counted->most(), 0u);
                }
                EXPECT_LE(counted->most(), planes * 4 * 3 * dof) << ranks << " ranks";
            });
            const auto found = slots.read();
            EXPECT_TRUE(found.damaged.empty());
            ASSERT_EQ(found.valid.size(), 1u);
            EXPECT_EQ(found.valid[0].newton.size(), 1u);
            expect_sample(found.valid[0].state);
        }
}

TEST(RecordOfRanks, FinishesWithTheStateWhenOtherRanksHaveGone) {
    const Scratch scratch;
    on_each_rank(3, [&](const Context& context) {
        std::optional<RecordWriter> writer;
        if (is_first_rank(context))
            writer.emplace(scratch.path("run.h5"), sample_header());
        else
            writer.emplace(RecordWriter::in_memory(sample_header()));
        {
            const RankState rank(context, nullptr);
            writer->set_state(rank.state);
        }
        if (!is_first_rank(context)) return;
        writer->publish();
        expect_sample(read_record(scratch.path("run.h5.part")).state);
        writer->finish("preempted", ExitCode::checkpointed, "");
    });
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"run.h5"});
    expect_sample(read_record(scratch.path("run.h5")).state);
}

TEST(RecordOfRanks, FullDiskLeavesTheEarlierRecordAndCheckpoint) {
    const Scratch scratch;
    CheckpointSlots slots(scratch.path("run.h5"));
    {
        RecordWriter earlier(scratch.path("run.h5"), sample_header());
        slots.write(earlier, {.step = 1, .u = {1.0}});
        earlier.finish("preempted", ExitCode::checkpointed, "earlier");
    }
    for (const rlim_t limit : {0, 100, 4096, 40000}) {
        const std::string error = error_with_full_disk(limit, [&] {
            on_each_rank(2, [&](const Context& context) {
                const RankState rank(context, nullptr);
                RecordWriter writer = RecordWriter::in_memory(sample_header());
                SavedValues::read_on_first_rank(
                    rank.state.arrays(), [&] { CheckpointSlots(scratch.path("run.h5")).write(writer, rank.state); });
            });
        });
        EXPECT_EQ(error.rfind(scratch.path("run.1.checkpoint") + ": cannot reserve ", 0), 0u) << error;
    }
    RecordWriter writer(scratch.path("run.h5"), sample_header());
    const std::string error = error_with_full_disk(100, [&] {
        on_each_rank(2, [&](const Context& context) {
            const RankState rank(context, nullptr);
            RecordWriter none = RecordWriter::in_memory(sample_header());
            (is_first_rank(context) ? writer : none).set_state(rank.state);
        });
        writer.finish("preempted", ExitCode::checkpointed, "");
    });
    EXPECT_EQ(error.rfind(scratch.path("run.h5") + ": cannot reserve ", 0), 0u) << error;
    EXPECT_EQ(read_record(scratch.path("run.h5")).message, "earlier");
    EXPECT_EQ(slots.read().valid.size(), 1u);
}

TEST(RecordOfRanks, EveryRankRestoresItsPartOfAnyNumberOfRanks) {
    const RowOrder order = reversed(small_grid().points());
    for (const RowOrder* const given : {static_cast<const RowOrder*>(nullptr), &order}) {
        const Scratch scratch;
        const std::string path = scratch.path("run.h5");
        on_each_rank(3, [&](const Context& context) {
            const RankState rank(context, given);
            RecordWriter writer = RecordWriter::in_memory(sample_header());
            SavedValues::read_on_first_rank(rank.state.arrays(),
                                            [&] { writer.write_checkpoint(path, 1, rank.state, Overwrite::own); });
        });
        const RecordData record = read_record(path);
        EXPECT_FALSE(record.state.u.in_memory());
        for (const int ranks : {1, 2, 4})
            on_each_rank(ranks, [&](const Context& context) {
                RankState rank(context, given);
                const Numbers u = own_rows(rank.u), p = own_rows(rank.p);
                axpy(1.0, rank.p, rank.u);
                record.state.u.restore(rank.u, given);
                EXPECT_EQ(own_rows(rank.u), u);
                record.state.solver.at("cg/p").restore(rank.p);
                EXPECT_EQ(own_rows(rank.p), p);
                if (ranks > 1) {  // what a rank has saved itself
                    rank.state.u.restore(rank.p, given);
                    EXPECT_EQ(own_rows(rank.p), u);
                }
            });
        scratch.write("run.h5", "something else");
        EXPECT_EQ(error_of([&] { (void)record.state.u.all(); }),
                  path + ": was changed while a run read it; start the run again");
    }
}

TEST(RecordOfRanks, AnErrorOfTheWriterReachesTheOthers) {
    std::mutex mutex;
    int went_on = 0;
    on_each_rank(3, [&](const Context& context) {
        const RankState rank(context, nullptr);
        const auto fail = [] { throw FileError("the disk is full"); };
        if (is_first_rank(context)) {
            EXPECT_THROW(SavedValues::read_on_first_rank(rank.state.arrays(), fail), FileError);
        } else {
            SavedValues::read_on_first_rank(rank.state.arrays(), fail);
        }
        const std::lock_guard lock(mutex);
        ++went_on;
    });
    EXPECT_EQ(went_on, 3);
}

}  // namespace
}  // namespace hyperplane
