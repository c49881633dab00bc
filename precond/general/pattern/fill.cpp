// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/pattern/fill.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <numeric>

#include "core/error.hpp"
#include "core/graph/graph.hpp"

namespace hyperplane {
namespace {

/// Lists of columns by row.
struct Lists {
    std::vector<Index> begin;
    std::vector<int> column;
};

/// Finds the columns j > i of row i that have a level up to k.
class Search {
public:
    Search(const BlockPattern& graph, int k) : graph_(graph), k_(k), met_(std::size_t(graph.rows()), -1) {}

    void row(int i, std::vector<int>& found) {
        const std::size_t first = found.size();
        ring_ = {i};
        met_[i] = i;
        for (int length = 0; length <= k_ && !ring_.empty(); ++length) {
            next_.clear();
            for (const int vertex : ring_)
                for (Index at = graph_.row_begin()[vertex]; at < graph_.row_begin()[vertex + 1]; ++at) {
                    const int j = graph_.column()[at];
                    if (met_[j] == i) continue;
                    met_[j] = i;
                    if (j > i)
                        found.push_back(j);
                    else
                        next_.push_back(j);
                }
            std::swap(ring_, next_);
        }
        std::sort(found.begin() + std::ptrdiff_t(first), found.end());
    }

private:
    const BlockPattern& graph_;
    int k_;
    std::vector<int> met_;          ///< the last row whose search has met a vertex
    std::vector<int> ring_, next_;  ///< vertices smaller than i at the same distance from it
};

/// Counts the entries that the searches for both triangles find, and stops their threads where no machine like this one
/// could hold the factors: a row with entries in most columns fills the whole matrix at level 1, and the search for
/// that would use up the memory of the machine, and minutes, before anything is allocated for the factors.
class Room {
public:
    /// `least`: so many entries will be found at least. Throws OutOfMemory if they are already too many.
    Room(int k, Index rows, Index least) : k_(k), rows_(rows) {
        if (least > most_) refuse(least);
    }

    /// Whether the search goes on after `found` more entries.
    bool has(Index found) { return !full_ && (count_ += found) <= most_; }
    /// Stops the search where `found` more entries have used up the memory.
    void close(Index found) {
        count_ += found;
        full_ = true;
    }
    /// Throws OutOfMemory if the search was stopped.
    void check() const {
        if (full_ || count_ > most_) refuse(count_);
    }

private:
    [[noreturn]] void refuse(Index least) const {
        throw OutOfMemory(fmt::format(
            "out of memory: with fill level {} the factors of {} rows have so many entries, at least {} above and "
            "below the diagonal together, that they do not fit into the memory, as rows or columns with very many "
            "entries cause; use a lower fill_level, or preconditioner.name = par_ilut, whose fill_limit bounds them",
            k_, rows_, least));
    }

    int k_;
    Index rows_;
    /// The entries that fit into the machine's memory: each takes 4 bytes of the pattern and 8 of the factors.
    const Index most_ = Index(sysconf(_SC_PHYS_PAGES)) * Index(sysconf(_SC_PAGESIZE)) / 12;
    std::atomic<Index> count_ = 0;
    std::atomic<bool> full_ = false;
};

/// The part above the diagonal of every row. Throws OutOfMemory.
Lists upper_fill(const BlockPattern& graph, int k, Room& room) {
    const Index rows = graph.rows();
    const int parts = graph.context().threads_for(graph.blocks());
    std::vector<std::vector<int>> found(std::size_t(parts), std::vector<int>{});
    Lists lists{std::vector<Index>(std::size_t(rows) + 1, 0), {}};
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int part = 0; part < parts; ++part) {
        constexpr Index often = 65536;
        Index fresh = 0;  // found, but not counted yet
        try {
            Search search(graph, k);
            for (Index i = graph.first_row(part, parts); i < graph.first_row(part + 1, parts); ++i) {
                const std::size_t before = found[part].size();
                search.row(int(i), found[part]);
                fresh += lists.begin[i + 1] = Index(found[part].size() - before);
                if (fresh < often) continue;
                if (!room.has(fresh)) break;
                fresh = 0;
            }
        } catch (const std::bad_alloc&) {
            room.close(fresh);
        }
    }
    room.check();
    std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
    lists.column.reserve(std::size_t(lists.begin.back()));
    for (std::vector<int>& part : found) {
        lists.column.insert(lists.column.end(), part.begin(), part.end());
        part = {};
    }
    return lists;
}

/// Rows and columns exchanged; columns ascend.
Lists transposed(const Lists& a, Index rows) {
    Lists t{std::vector<Index>(std::size_t(rows) + 1, 0), std::vector<int>(a.column.size())};
    for (const int j : a.column) ++t.begin[j + 1];
    std::partial_sum(t.begin.begin(), t.begin.end(), t.begin.begin());
    std::vector<Index> at(t.begin.begin(), t.begin.end() - 1);
    for (Index row = 0; row < rows; ++row)
        for (Index k = a.begin[row]; k < a.begin[row + 1]; ++k) t.column[at[a.column[k]]++] = int(row);
    return t;
}

/// Lower rows, the diagonal and upper rows as one pattern.
std::shared_ptr<const BlockPattern> joined(const Context& host, const Lists& lower, const Lists& upper, Index rows,
                                           const std::string& label) {
    Buffer<Index> row_begin(host, label, rows + 1);
    Buffer<int> column(host, label, Index(lower.column.size() + upper.column.size()) + rows);
    for (Index row = 0; row <= rows; ++row) row_begin[row] = lower.begin[row] + upper.begin[row] + row;
#pragma omp parallel for schedule(static) num_threads(host.threads_for(rows))
    for (Index row = 0; row < rows; ++row) {
        int* to = column.data() + row_begin[row];
        to = std::copy(lower.column.data() + lower.begin[row], lower.column.data() + lower.begin[row + 1], to);
        *to++ = int(row);
        std::copy(upper.column.data() + upper.begin[row], upper.column.data() + upper.begin[row + 1], to);
    }
    return std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column));
}

/// Where the diagonal blocks are, and how many there are and precede them.
struct Diagonals {
    Buffer<Index> place;  ///< [row]; -1: not stored
    Index missing = 0, below = 0;
};
Diagonals diagonals_of(const BlockPattern& p, const std::string& label) {
    Diagonals found{Buffer<Index>(p.context(), label, p.rows())};
    Index missing = 0, below = 0;
#pragma omp parallel for schedule(static) num_threads(p.context().threads_for(p.blocks())) reduction(+ : missing, below)
    for (Index row = 0; row < p.rows(); ++row) {
        const Index at = found.place[row] = p.find(row, int(row));
        missing += at < 0;
        below += at - p.row_begin()[row];
    }
    found.missing = missing;
    found.below = below;
    return found;
}

FilledPattern filled_as(const BlockPattern& a, std::shared_ptr<const BlockPattern> pattern, Diagonals diagonals,
                        const std::string& label) {
    const BlockPattern& p = *pattern;
    FilledPattern filled;
    if (&p != &a) filled.place = Buffer<int>(p.context(), label, a.blocks());
    filled.diagonal = std::move(diagonals.place);
    filled.lower = diagonals.below;
#pragma omp parallel for schedule(static) num_threads(p.context().threads_for(p.blocks()))
    for (Index row = 0; row < (&p != &a ? p.rows() : 0); ++row) {
        Index there = p.row_begin()[row];
        const Index end = p.row_begin()[row + 1];
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at) {
            while (there < end && p.column()[there] < a.column()[at]) ++there;
            const bool found = there < end && p.column()[there] == a.column()[at];
            filled.place[at] = found ? int(there - p.row_begin()[row]) : -1;
        }
    }
    filled.pattern = std::move(pattern);
    return filled;
}

}  // namespace

Index least_fill_above(const BlockPattern& a) {
    const Index* const begin = a.row_begin();
    const int* const column = a.column();
    Index sum = 0;
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.blocks())) reduction(+ : sum)
    for (Index i = 0; i < a.rows(); ++i) {
        const auto beyond_i = [&](Index row) {
            const int* const end = column + begin[row + 1];
            return Index(end - std::upper_bound(column + begin[row], end, int(i)));
        };
        Index most = beyond_i(i);
        for (Index at = begin[i]; at < begin[i + 1] && column[at] < i; ++at)
            if (const Index m = column[at]; begin[m + 1] - begin[m] > most) most = std::max(most, beyond_i(m));
        sum += most;
    }
    return sum;
}

FilledPattern filled_pattern(const Context& host, const std::shared_ptr<const BlockPattern>& a, int k,
                             const std::string& label) {
    if (k == 0)
        if (Diagonals diagonals = diagonals_of(*a, label); diagonals.missing == 0)
            return filled_as(*a, a, std::move(diagonals), label);
    const BlockPattern mirrored = transposed(*a, label);
    Room room(k, a->rows(), k > 0 ? least_fill_above(*a) + least_fill_above(mirrored) : 0);
    const Lists upper = upper_fill(*a, k, room), lower = transposed(upper_fill(mirrored, k, room), a->rows());
    return filled_as(*a, joined(host, lower, upper, a->rows(), label), label);
}

FilledPattern filled_as(const BlockPattern& a, std::shared_ptr<const BlockPattern> pattern, const std::string& label) {
    Diagonals diagonals = diagonals_of(*pattern, label);
    return filled_as(a, std::move(pattern), std::move(diagonals), label);
}

}  // namespace hyperplane
