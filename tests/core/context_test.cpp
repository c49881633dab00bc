// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/context.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "core/device/for_each_element.hpp"
#include "core/error.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/random.hpp"
#include "core/vector/blas1.hpp"
#include "on_device.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

/// Nothing that follows from the matrix's values, so it is no SetupError, which a shorter time step might mend.
TEST(ForEachElement, RefusesMorePointsThan32BitsCount) {
    const auto nothing = [](int, int) { FAIL(); };
    EXPECT_THROW(for_each_element(Context::cpu(1), Index(1) << 31, 1, "test", nothing), UsageError);
}

TEST(Ledger, KnowsWhatIsHeldAndWhatWasHeldAtThePeak) {
    MemoryLedger ledger;
    ledger.add("matrix", 100);
    ledger.add("factors", 50);
    ledger.remove("matrix", 100);
    ledger.add("krylov", 30);
    EXPECT_EQ(ledger.held(), 80);
    EXPECT_EQ(ledger.peak(), 150);
    EXPECT_EQ(ledger.peak_by_label().at("matrix"), 100);
    EXPECT_EQ(ledger.peak_by_label().at("factors"), 50);
    EXPECT_EQ(ledger.peak_by_label().count("krylov"), 0u);
    EXPECT_EQ(ledger.by_label().at("krylov"), 30);
}

TEST(Ledger, APeakCanBeForgotten) {
    MemoryLedger ledger;
    ledger.add("matrix", 100);
    ledger.add("factors", 50);
    ledger.remove("factors", 50);
    ledger.forget_peak();
    EXPECT_EQ(ledger.peak(), 100);
    EXPECT_EQ(ledger.peak_by_label().at("factors"), 0);
    ledger.add("krylov", 30);
    EXPECT_EQ(ledger.peak(), 130);
    EXPECT_EQ(ledger.peak_by_label().at("krylov"), 30);
}

TEST(Ledger, TableNamesTheLargestFirst) {
    MemoryLedger ledger;
    ledger.add("small", 1 << 20);
    ledger.add("large", 8 << 20);
    ledger.add("gone", 5);
    ledger.remove("gone", 5);
    const std::string table = ledger.table();
    ASSERT_NE(table.find("small"), std::string::npos);
    EXPECT_LT(table.find("large"), table.find("small"));
    EXPECT_EQ(table.find("gone"), std::string::npos);
    EXPECT_NE(table.find("9.0 MiB"), std::string::npos) << table;
}

TEST(Memory, IsAlignedZeroAndReturned) {
    const Context context = Context::cpu(1);
    {
        Buffer<double> a(context, "a", 13);
        Buffer<int> b(context, "b", 7);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0u);
        for (double value : a) EXPECT_EQ(value, 0.0);
        EXPECT_EQ(context.ledger().held(), 13 * 8 + 7 * 4);
        EXPECT_EQ(context.ledger().by_label().at("b"), 28);
        Buffer<double> taken = std::move(a);
        EXPECT_EQ(taken.size(), 13);
        taken = Buffer<double>(context, "c", 2);
        taken = Buffer<double>();
        EXPECT_NO_THROW(Buffer<double>(context, "empty", 0));
    }
    EXPECT_EQ(context.ledger().held(), 0);
    for (const auto& [label, bytes] : context.ledger().by_label()) EXPECT_EQ(bytes, 0) << label;
}

class ContextsOnDevice : public testing_support::DeviceTest {};

/// Sums of two contexts on one GPU, whose kernels may run at the same time, are those of one alone.
TEST_F(ContextsOnDevice, OnOneGpuHaveStreamsOfTheirOwn) {
    const Layout layout(LayoutKind::natural, Grid{.nx = 97, .ny = 89, .nz = 83}, {});
    const auto sums = [&](const Context& context, std::uint64_t seed) {
        Vector x(context.host(), layout, 1, "x"), there(context, layout, 1, "x"), other(context, layout, 1, "y");
        for (Index at = 0; at < x.size(); ++at) x.data()[at] = random_symmetric(seed, std::uint64_t(at));
        transfer(x, there);
        std::vector<double> found;
        for (int turn = 0; turn < 200; ++turn) {
            copy(there, other);
            axpy(0.01 * turn, there, other);
            found.push_back(dot(there, other));
        }
        return found;
    };
    const Context one = Context::cuda(), two = Context::cuda();
    EXPECT_NE(one.stream().handle(), two.stream().handle());
    const std::vector<double> first = sums(one, 1), second = sums(two, 2);
    std::vector<double> beside;
    std::thread side([&] { beside = sums(two, 2); });
    EXPECT_EQ(sums(one, 1), first);
    side.join();
    EXPECT_EQ(beside, second);
}

TEST_F(ContextsOnDevice, CopyBetweenTheirStreamsInOrder) {
    const Layout layout(LayoutKind::natural, Grid{.nx = 97, .ny = 89, .nz = 83}, {});
    const Context one = Context::cuda(), two = Context::cuda();
    Vector from(one, layout, 1, "from"), to(two, layout, 1, "to");
    for (int turn = 1; turn <= 50; ++turn) {
        fill(from, double(turn));
        transfer(from, to);
        fill(from, -1.0);
        EXPECT_EQ(sum(to, 0), double(turn) * double(to.size()));
    }
}

TEST(Contexts, OfACpuHaveNoStream) {
    EXPECT_THROW(Context::cpu(1).stream(), Error);
}

TEST(Memory, CopiesOfAContextShareOneLedger) {
    const Context context = Context::cpu(1);
    const Context copy = context;  // NOLINT(performance-unnecessary-copy-initialization): its ledger is tested
    const Buffer<double> buffer(copy, "x", 4);
    EXPECT_EQ(context.ledger().held(), 32);
}

TEST(Memory, ARefusalShowsTheLedger) {
    const Context context = Context::cpu(1);
    const Buffer<double> held(context, "held before", 1 << 18);
    context.set_allocation_gate([](const std::string& label, Index bytes) { return label != "wanted" || bytes < 100; });
    EXPECT_NO_THROW(Buffer<double>(context, "wanted", 12));
    try {
        const Buffer<double> wanted(context, "wanted", 13);
        FAIL();
    } catch (const OutOfMemory& error) {
        EXPECT_EQ(error.code(), ExitCode::out_of_memory);
        const std::string message = error.what();
        EXPECT_NE(message.find("wanted"), std::string::npos) << message;
        EXPECT_NE(message.find("held before"), std::string::npos) << message;
        EXPECT_NE(message.find("2.0 MiB"), std::string::npos) << message;
    }
    EXPECT_EQ(context.ledger().held(), 1 << 21);
}

TEST(Memory, WhatTheMachineDoesNotHaveIsOutOfMemory) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer ends the program at such a request";
#endif
    const Context context = Context::cpu(1);
    EXPECT_THROW(Buffer<double>(context, "absurd", Index(1) << 56), OutOfMemory);
    EXPECT_EQ(context.ledger().held(), 0);
}

TEST(Memory, FailingAtAnyAllocationLeaksNothing) {
    Grid grid;
    grid.nx = 5;
    const Layout layout(LayoutKind::natural, grid, {});
    int allocations = 0;
    for (int failing = 0;; ++failing) {
        const Context context = Context::cpu(1);
        int count = 0;
        context.set_allocation_gate([&](const std::string&, Index) { return count++ != failing; });
        bool failed = false;
        try {
            const StructMatrix a(context, layout, Stencil::star7(), 2);
            Vector x(context, layout, 2, "x"), y(context, layout, 2, "y");
            a.apply(x, y);
        } catch (const OutOfMemory&) {
            failed = true;
        }
        EXPECT_EQ(context.ledger().held(), 0);
        if (!failed) break;
        ++allocations;
    }
    EXPECT_EQ(allocations, 3);
}

/// The numbers of threads that took part in loops over a context's data.
std::vector<int> threads_seen(const Context& context) {
    const Layout layout(LayoutKind::natural, Grid{.nx = 5, .ny = 7, .nz = 9}, {});
    std::vector<int> seen(std::size_t(layout.slots()));
    for_each_point(context, layout, [&](Int3, Index slot) { seen[slot] = omp_get_num_threads(); });
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    return seen;
}

TEST(Contexts, OfDifferentNumbersOfThreadsWorkSideBySide) {
    const Context one = Context::cpu(1), three = Context::cpu(3);
    EXPECT_EQ(one.threads(), 1);
    EXPECT_EQ(three.threads(), 3);
    const SeveralThreads also_few(one, 1), also_on_small_grids(three, 3);
    std::vector<int> of_one, of_three;
    std::thread side([&] { of_one = threads_seen(one); });
    of_three = threads_seen(three);
    side.join();
    EXPECT_EQ(of_one, std::vector<int>{1});
    EXPECT_EQ(of_three, std::vector<int>{3});
}

TEST(Contexts, GiveTheSameBitsSideBySide) {
    const auto norm_on = [](const Context& context) {
        const Layout layout(LayoutKind::natural, Grid{.nx = 67, .ny = 13, .nz = 7}, {});
        Vector x(context, layout, 2, "x");
        for (Index at = 0; at < x.size(); ++at) x.data()[at] = 1.0 / double(at + 3);
        for (int turn = 0; turn < 50; ++turn) axpy(0.01, x, x);
        return norm2(x);
    };
    const Context one = Context::cpu(1), three = Context::cpu(3);
    const SeveralThreads also_few(one, 1), also_on_small_grids(three, 3);
    double of_one = 0.0;
    std::thread side([&] { of_one = norm_on(one); });
    const double of_three = norm_on(three);
    side.join();
    EXPECT_EQ(of_one, of_three);
}

TEST(Memory, MovesToAnotherContextAndStaysInItsOwn) {
    const Context one = Context::cpu(1), other = Context::cpu(1);
    Buffer<int> made = copied_to(one, "made", std::vector<int>{3, 1, 4});
    const int* const before = made.data();
    Buffer<int> same = moved_to(Context(one), "moved", std::move(made));
    EXPECT_EQ(same.data(), before);
    const Buffer<int> moved = moved_to(other, "moved", std::move(same));
    EXPECT_TRUE(moved.context().is(other));
    EXPECT_EQ(std::vector<int>(moved.begin(), moved.end()), (std::vector<int>{3, 1, 4}));
    EXPECT_EQ(other.ledger().held(), 3 * Index(sizeof(int)));
    EXPECT_EQ(one.ledger().held(), 0);
}

TEST(Contexts, LeaveTheDefaultOfOpenMpAlone) {
    const int before = omp_get_max_threads();
    const Context context = Context::cpu(before + 2);
    EXPECT_EQ(omp_get_max_threads(), before);
    EXPECT_EQ(Context::cpu().threads(), before);
    EXPECT_EQ(Context::cpu(before + 2).host().threads(), before + 2);
}

}  // namespace
}  // namespace hyperplane
