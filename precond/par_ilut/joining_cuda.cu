// SPDX-License-Identifier: BSD-3-Clause
// A block's place in the larger pattern is the number of blocks before it: those of X, the candidates, and of a
// symmetric matrix the candidates' mirror images, which a stable sort of the candidates by columns brings into the
// order of rows.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "precond/par_ilut/gpu_factors.hpp"
#include "precond/par_ilut/rows_cuda.cuh"

namespace hyperplane::par_ilut {
namespace {

constexpr const char* joining_label = "candidates";

/// Mirror images in the order of rows; without any, `row_begin` is null.
struct Mirrors {
    const Index* row_begin;
    const int* column;
    const Index* from;  ///< the candidate

    __device__ Index before(Index row) const { return row_begin ? row_begin[row] : 0; }
};

__global__ void number_candidates(const int* column, Index count, int* key, Index* number) {
    const Index own = own_index();
    if (own >= count) return;
    key[own] = column[own];
    number[own] = own;
}
__global__ void find_mirrors(const int* sorted, const Index* from, CompressedRows more, Index count, Index* row_begin,
                             int* column) {
    const Index own = own_index();
    if (own <= more.rows) row_begin[own] = first_from(sorted, 0, count, own);
    if (own < count) column[own] = int(more.row_of(from[own]));
}

__global__ void add_begins(const Index* x, const Index* more, Mirrors mirrors, Index rows, Index* begin) {
    if (const Index row = own_index(); row <= rows) begin[row] = x[row] + more[row] + mirrors.before(row);
}

// A thread has a number of a block. The first one of a block writes the column.

__global__ void join_old(CompressedRows x, const double* values, CompressedRows more, Mirrors mirrors, int size,
                         Index numbers, int* column, double* to) {
    const Index own = own_index();
    if (own >= numbers) return;
    const Index at = own / size, row = x.row_of(at), own_column = x.column[at];
    Index place = at + first_from(more.column, more.begin[row], more.begin[row + 1], own_column);
    if (mirrors.row_begin)
        place += first_from(mirrors.column, mirrors.row_begin[row], mirrors.row_begin[row + 1], own_column);
    to[place * size + own % size] = values[own];
    if (own % size == 0) column[place] = int(own_column);
}
__global__ void join_new(CompressedRows x, CompressedRows more, const double* values, Mirrors mirrors, int size,
                         Index numbers, int* column, double* to) {
    const Index own = own_index();
    if (own >= numbers) return;
    const Index at = own / size, row = more.row_of(at), own_column = more.column[at];
    const Index place = first_from(x.column, x.begin[row], x.begin[row + 1], own_column) + at + mirrors.before(row + 1);
    to[place * size + own % size] = values[own];
    if (own % size == 0) column[place] = int(own_column);
}
__global__ void join_mirrors(CompressedRows x, CompressedRows more, const double* values, const int* rows,
                             Mirrors mirrors, int dof, Index numbers, int* column, double* to) {
    const Index own = own_index();
    if (own >= numbers) return;
    const Index size = dof * dof, at = own / size, row = rows[at], own_column = mirrors.column[at];
    const Index place = first_from(x.column, x.begin[row], x.begin[row + 1], own_column) + at + more.begin[row];
    const Index r = own % size / dof, c = own % size % dof;
    to[place * size + own % size] = values[mirrors.from[at] * size + c * dof + r];
    if (own % size == 0) column[place] = int(own_column);
}

class Joiner : GpuCalls {
public:
    explicit Joiner(const BsrMatrix& a) : GpuCalls(a.context(), joining_label), a_(a) {}

    GpuFactors join(GpuFactors x, GpuCandidates more) {
        const CompressedRows old = rows_of(*x.pattern);
        const CompressedRows added{more.begin.data(), more.column.data(), nullptr, old.rows};
        const int dof = a_.dof(), size = dof * dof;
        Mirrors mirrors{};
        if (a_.symmetric()) mirrors = find(added, more.count);
        const Index old_blocks = x.pattern->pattern->blocks();
        const Index blocks = old_blocks + more.count * (a_.symmetric() ? 2 : 1);
        Buffer<Index> begin = buffer<Index>(old.rows + 1);
        Buffer<int> column = buffer<int>(blocks);
        Buffer<double> values = buffer<double>(blocks * size);
        launch("join rows", old.rows + 1, add_begins, old.begin, added.begin, mirrors, old.rows, begin.data());
        launch("join old blocks", old_blocks * size, join_old, old, x.values.data(), added, mirrors, size,
               old_blocks * size, column.data(), values.data());
        launch("join new blocks", more.count * size, join_new, old, added, more.values.data(), mirrors, size,
               more.count * size, column.data(), values.data());
        if (a_.symmetric())
            launch("join mirror images", more.count * size, join_mirrors, old, added, more.values.data(),
                   mirror_row_.data(), mirrors, dof, more.count * size, column.data(), values.data());
        x = {};
        more = {};
        return with_pattern(a_, std::move(begin), std::move(column), std::move(values), joining_label);
    }

private:
    Mirrors find(const CompressedRows& more, Index count) {
        mirror_row_ = buffer<int>(count);
        from_ = buffer<Index>(count);
        launch("number candidates", count, number_candidates, more.column, count, mirror_row_.data(), from_.data());
        Buffer<int> other_row = buffer<int>(count);
        Buffer<Index> other = buffer<Index>(count);
        cub::DoubleBuffer<int> keys(mirror_row_.data(), other_row.data());
        cub::DoubleBuffer<Index> values(from_.data(), other.data());
        call("sort candidates", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, count, 0,
                                                   std::bit_width(std::uint64_t(more.rows)), stream());
        });
        if (keys.selector == 1) std::swap(mirror_row_, other_row);
        if (values.selector == 1) std::swap(from_, other);
        mirror_begin_ = buffer<Index>(more.rows + 1);
        mirror_column_ = std::move(other_row);
        launch("find mirror images", std::max(count, more.rows + 1), find_mirrors, mirror_row_.data(), from_.data(),
               more, count, mirror_begin_.data(), mirror_column_.data());
        return {mirror_begin_.data(), mirror_column_.data(), from_.data()};
    }

    const BsrMatrix& a_;
    Buffer<int> mirror_row_, mirror_column_;
    Buffer<Index> mirror_begin_, from_;
};

/// [block of A]: its place within its row of the factors, or -1.
__global__ void find_places(CompressedRows a, CompressedRows x, Index blocks, int* place) {
    const Index at = own_index();
    if (at >= blocks) return;
    const Index row = a.row_of(at), found = find(x.column, x.begin[row], x.begin[row + 1], a.column[at]);
    place[at] = found < 0 ? -1 : int(found - x.begin[row]);
}

}  // namespace

GpuFactors with_pattern(const BsrMatrix& a, Buffer<Index> begin, Buffer<int> column, Buffer<double> values,
                        const std::string& label) {
    const auto pattern =
        std::make_shared<const BlockPattern>(std::move(begin), std::move(column), a.pattern()->order());
    const GpuCalls calls(a.context(), label);
    const BlockPattern& own = a.here();
    Buffer<int> place = calls.buffer<int>(own.blocks());
    calls.launch("find places", own.blocks(), find_places, rows_of(own), rows_of(*pattern), own.blocks(), place.data());
    auto made = std::make_unique<GpuPattern>(a, pattern, std::move(place), label);
    made->find_a_diagonal(a, label);
    return {std::move(made), std::move(values)};
}

GpuFactors with_candidates(const BsrMatrix& a, GpuFactors x, GpuCandidates more) {
    return Joiner(a).join(std::move(x), std::move(more));
}

}  // namespace hyperplane::par_ilut
