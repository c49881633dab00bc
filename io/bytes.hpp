// SPDX-License-Identifier: BSD-3-Clause
// Memory for the bytes of large files: not set to zero before it is written, and enlarged without a copy.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

namespace hyperplane {

/// Asks for large pages for memory that has not been written yet: the system then gives, and clears, 2 MiB at a time.
inline void prefer_large_pages(void* memory, std::size_t bytes) {
    constexpr std::uintptr_t page = 4096;
    constexpr std::size_t worth_it = std::size_t(8) << 20;
    if (bytes < worth_it) return;
    const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;  // the first whole page
    // If the system does not follow, pages are small.
    madvise(static_cast<char*>(memory) + before, (bytes - before) / page * page, MADV_HUGEPAGE);
}

/// Bytes that are written once and then read.
class Bytes {
public:
    std::size_t size() const { return size_; }
    operator std::string_view() const { return {memory_.get(), size_}; }

    /// Makes the bytes so many and returns the first of them. What is added holds anything. Throws std::bad_alloc.
    char* resize(std::size_t size) {
        if (size > capacity_ && !try_reserve(std::max(size, 2 * capacity_)) && !try_reserve(size))
            throw std::bad_alloc();
        size_ = size;
        return memory_.get();
    }
    /// Makes room for a number of bytes that is likely to come, if the system gives it.
    bool try_reserve(std::size_t capacity) {
        if (capacity <= capacity_) return true;
        void* const moved = std::realloc(memory_.get(), capacity);  // moves large memory by its pages
        if (!moved) return false;
        static_cast<void>(memory_.release());  // realloc has freed it, or it is the same
        memory_.reset(static_cast<char*>(moved));
        prefer_large_pages(moved, capacity);
        capacity_ = capacity;
        return true;
    }
    /// Gives the memory of a part that is not read again back to the system, but for pages that hold other bytes, too.
    void forget(std::string_view part) {
        constexpr std::uintptr_t page = 4096;
        const auto begin = reinterpret_cast<std::uintptr_t>(part.data()), end = begin + part.size();
        const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
        if (first < last) madvise(memory_.get() + (first - address()), last - first, MADV_DONTNEED);
    }

private:
    std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.get()); }

    struct Free {
        void operator()(char* memory) const { std::free(memory); }
    };
    std::unique_ptr<char, Free> memory_;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace hyperplane
