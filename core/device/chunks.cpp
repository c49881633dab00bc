// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/chunks.hpp"

#include <algorithm>
#include <iterator>

#include "core/error.hpp"

namespace hyperplane::device {
namespace {

constexpr Index rounded(Index bytes, Index to) {
    return (bytes + to - 1) / to * to;
}

}  // namespace

Chunks::~Chunks() {
    for (const auto& [base, chunk] : chunks_)
        if (!chunk.exported) source_.free(base);
}

Chunks::Pieces::iterator Chunks::best_fit(Index bytes) {
    auto best = pieces_.end();
    for (auto at = pieces_.begin(); at != pieces_.end(); ++at)
        if (at->second.free && at->second.bytes >= bytes &&
            (best == pieces_.end() || at->second.bytes < best->second.bytes))
            best = at;
    return best;
}

Chunks::Pieces::iterator Chunks::new_chunk(Index bytes) {
    const Index exact = rounded(bytes, page), generous = std::max(exact, smallest);
    Index size = generous;
    void* memory = source_.allocate(size);
    if (!memory) {
        free_unused();
        memory = source_.allocate(size);
    }
    if (!memory && exact < generous) memory = source_.allocate(size = exact);
    if (!memory) return pieces_.end();
    auto* const base = static_cast<std::byte*>(memory);
    chunks_.emplace(base, Chunk{size});
    return pieces_.emplace(base, Piece{size, base, true}).first;
}

void Chunks::free_unused() {
    for (auto at = chunks_.begin(); at != chunks_.end();) {
        const auto piece = pieces_.find(at->first);
        const bool unused = piece->second.free && piece->second.bytes == at->second.bytes;
        if (!unused || at->second.exported) {
            ++at;
            continue;
        }
        source_.free(at->first);
        pieces_.erase(piece);
        at = chunks_.erase(at);
    }
}

void* Chunks::allocate(Index bytes) {
    const Index size = rounded(std::max<Index>(bytes, 1), alignment);
    auto piece = best_fit(size);
    if (piece == pieces_.end()) piece = new_chunk(size);
    if (piece == pieces_.end()) return nullptr;
    std::byte* const memory = piece->first;
    Piece& taken = piece->second;
    if (taken.bytes > size) pieces_.emplace(memory + size, Piece{taken.bytes - size, taken.chunk, true});
    taken.bytes = size;
    taken.free = false;
    return memory;
}

void Chunks::release(void* memory) {
    auto piece = pieces_.find(static_cast<std::byte*>(memory));
    if (piece == pieces_.end()) return;
    piece->second.free = true;
    const auto join = [&](Pieces::iterator first, Pieces::iterator second) {
        if (!first->second.free || !second->second.free || first->second.chunk != second->second.chunk) return false;
        first->second.bytes += second->second.bytes;
        pieces_.erase(second);
        return true;
    };
    if (piece != pieces_.begin())
        if (const auto before = std::prev(piece); join(before, piece)) piece = before;
    if (const auto after = std::next(piece); after != pieces_.end()) join(piece, after);
}

void* Chunks::exported(const void* address) {
    auto* const byte = static_cast<std::byte*>(const_cast<void*>(address));
    auto chunk = chunks_.upper_bound(byte);
    if (chunk != chunks_.begin()) {
        --chunk;
        if (byte <= chunk->first + chunk->second.bytes) {
            chunk->second.exported = true;
            return chunk->first;
        }
    }
    throw Error(ExitCode::internal, "an address was to be exported that lies in no chunk of device memory");
}

}  // namespace hyperplane::device
