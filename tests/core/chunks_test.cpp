// SPDX-License-Identifier: BSD-3-Clause
// Memory in chunks: pieces do not overlap, what is released is given out again, and what was exported is never freed.
#include "core/device/chunks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>

#include "core/error.hpp"
#include "reference/block_matrix.hpp"

namespace hyperplane::device {
namespace {

/// Host memory with a limit, as a device's.
struct Memory {
    Index limit;
    std::map<void*, Index> chunks{};

    Index held() const {
        Index sum = 0;
        for (const auto& [chunk, bytes] : chunks) sum += bytes;
        return sum;
    }
    ~Memory() {
        for (const auto& [chunk, bytes] : chunks) std::free(chunk);
    }
    Chunks::Source source() {
        return {[this](Index bytes) -> void* {
                    if (held() + bytes > limit) return nullptr;
                    void* const chunk = std::aligned_alloc(std::size_t(Chunks::alignment), std::size_t(bytes));
                    chunks[chunk] = bytes;
                    return chunk;
                },
                [this](void* chunk) {
                    EXPECT_EQ(chunks.erase(chunk), 1U);
                    std::free(chunk);
                }};
    }
};

constexpr Index mebi = Index(1) << 20;

TEST(Chunks, PiecesAreAlignedAndDoNotOverlap) {
    Memory memory{Index(1) << 40};
    Chunks chunks(memory.source());
    reference::Random random(1);
    std::map<std::byte*, Index> held;
    for (int turn = 0; turn < 3000; ++turn) {
        if (!held.empty() && random() > 0.1) {
            auto victim = held.begin();
            std::advance(victim, std::ptrdiff_t(double(held.size() - 1) * std::abs(random())));
            chunks.release(victim->first);
            held.erase(victim);
            continue;
        }
        const Index bytes = 1 + Index(std::abs(random()) * (turn % 7 == 0 ? 5e7 : 3e5));
        auto* const piece = static_cast<std::byte*>(chunks.allocate(bytes));
        ASSERT_NE(piece, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % std::uintptr_t(Chunks::alignment), 0U);
        const auto after = held.lower_bound(piece);
        EXPECT_TRUE(after == held.end() || piece + bytes <= after->first);
        EXPECT_TRUE(after == held.begin() || std::prev(after)->first + std::prev(after)->second <= piece);
        held[piece] = bytes;
    }
    for (const auto& [piece, bytes] : held) chunks.release(piece);
    const Index before = memory.held();
    for (const auto& [chunk, bytes] : memory.chunks) EXPECT_NE(chunks.allocate(bytes), nullptr);
    EXPECT_EQ(memory.held(), before) << "neighbouring free pieces were not joined";
}

TEST(Chunks, WhatIsReleasedIsGivenOutAgain) {
    Memory memory{Index(1) << 40};
    Chunks chunks(memory.source());
    void* const large = chunks.allocate(100 * mebi);
    void* const small = chunks.allocate(mebi);
    EXPECT_EQ(memory.held(), 100 * mebi + Chunks::smallest);
    chunks.release(large);
    EXPECT_EQ(chunks.allocate(90 * mebi), large);
    EXPECT_EQ(chunks.allocate(10 * mebi), static_cast<std::byte*>(large) + 90 * mebi) << "the smallest piece that fits";
    chunks.release(small);
    EXPECT_EQ(chunks.allocate(31 * mebi), small);
    EXPECT_EQ(memory.held(), 100 * mebi + Chunks::smallest);
}

TEST(Chunks, ExportedChunksAreNeverFreed) {
    Memory memory{200 * mebi};
    {
        Chunks chunks(memory.source());
        auto* const kept = static_cast<std::byte*>(chunks.allocate(60 * mebi));
        void* const other = chunks.allocate(60 * mebi);
        EXPECT_EQ(chunks.exported(kept + 5 * mebi), kept);
        chunks.release(kept);
        chunks.release(other);
        // Too large for either, so the one that was not exported makes room.
        void* const third = chunks.allocate(130 * mebi);
        ASSERT_NE(third, nullptr);
        EXPECT_EQ(memory.chunks.count(kept), 1U);
        EXPECT_EQ(memory.held(), 190 * mebi);
        EXPECT_EQ(chunks.allocate(60 * mebi), kept);
    }
    EXPECT_EQ(memory.held(), 60 * mebi);
}

TEST(Chunks, TheLastMemoryIsTakenBeforeThereIsNone) {
    Memory memory{10 * mebi};
    Chunks chunks(memory.source());
    EXPECT_NE(chunks.allocate(3 * mebi), nullptr) << "a chunk of the usual size has no room";
    EXPECT_NE(chunks.allocate(6 * mebi), nullptr);
    EXPECT_EQ(chunks.allocate(3 * mebi), nullptr);
    EXPECT_NE(chunks.allocate(mebi), nullptr) << "in the rest of the first chunk";
}

TEST(Chunks, AForeignAddressIsNotExported) {
    Memory memory{Index(1) << 40};
    Chunks chunks(memory.source());
    int foreign = 0;
    EXPECT_THROW(chunks.exported(&foreign), Error);
    auto* const piece = static_cast<std::byte*>(chunks.allocate(40 * mebi));
    EXPECT_EQ(chunks.exported(piece + 40 * mebi - 1), piece);
    EXPECT_EQ(chunks.exported(piece + 40 * mebi), piece) << "the end of an array of which nothing is copied";
    EXPECT_THROW(chunks.exported(piece + 40 * mebi + 1), Error);
}

}  // namespace
}  // namespace hyperplane::device
