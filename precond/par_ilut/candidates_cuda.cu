// SPDX-License-Identifier: BSD-3-Clause
// The candidates of rows, some rows at a time:
//
//     1. an item for each block of A and each product X_ik X_kk^-1 X_kj of a row, in the order in which a CPU's loop
//        adds them up, with the key (i, j)
//     2. a stable radix sort by keys: the items of a block (i, j) lie together, in this order
//     3. blocks that X does not have begin where a key differs from the one before and X has no such block
//     4. a thread for each number of such a block adds up its items
//     5. where a row has too many, a stable sort by sizes and then by rows tells the rank of each
//
// The sums have one order and one thread, so they are those of a CPU.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <numeric>
#include <vector>

#include "core/error.hpp"
#include "precond/par_ilut/candidates_cuda.cuh"
#include "precond/par_ilut/gpu_factors.hpp"

namespace hyperplane::par_ilut {
namespace {

constexpr const char* search_label = "candidates";

class Searcher : GpuCalls {
public:
    Searcher(const BsrMatrix& a, double alpha, const GpuFactors& x, const Buffer<double>& inverse, int most)
        : GpuCalls(a.context(), search_label),
          blocks_(x.pattern->pattern->blocks()),
          size_(a.dof() * a.dof()),
          scaled_(buffer<double>(blocks_ * size_)),
          product_begin_(buffer<Index>(blocks_ + 1)),
          found_(buffer<Index>(2)),
          search_{rows_of(a.here()),
                  rows_of(*x.pattern),
                  a.values(),
                  x.values.data(),
                  scaled_.data(),
                  product_begin_.data(),
                  alpha,
                  a.dof(),
                  int(std::bit_width(std::uint64_t(std::max<Index>(1, a.pattern()->rows() - 1)))),
                  most,
                  a.symmetric()} {
        launch("scale rows of L", blocks_ * size_, scale_lower, search_.x, search_.x_values, inverse.data(), a.dof(),
               blocks_ * size_, scaled_.data());
        launch("count products", blocks_ + 1, count_products, search_.x, search_.symmetric, blocks_,
               product_begin_.data());
        call("sum products", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceScan::ExclusiveSum(temporary, bytes, product_begin_.data(), product_begin_.data(),
                                                 blocks_ + 1, stream());
        });
    }

    GpuCandidates all(Index limit, bool with_residual) {
        const Index rows = search_.x.rows;
        GpuCandidates found{Buffer<Index>(context(), label(), rows + 1), buffer<int>(limit),
                            buffer<double>(limit * size_)};
        if (with_residual) norms_ = Buffer<double>(context(), label(), rows);
        for (Index first = 0; first < rows;) first += batch(first, found);
        call("sum candidates", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(temporary, bytes, found.begin.data(), found.begin.data(), rows + 1,
                                                 stream());
        });
        if (with_residual) {
            std::vector<double> norms(std::size_t(rows), 0.0);
            context().stream().copy(norms_.data(), norms.data(), rows * Index(sizeof(double)));
            found.residual = std::sqrt(std::accumulate(norms.begin(), norms.end(), 0.0));
        }
        return found;
    }

private:
    /// Finds the candidates of the rows from `first` on that are searched together; returns the number of these rows.
    Index batch(Index first, GpuCandidates& found) {
        launch("find rows to search", 1, find_batch, search_, first, most_items(blocks_), found_.data());
        const auto size_of_batch = read<std::array<Index, 2>>(found_.data());
        const Index rows = size_of_batch[0], count = size_of_batch[1];
        if (count > (Index(1) << 31) - 1)
            throw UsageError("par_ilut: block row " + std::to_string(first + 1) + " has " + std::to_string(count) +
                             " products, more than the 2^31 - 1 that a GPU sorts at a time; use device.backend = cpu");
        Buffer<Key> keys = buffer<Key>(count);
        Buffer<Item> items = buffer<Item>(count);
        launch("make items", count, make_items, search_, first, rows, int(count), keys.data(), items.data());
        sort("sort items", keys, items, int(count), search_.column_bits + std::bit_width(std::uint64_t(rows)));
        const Batch one{first, rows, keys.data(), items.data(), int(count)};
        Buffer<int> starts = buffer<int>(count);
        if (count > 0)
            call("find free blocks", [&](void* temporary, std::size_t& bytes) {
                return cub::DeviceSelect::If(temporary, bytes, thrust::counting_iterator<int>(0), starts.data(),
                                             found_.data(), int(count), IsFree{search_, one}, stream());
            });
        take(one, starts, count > 0 ? read<Index>(found_.data()) : 0, found);
        return rows;
    }

    /// Adds up the `free` blocks, and appends the candidates among them.
    void take(const Batch& one, const Buffer<int>& starts, Index free, GpuCandidates& found) {
        const Index numbers = free * size_;
        Buffer<double> values = buffer<double>(numbers);
        launch("add up candidates", numbers, add_up, search_, one, starts.data(), numbers, values.data());
        Buffer<int> firsts = buffer<int>(one.rows + 1), too_many(context(), label(), 1);
        launch("find candidates of rows", one.rows + 1, find_firsts, search_, one, starts.data(), free, firsts.data());
        if (norms_.size() > 0) add_residuals(one, firsts, values);
        if (free == 0) return;
        Index* const taken = found.begin.data() + one.first + 1;
        launch("count candidates", one.rows, count_taken, search_, one, firsts.data(), taken, too_many.data());
        Buffer<int> position = buffer<int>(free);
        if (read<int>(too_many.data()))
            choose_largest(one, starts, firsts, values, taken, position);
        else
            launch("take all candidates", free, set_ones, free, position.data());
        call("place candidates", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(temporary, bytes, position.data(), position.data(), int(free),
                                                 stream());
        });
        launch("write candidates", numbers, write_chosen, search_, one, starts.data(), position.data(), values.data(),
               numbers, found.count, found.column.data(), found.values.data());
        found.count += read<int>(position.data() + free - 1);
    }

    /// `values`: of the blocks that X does not have.
    void add_residuals(const Batch& one, const Buffer<int>& firsts, const Buffer<double>& values) {
        const Index begin = read<Index>(search_.x.begin + one.first),
                    blocks = read<Index>(search_.x.begin + one.first + one.rows) - begin;
        Buffer<double> held = buffer<double>(blocks);
        launch("find residuals", blocks, find_held_sizes, search_, one, begin, blocks, held.data());
        launch("add up residuals", one.rows, add_sizes, search_, one, held.data(), firsts.data(), values.data(),
               norms_.data());
    }

    /// 1 for each candidate that is among the `taken` largest of its row, otherwise 0.
    void choose_largest(const Batch& one, const Buffer<int>& starts, const Buffer<int>& firsts,
                        const Buffer<double>& values, const Index* taken, Buffer<int>& chosen) {
        const Index free = chosen.size();
        Buffer<Key> sizes = buffer<Key>(free);
        Buffer<int> number = buffer<int>(free);
        launch("find sizes", free, find_sizes, values.data(), int(size_), free, sizes.data(), number.data());
        Buffer<Key> other_sizes = buffer<Key>(free);
        Buffer<int> other = buffer<int>(free);
        {
            cub::DoubleBuffer<Key> by(sizes.data(), other_sizes.data());
            cub::DoubleBuffer<int> sorted(number.data(), other.data());
            call("sort sizes", [&](void* temporary, std::size_t& bytes) {
                return cub::DeviceRadixSort::SortPairsDescending(temporary, bytes, by, sorted, int(free), 0, 64,
                                                                 stream());
            });
            if (sorted.selector == 1) std::swap(number, other);
        }
        Buffer<unsigned> rows = buffer<unsigned>(free);
        launch("find rows", free, find_rows, search_, one, starts.data(), number.data(), free, rows.data());
        sort("sort rows", rows, number, int(free), std::bit_width(std::uint64_t(one.rows)));
        launch("choose candidates", free, choose, rows.data(), number.data(), firsts.data(), taken, free,
               chosen.data());
    }

    template <class By, class T>
    void sort(const char* name, Buffer<By>& by, Buffer<T>& sorted, int count, int bits) {
        Buffer<By> other_by = buffer<By>(count);
        Buffer<T> other = buffer<T>(count);
        cub::DoubleBuffer<By> keys(by.data(), other_by.data());
        cub::DoubleBuffer<T> values(sorted.data(), other.data());
        call(name, [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, count, 0, bits, stream());
        });
        if (keys.selector == 1) std::swap(by, other_by);
        if (values.selector == 1) std::swap(sorted, other);
    }

    Index blocks_, size_;
    Buffer<double> scaled_;
    Buffer<Index> product_begin_, found_;
    Buffer<double> norms_;
    Search search_;
};

}  // namespace

Index most_items(Index blocks) {
    return std::min(std::max(blocks / 4, Index(1) << 12), Index(1) << 30);
}

GpuCandidates candidates_on_gpu(const BsrMatrix& a, double alpha, const GpuFactors& x, const Buffer<double>& inverse,
                                int most, Index limit, bool with_residual) {
    return Searcher(a, alpha, x, inverse, most).all(limit, with_residual);
}

}  // namespace hyperplane::par_ilut
