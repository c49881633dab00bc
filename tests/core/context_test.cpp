// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/context.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "core/error.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {
namespace {

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

/// Runs in a process of its own, in which no earlier test has chosen a GPU.
TEST(DeviceDeathTest, HasNoPropertiesBeforeItIsChosen) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto ask = [] {
        try {
            std::exit(device::chosen() ? 2 : device::properties().multiprocessors);
        } catch (const Error& error) {
            std::exit(error.code() == ExitCode::internal ? 42 : 1);
        }
    };
    EXPECT_EXIT(ask(), testing::ExitedWithCode(42), "");
}

TEST(Memory, CopiesOfAContextShareOneLedger) {
    const Context context = Context::cpu(1);
    const Context copy = context;
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

}  // namespace
}  // namespace hyperplane
