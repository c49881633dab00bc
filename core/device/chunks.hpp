// SPDX-License-Identifier: BSD-3-Clause
// Chunks: memory that is given out again after it was released, within chunks that stay where they are.
//
// Ranks that are processes map each other's memory (core/ranks/peers_cuda.hpp), and memory that another process has
// mapped must not be freed. A chunk that was exported is therefore kept, and what lies in it may be released and
// allocated like any other memory: no process has to be asked.
#pragma once

#include <cstddef>
#include <functional>
#include <map>

#include "core/types.hpp"

namespace hyperplane::device {

class Chunks {
public:
    /// Where chunks come from: `allocate` returns null if there is not enough.
    struct Source {
        std::function<void*(Index bytes)> allocate;
        std::function<void(void* chunk)> free;
    };
    static constexpr Index alignment = 512;
    static constexpr Index page = Index(2) << 20;       ///< sizes of chunks are multiples of it
    static constexpr Index smallest = Index(32) << 20;  ///< a chunk's size, if there is room

    explicit Chunks(Source source) : source_(std::move(source)) {}
    /// Frees the chunks that were never exported. The others last as long as the process.
    ~Chunks();
    Chunks(const Chunks&) = delete;
    Chunks& operator=(const Chunks&) = delete;

    /// The smallest free piece that is large enough, or a new chunk; null if there is not enough memory.
    void* allocate(Index bytes);
    void release(void* memory);
    /// The first address of the chunk that holds an address, or at whose end it is, as that of an empty array may be.
    /// The chunk counts as exported from now on. Throws Error (internal) for an address that is in none.
    void* exported(const void* address);

private:
    struct Chunk {
        Index bytes;
        bool exported = false;
    };
    /// Pieces of a chunk follow one another without gaps.
    struct Piece {
        Index bytes;
        std::byte* chunk;
        bool free;
    };
    using Pieces = std::map<std::byte*, Piece>;

    Pieces::iterator best_fit(Index bytes);
    Pieces::iterator new_chunk(Index bytes);
    /// Frees chunks of which nothing is used and which were never exported.
    void free_unused();

    Source source_;
    std::map<std::byte*, Chunk> chunks_;
    Pieces pieces_;
};

}  // namespace hyperplane::device
