// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/block_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/error.hpp"

namespace hyperplane {
namespace {

/// The number of levels of the rows in the order of `row_at(step)`, by the columns that `before(row, column)` tells.
template <class RowAt, class Before>
Index count_levels(const BlockPattern& p, const RowAt& row_at, const Before& before) {
    std::vector<int> level(std::size_t(p.rows()), 0);
    int levels = 0;
    for (Index step = 0; step < p.rows(); ++step) {
        const Index row = row_at(step);
        int own = 0;
        for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1]; ++at)
            if (const Index j = p.column()[at]; before(row, j)) own = std::max(own, level[j]);
        level[row] = own + 1;
        levels = std::max(levels, own + 1);
    }
    return levels;
}

/// A number for the pair (low, high), which looks random (the finaliser of splitmix64). Sums over pairs tell whether
/// two sets of pairs are the same without a look-up of each in the other: two such sums of different sets are equal
/// with a probability of about 2^-128.
std::uint64_t number_of_pair(Index low, Index high) {
    std::uint64_t x = (std::uint64_t(high) << 32 | std::uint64_t(low)) + 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

}  // namespace

BlockPattern::BlockPattern(Buffer<Index> row_begin, Buffer<int> column, std::shared_ptr<const RowOrder> order,
                           std::shared_ptr<const RowSlab> slab, std::shared_ptr<const BlockPattern> whole)
    : row_begin_(std::move(row_begin)),
      column_(std::move(column)),
      order_(std::move(order)),
      slab_(std::move(slab)),
      whole_(std::move(whole)) {
    if (backend() == Backend::cpu) check();
}

BlockPattern::BlockPattern(const Context& context, const std::vector<Index>& row_begin, const std::vector<int>& column,
                           const std::string& label)
    : row_begin_(hyperplane::copied_to(context, label, row_begin)),
      column_(hyperplane::copied_to(context, label, column)) {
    if (rows() > most_block_rows)
        throw UsageError(fmt::format("a matrix of {} block rows has more than {}, the most that 32-bit columns count",
                                     rows(), most_block_rows));
    if (backend() == Backend::cpu) check();
}

void BlockPattern::check() const {
    const Index least = slab_ ? -slab_->before : 0, end_of_columns = slab_ ? slab_->rows_in_memory() + least : rows();
    Index first_bad = row_begin_[0] == 0 && row_begin_[rows()] == blocks() ? rows() : 0;
#pragma omp parallel for schedule(static) num_threads(context().threads_for(blocks())) reduction(min : first_bad)
    for (Index row = 0; row < rows(); ++row) {
        const Index begin = row_begin_[row], end = row_begin_[row + 1];
        bool good = begin >= 0 && begin <= end && end <= blocks();
        for (Index at = begin; good && at < end; ++at)
            good =
                column_[at] >= least && column_[at] < end_of_columns && (at == begin || column_[at - 1] < column_[at]);
        if (!good) first_bad = std::min(first_bad, row);
    }
    if (first_bad < rows() || (rows() == 0 && blocks() > 0))
        throw Error(ExitCode::internal,
                    fmt::format("a pattern of {} block rows: the columns of row {} do not ascend within the matrix",
                                rows(), first_bad));
}

std::shared_ptr<const BlockPattern> BlockPattern::copied_to(const Context& context, const std::string& label) const {
    Buffer<Index> row_begin(context, label, row_begin_.size());
    Buffer<int> column(context, label, column_.size());
    const auto copy = [](const auto& from, auto& to) {
        const Index bytes = from.size() * Index(sizeof(*from.data()));
        if (from.backend() == Backend::cuda || to.backend() == Backend::cuda)
            copy_between(from.context(), from.data(), to.context(), to.data(), bytes);
        else
            std::copy(from.begin(), from.end(), to.begin());
    };
    copy(row_begin_, row_begin);
    copy(column_, column);
    return std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column), order_, slab_, whole_);
}

Index BlockPattern::first_row(int part, int parts) const {
    if (part >= parts) return rows();
    // A row costs about as much as one block more. row_begin[i] + i ascends, so the place is found by bisection.
    const Index target = Index(double(blocks() + rows()) * part / parts);
    Index low = 0, high = rows();
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (row_begin_[middle] + middle < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

Index BlockPattern::blocks_in_long_rows() const {
    Index all = 0;
#pragma omp parallel for schedule(static) num_threads(context().threads_for(rows())) reduction(+ : all)
    for (Index row = 0; row < rows(); ++row)
        if (const Index length = row_begin_[row + 1] - row_begin_[row]; is_long_row(length)) all += length;
    return all;
}

PatternStatistics BlockPattern::statistics() const {
    if (slab_) return slab_->whole;
    const int threads = context().threads_for(blocks());
    Index shortest = rows() > 0 ? blocks() : 0, longest = 0, lower = 0, upper = 0, missing = 0;
    std::uint64_t sum = 0, other_sum = 0;  // of the blocks below the diagonal, less those of blocks above it
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : shortest) \
    reduction(max : longest, lower, upper) reduction(+ : missing, sum, other_sum)
    for (Index row = 0; row < rows(); ++row) {
        const Index begin = row_begin_[row], end = row_begin_[row + 1];
        shortest = std::min(shortest, end - begin);
        longest = std::max(longest, end - begin);
        bool diagonal = false;
        for (Index at = begin; at < end; ++at) {
            const Index j = column_[at];
            const std::uint64_t number = j == row ? 0 : number_of_pair(std::min(row, j), std::max(row, j));
            const std::uint64_t counted = j < row ? number : -number;
            sum += counted;
            other_sum += counted * (number ^ 0xd1b54a32d192ed03U);
            diagonal |= j == row;
        }
        if (begin < end) {
            lower = std::max(lower, row - column_[begin]);
            upper = std::max(upper, column_[end - 1] - row);
        }
        missing += !diagonal;
    }
    const bool symmetric = sum == 0 && other_sum == 0;
    Index lower_levels = 0, upper_levels = 0;
#pragma omp parallel sections num_threads(std::min(threads, 2))
    {
#pragma omp section
        lower_levels = count_levels(
            *this, [](Index step) { return step; }, [](Index row, Index j) { return j < row; });
#pragma omp section
        if (!symmetric)
            upper_levels = count_levels(
                *this, [&](Index step) { return rows() - 1 - step; }, [](Index row, Index j) { return j > row; });
    }
    // The chains of rows of a symmetric pattern are the same in both directions.
    if (symmetric) upper_levels = lower_levels;
    return {rows(),
            blocks(),
            shortest,
            longest,
            lower,
            upper,
            lower_levels,
            upper_levels,
            missing,
            symmetric,
            blocks_in_long_rows()};
}

}  // namespace hyperplane
