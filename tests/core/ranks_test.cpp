// SPDX-License-Identifier: BSD-3-Clause
// Ranks, their parts of a grid, and that sums, vectors and products have the bits of one rank.
#include "core/ranks/threads.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "core/interfaces/null_space.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/point_values.hpp"
#include "on_ranks.hpp"
#include "reference/bridge.hpp"

namespace hyperplane {
namespace {

using RankValues = std::vector<double>;
using Ranks = std::shared_ptr<Communicator>;

TEST(RanksAsThreads, MessagesArriveInOrderAndFromTheRightRank) {
    run_ranks(3, [](const Ranks& ranks) {
        const int rank = ranks->rank(), size = ranks->size();
        for (int to = 0; to < size; ++to)
            for (double number : {1.0, 2.0}) {
                const double values[] = {double(rank), number};
                if (to != rank) ranks->send(to, values);
            }
        for (int from = size - 1; from >= 0; --from)
            for (double number : {1.0, 2.0}) {
                double values[2] = {};
                if (from == rank) continue;
                ranks->receive(from, values);
                EXPECT_EQ(values[0], double(from));
                EXPECT_EQ(values[1], number);
            }
    });
}

TEST(RanksAsThreads, GatherHasTheRanksInOrderThoughTheirPartsDiffer) {
    run_ranks(4, [](const Ranks& ranks) {
        const RankValues mine(std::size_t(ranks->rank()), double(ranks->rank()));
        RankValues all(6);
        ranks->all_gather(mine, all);
        EXPECT_EQ(all, (RankValues{1, 2, 2, 3, 3, 3}));
    });
}

TEST(RanksAsThreads, AnErrorOnOneRankEndsThoseThatWaitForIt) {
    for (int failing : {0, 1, 2}) {
        std::atomic<int> ended = 0;
        const auto body = [&](const Ranks& ranks) {
            if (ranks->rank() == failing) throw SetupError("a pivot is zero");
            double value = 0.0;
            try {
                ranks->receive(failing, {&value, 1});
                ADD_FAILURE() << "received something that was never sent";
            } catch (const RanksAborted& error) {
                EXPECT_EQ(error.code(), ExitCode::preconditioner);
                EXPECT_EQ(std::string(error.what()), "rank " + std::to_string(failing) + ": a pivot is zero");
                ++ended;
                throw;
            }
        };
        EXPECT_THROW(run_ranks(3, body), SetupError) << "the error of the rank that failed";
        EXPECT_EQ(ended, 2);
    }
}

TEST(RanksAsThreads, OnlyTheFirstFailureCounts) {
    run_ranks(2, [](const Ranks& ranks) {
        double value = 0.0;
        if (ranks->rank() == 1) {
            ranks->abort(ExitCode::file, "the disk is full");
            return ranks->abort(ExitCode::internal, "and something else");
        }
        try {
            ranks->receive(1, {&value, 1});
            ADD_FAILURE();
        } catch (const RanksAborted& error) {
            EXPECT_EQ(error.code(), ExitCode::file);
        }
    });
}

TEST(RanksAsThreads, WhatWasSentBeforeAFailureIsStillReceived) {
    run_ranks(2, [](const Ranks& ranks) {
        double value = 7.0;
        if (ranks->rank() == 1) {
            ranks->send(0, {&value, 1});
            return ranks->abort(ExitCode::file, "the disk is full");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ranks->receive(1, {&value, 1});
        EXPECT_EQ(value, 7.0);
        EXPECT_THROW(ranks->receive(1, {&value, 1}), RanksAborted);
    });
}

Layout whole_layout(const reference::Box& box) {
    return Layout(LayoutKind::natural, reference::to_grid(box), {1, 1});
}

TEST(RanksAsThreads, GathersAfterOneAnotherKeepTheirParts) {
    // Parts of 0 to 900 values: some are kept for the next gather but one, others freed.
    run_ranks(5, [](const Ranks& ranks) {
        for (int turn = 0; turn < 200; ++turn) {
            const auto part = [&](int rank) { return RankValues(std::size_t((turn + rank) % 4 * 300), turn + rank); };
            RankValues expected;
            for (int rank = 0; rank < ranks->size(); ++rank) {
                const RankValues of_rank = part(rank);
                expected.insert(expected.end(), of_rank.begin(), of_rank.end());
            }
            RankValues all(expected.size());
            ranks->all_gather(part(ranks->rank()), all);
            ASSERT_EQ(all, expected) << turn;
        }
    });
}

TEST(RanksAsThreads, APartThatNeverComesEndsTheGather) {
    std::atomic<int> ended = 0;
    const auto body = [&](const Ranks& ranks) {
        if (ranks->rank() == 2) throw SetupError("a pivot is zero");
        RankValues all(4);
        try {
            ranks->all_gather(RankValues{1.0}, all);
            ADD_FAILURE() << "gathered something that was never sent";
        } catch (const RanksAborted&) {
            ++ended;
            throw;
        }
    };
    EXPECT_THROW(run_ranks(4, body), SetupError);
    EXPECT_EQ(ended, 3);
}

TEST(RanksAsThreads, MemoryDoesNotGrowWithTheNumberOfPairs) {
#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
    GTEST_SKIP() << "the allocator does not say how much is held";
#else
    const auto held = [] {
        const struct mallinfo2 info = mallinfo2();
        return double(info.uordblks) + double(info.hblkhd);
    };
    const double before = held();
    double during = 0.0;
    run_ranks(400, [&](const Ranks& ranks) {
        const int rank = ranks->rank(), size = ranks->size();
        double value = rank;
        ranks->send((rank + 1) % size, {&value, 1});
        ranks->receive((rank + size - 1) % size, {&value, 1});
        EXPECT_EQ(value, double((rank + size - 1) % size));
        RankValues all(static_cast<std::size_t>(size));
        for (int turn = 0; turn < 2; ++turn) ranks->all_gather({&value, 1}, all);
        if (rank == 0) during = held();
        ranks->all_gather({&value, 1}, all);
    });
    EXPECT_LT(during - before, 400 * 16e3) << "bytes; a queue for each pair took 110 MB";
#endif
}

TEST(PartsOfRanks, HaveAllPlanesOnceAndEvenly) {
    const Layout whole = whole_layout({3, 2, 11});
    for (int ranks = 1; ranks <= 4; ++ranks) {
        const RankValues begins = on_first_of(ranks, [&](const Context& context) {
            const Layout part = part_of(context, whole, 2);
            EXPECT_GE(part.planes(), 11 / ranks);
            EXPECT_LE(part.planes(), 11 / ranks + 1);
            EXPECT_EQ(part.slots(), 6 * part.planes());
            EXPECT_EQ(part.is_part(), ranks > 1);
            for (Index slot = 0; slot < part.slots(); ++slot) {
                EXPECT_TRUE(part.holds(part.point(slot)));
                EXPECT_EQ(part.slot(part.point(slot)), slot);
            }
            return gathered(context, {double(part.begin_plane()), double(part.end_plane())});
        });
        EXPECT_EQ(begins.front(), 0.0);
        EXPECT_EQ(begins.back(), 11.0);
        for (std::size_t at = 1; at + 1 < begins.size(); at += 2) EXPECT_EQ(begins[at], begins[at + 1]);
    }
}

TEST(PartsOfRanks, AreCutAtMultiplesOfThePlanesThatStayTogether) {
    const Layout whole = whole_layout({3, 2, 11});
    const auto ends = [&](const Context& context) {
        return gathered(context, {double(part_of(context, whole, 2).end_plane())});
    };
    EXPECT_EQ(on_first_of(2, ends, 4), (RankValues{4, 11}));
    EXPECT_EQ(on_first_of(3, ends, 4), (RankValues{4, 8, 11}));
    EXPECT_EQ(on_first_of(4, ends, 2), (RankValues{2, 6, 8, 11}));
    on_each_rank(
        4,
        [&](const Context& context) {
            try {
                part_of(context, whole, 2);
                ADD_FAILURE() << "three groups of four planes were given to four ranks";
            } catch (const UsageError& error) {
                EXPECT_NE(std::string(error.what()).find("keep groups of 4 together"), std::string::npos)
                    << error.what();
            }
        },
        4);
}

void expect_no_part(int ranks, const Layout& whole, int halo, const std::string& text) {
    on_each_rank(ranks, [&](const Context& context) {
        try {
            part_of(context, whole, halo);
            ADD_FAILURE() << "expected: " << text;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
        }
    });
}

TEST(PartsOfRanks, RefuseWhatCannotBeCut) {
    expect_no_part(4, whole_layout({5, 4, 3}), 1,
                   "device.ranks = 4: the grid has 3 planes along z, and each rank needs 1");
    expect_no_part(3, whole_layout({5, 4, 5}), 2, "give 2 ranks or fewer");
    expect_no_part(2, whole_layout({5, 4, 1}), 0, "run it on one rank, or turn the grid: along x it has 5");
    expect_no_part(4, whole_layout({3, 7, 3}), 1, "give 3 ranks or fewer, or turn the grid: along y it has 7");
    expect_no_part(2, Layout(LayoutKind::hyperplane, reference::to_grid({5, 4, 9}), {1, 1}), 1, "device.layout");
}

/// A vector of random values, the same for any number of ranks.
Vector random_part(const Context& context, const Layout& part, int dof, std::uint64_t seed) {
    return reference::to_vector(context, part, dof, reference::Random(seed).vector(int(part.grid().points()) * dof));
}

class VectorsOnRanks : public testing::TestWithParam<reference::Box> {};
INSTANTIATE_TEST_SUITE_P(OnHost, VectorsOnRanks,
                         testing::Values(reference::Box{7, 5, 9}, reference::Box{67, 61, 5}, reference::Box{1, 3, 8}),
                         [](const auto& info) { return reference::name_of(info.param); });

TEST_P(VectorsOnRanks, SumsAndUpdatesHaveTheBitsOfOneRank) {
    constexpr int dof = 3;
    const auto everything = [&](const Context& context) {
        const Layout part = part_of(context, whole_layout(GetParam()), 1);
        const Vector x = random_part(context, part, dof, 1), y = random_part(context, part, dof, 2);
        Vector z = random_part(context, part, dof, 3);
        RankValues found{dot(x, y), norm2(x), sum(x, 2)};
        found.resize(12);
        double* to = found.data() + 3;
        axpy(0.3, x, z);
        axpy_norm2(-0.2, y, z, to);
        axpy_norm2_dot(0.7, x, z, y, to + 1, to + 2);
        const Vector* const columns[] = {&x, &y};
        dots(columns, z, to + 3);
        add_combination_dots(-1.0, to + 3, columns, z, to + 5);
        remove_mean(z);
        to[7] = norm2(z);
        PointValues values(context, part.grid(), "values");
        const VectorView view = values.view(part);
        for (Index slot = 0; slot < part.slots(); ++slot) view.at(slot) = x.component(1)[slot];
        const PointValue smallest = values.smallest(part);
        found.insert(found.end(), {values.sum(), smallest.value, double(part.grid().row(smallest.point)),
                                   value_at(x, smallest.point, 1), all_finite(x) ? 1.0 : 0.0});
        const RankValues saved = to_natural(z);
        Vector again(context, part, dof, "again");
        if (context.ranks()) {  // every rank restores its part of all values
            RankValues all = saved;
            all.resize(std::size_t(part.grid().points() * dof));
            all = gathered(context, all);
            all.resize(std::size_t(part.grid().points() * dof));  // those of the first rank
            from_natural(all, again);
        } else {
            from_natural(saved, again);
        }
        found.push_back(dot(again, z) - dot(z, z));
        found.insert(found.end(), saved.begin(), saved.end());
        return found;
    };
    const RankValues one = on_first_of(1, everything);
    EXPECT_GT(one.size(), std::size_t(GetParam().points() * dof));
    for (int ranks = 2; ranks <= 4; ++ranks) EXPECT_EQ(on_first_of(ranks, everything), one) << ranks << " ranks";
}

TEST_P(VectorsOnRanks, GatheredValuesTakeTheMemoryOfTheirNumber) {
    on_each_rank(3, [](const Context& context) {
        const Layout part = part_of(context, whole_layout(GetParam()), 1);
        const RankValues all = to_natural(random_part(context, part, 2, 1));
        EXPECT_EQ(Index(all.size()), is_first_rank(context) ? 2 * GetParam().points() : 0);
        EXPECT_EQ(all.capacity(), all.size());
    });
}

TEST_P(VectorsOnRanks, OneBadValueIsFoundByAllRanks) {
    for (int ranks = 1; ranks <= 3; ++ranks)
        on_each_rank(ranks, [&](const Context& context) {
            const Layout part = part_of(context, whole_layout(GetParam()), 1);
            Vector x = random_part(context, part, 2, 1);
            EXPECT_TRUE(all_finite(x));
            const Int3 last{part.grid().nx - 1, part.grid().ny - 1, part.grid().nz - 1};
            if (part.holds(last)) x(last, 1) = NAN;
            EXPECT_FALSE(all_finite(x));
        });
}

using RankedProduct = std::tuple<std::string, int, bool, reference::Box>;  // stencil, dof, symmetric
class ProductsOnRanks : public testing::TestWithParam<RankedProduct> {};
INSTANTIATE_TEST_SUITE_P(OnHost, ProductsOnRanks,
                         testing::Combine(testing::Values("star7", "star13", "box27", "skewed7", "scattered11"),
                                          testing::Values(1, 3), testing::Bool(),
                                          testing::Values(reference::Box{7, 6, 9},
                                                          reference::Box{7, 6, 9, {true, false, false}},
                                                          reference::Box{7, 6, 8, {false, true, true}})),
                         [](const auto& info) {
                             return std::get<0>(info.param) + "x" + std::to_string(std::get<1>(info.param)) +
                                    (std::get<2>(info.param) ? "symmetric" : "full") +
                                    reference::name_of(std::get<3>(info.param));
                         });

TEST_P(ProductsOnRanks, HaveTheBitsOfOneRank) {
    const auto& [stencil, dof, symmetric, box] = GetParam();
    const auto offsets = reference::stencil_named(stencil).offsets;
    const reference::StencilMatrix reference_matrix =
        symmetric ? reference::random_spd_matrix(box, offsets, dof, 5) : reference::random_matrix(box, offsets, dof, 5);
    const auto products = [&, dof = dof, symmetric = symmetric, box = box](const Context& context) {
        const Layout part = part_of(context, whole_layout(box), reference::radius(offsets));
        const StructMatrix a = reference::to_struct_matrix(context, part, reference_matrix,
                                                           symmetric ? MatrixStorage::lower : MatrixStorage::full);
        const Vector x = random_part(context, part, dof, 1), b = random_part(context, part, dof, 2);
        Vector y(context, part, dof, "y");
        RankValues found(1);
        const auto add = [&] {
            const RankValues values = to_natural(y);
            found.insert(found.end(), values.begin(), values.end());
        };
        a.apply_dot(x, y, found.data());
        add();
        a.apply(b, y);
        add();
        a.residual(b, x, y);
        add();
        a.subtract_product(b, x, y);
        add();
        return found;
    };
    const RankValues one = on_first_of(1, products);
    for (int ranks = 2; ranks <= 4; ++ranks) EXPECT_EQ(on_first_of(ranks, products), one) << ranks << " ranks";
}

/// Calls `before` before it receives.
class WatchedRanks final : public PassedOnRanks {
public:
    WatchedRanks(Ranks ranks, const std::function<void()>& before) : PassedOnRanks(std::move(ranks)), before_(before) {}
    void receive(int from, std::span<double> values) override {
        before_();
        PassedOnRanks::receive(from, values);
    }

private:
    const std::function<void()>& before_;
};

/// When a rank begins to wait for its halo, it has computed the planes that do not read it, and no others.
TEST(ProductsOfRanks, ComputeThePlanesThatReadNoHaloFirst) {
    const reference::Box box{7, 6, 12};
    const auto offsets = reference::stencil_named("star7").offsets;
    const reference::StencilMatrix matrix = reference::random_matrix(box, offsets, 1, 5);
    run_ranks(3, [&](const Ranks& ranks) {
        std::function<void()> before = [] {};
        const Context context = Context::cpu(1, std::make_shared<WatchedRanks>(ranks, before));
        const Layout part = part_of(context, whole_layout(box), 1);
        const StructMatrix a = reference::to_struct_matrix(context, part, matrix, MatrixStorage::full);
        const Vector x = random_part(context, part, 1, 1);
        Vector y(context, part, 1, "y");
        int received = 0;
        before = [&] {
            ++received;
            for (Index slot = 0; slot < part.slots(); ++slot) {
                const Index plane = slot / part.slots_of_plane();
                EXPECT_EQ(y.data()[slot] != 0.0, plane > 0 && plane < part.planes() - 1) << "plane " << plane;
            }
        };
        a.apply(x, y);
        before = [] {};
        EXPECT_EQ(received, ranks->rank() == 1 ? 2 : 1);
    });
}

}  // namespace
}  // namespace hyperplane
