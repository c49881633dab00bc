// SPDX-License-Identifier: BSD-3-Clause
#include "apps/library/sparse_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/device/place.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "pattern of the matrix";

/// Throws UsageError unless the lengths of the arrays fit together.
template <class Pointer>
void check_lengths(const SparseMatrix& a, std::span<const Pointer> row_begin) {
    if (a.block < 1 || a.block > max_dof)
        throw UsageError(fmt::format("SparseMatrix::block is {}; a block has 1 to {} rows", a.block, max_dof));
    if (row_begin.size() < 2)
        throw UsageError("SparseMatrix has no rows: row_begin must have one value more than there are block rows");
    if (Index(row_begin.size()) - 1 > most_block_rows)
        throw UsageError(fmt::format("SparseMatrix has {} block rows, more than {}, the most that 32-bit columns count",
                                     row_begin.size() - 1, most_block_rows));
    if (row_begin.front() != 0)
        throw UsageError(
            fmt::format("SparseMatrix::row_begin begins with {}; it must begin with 0", row_begin.front()));
    if (Index(row_begin.back()) != Index(a.columns.size()))
        throw UsageError(
            fmt::format("SparseMatrix::row_begin ends with {}, but there are {} columns; the last value is "
                        "the number of blocks",
                        row_begin.back(), a.columns.size()));
    const Index values = Index(a.columns.size()) * a.block * a.block;
    if (Index(a.values.size()) != values)
        throw UsageError(fmt::format("SparseMatrix::values has {} elements, but {} blocks of {} x {} have {}",
                                     a.values.size(), a.columns.size(), a.block, a.block, values));
}

/// A message that says what is wrong with a block row; empty if nothing is.
template <class Pointer>
std::string fault_of(const SparseMatrix& a, std::span<const Pointer> row_begin, Index row) {
    const Index rows = Index(row_begin.size()) - 1, begin = row_begin[row], end = row_begin[row + 1];
    if (begin > end || begin < 0 || end > Index(a.columns.size()))
        return fmt::format(
            "SparseMatrix::row_begin[{}] is {}, after {}: values must ascend up to the number of blocks, {}", row + 1,
            end, begin, a.columns.size());
    for (Index at = begin; at < end; ++at) {
        if (a.columns[at] < 0 || a.columns[at] >= rows)
            return fmt::format(
                "SparseMatrix::columns: row {} (counted from 0) has a block in column {}, but the matrix has {} block "
                "rows and columns",
                row, a.columns[at], rows);
        if (at > begin && a.columns[at - 1] >= a.columns[at])
            return fmt::format(
                "SparseMatrix::columns: row {} (counted from 0) has column {} after column {}; sort the columns of "
                "each row, and add up what is there twice",
                row, a.columns[at], a.columns[at - 1]);
    }
    return "";
}

/// The rows and columns of a matrix in the host's memory: the matrix itself, or a copy of those on a GPU.
class OnHost {
public:
    OnHost(const Context& context, const SparseMatrix& a) : matrix_(a) {
        if (!lies_there(context, a)) return;
        std::visit([&](auto row_begin) { take(context, row_begin); }, a.row_begin);
        columns_ = copied(context, a.columns);
        matrix_.columns = columns_;
    }
    OnHost(const OnHost&) = delete;
    OnHost& operator=(const OnHost&) = delete;
    const SparseMatrix& operator*() const { return matrix_; }

private:
    template <class T>
    static std::vector<T> copied(const Context& context, std::span<const T> from) {
        std::vector<T> made(from.size());
        context.stream().copy(from.data(), made.data(), Index(from.size() * sizeof(T)));
        return made;
    }
    void take(const Context& context, std::span<const std::int64_t> from) {
        wide_ = copied(context, from);
        matrix_.row_begin = std::span<const std::int64_t>(wide_);
    }
    void take(const Context& context, std::span<const std::int32_t> from) {
        narrow_ = copied(context, from);
        matrix_.row_begin = std::span<const std::int32_t>(narrow_);
    }

    SparseMatrix matrix_;
    std::vector<std::int64_t> wide_;
    std::vector<std::int32_t> narrow_, columns_;
};

std::shared_ptr<const BlockPattern> pattern_on_host(const Context& host, const SparseMatrix& a) {
    return std::visit(
        [&](auto row_begin) {
            check_lengths(a, row_begin);
            const Index rows = Index(row_begin.size()) - 1, blocks = Index(a.columns.size());
            Index first_bad = rows;
#pragma omp parallel for schedule(static) num_threads(host.threads_for(blocks)) reduction(min : first_bad)
            for (Index row = 0; row < rows; ++row)
                if (row < first_bad && !fault_of(a, row_begin, row).empty()) first_bad = row;
            if (first_bad < rows) throw UsageError(fault_of(a, row_begin, first_bad));

            Buffer<Index> pointers(host, label, rows + 1);
            Buffer<int> columns(host, label, blocks);
            std::copy(row_begin.begin(), row_begin.end(), pointers.begin());
            std::copy(a.columns.begin(), a.columns.end(), columns.begin());
            return std::make_shared<const BlockPattern>(std::move(pointers), std::move(columns));
        },
        a.row_begin);
}

}  // namespace

bool lies_there(const Context& context, const void* array, const char* name) {
    if (context.backend() == Backend::cpu) return false;
    const std::optional<int> gpu = device::place_of(array);
    const int own = context.stream().properties().ordinal;
    if (gpu && *gpu != own)
        throw UsageError(
            fmt::format("{} lies in the memory of GPU {}, and the solver works on GPU {}; give SolverSettings::gpu the "
                        "number of the GPU that has the arrays",
                        name, *gpu, own));
    return gpu.has_value();
}

bool lies_there(const Context& context, const SparseMatrix& a) {
    const void* const rows =
        std::visit([](auto row_begin) { return static_cast<const void*>(row_begin.data()); }, a.row_begin);
    const bool there = lies_there(context, rows, "SparseMatrix::row_begin");
    if (lies_there(context, a.columns.data(), "SparseMatrix::columns") != there ||
        lies_there(context, a.values.data(), "SparseMatrix::values") != there)
        throw UsageError(
            "SparseMatrix: some of its arrays lie in the host's memory and some in a GPU's; all three must lie in one");
    return there;
}

std::shared_ptr<const BlockPattern> pattern_of(const Context& context, const SparseMatrix& a) {
    return pattern_on_host(context.host(), *OnHost(context, a));
}

bool has_pattern(const Context& context, const SparseMatrix& given, const BlockPattern& pattern) {
    const OnHost on_host(context, given);
    const SparseMatrix& a = *on_host;
    return std::visit(
        [&](auto row_begin) {
            return std::equal(row_begin.begin(), row_begin.end(), pattern.row_begin(),
                              pattern.row_begin() + pattern.rows() + 1) &&
                   std::equal(a.columns.begin(), a.columns.end(), pattern.column(),
                              pattern.column() + pattern.blocks());
        },
        a.row_begin);
}

}  // namespace hyperplane
