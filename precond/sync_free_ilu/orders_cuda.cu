// SPDX-License-Identifier: BSD-3-Clause
// An order of rows (row_classes.hpp), on a GPU:
//
//     1. keys = level * classes + class of each row; a stable radix sort of the rows by keys
//     2. run[position] = where the rows with the level and group of this position begin: a scan by the maximum
//     3. a slice begins wherever (position - run) is a multiple of the group's most rows; a scan of these heads numbers
//        the slices
//     4. each head makes its slice and its sums; a scan of the sums gives each slice its place
#include "precond/sync_free_ilu/orders_cuda.hpp"

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <utility>

#include "core/device/cuda.hpp"

namespace hyperplane {
namespace {

constexpr int order_threads = 256;
using Key = unsigned long long;

__device__ Index own_index() {
    return Index(blockIdx.x) * order_threads + threadIdx.x;
}

/// The rows of factors.
struct Rows {
    const Index* row_begin;
    const Index* diagonal;

    __device__ RowEntries operator[](Index row) const {
        return {int(diagonal[row] - row_begin[row]), int(row_begin[row + 1] - diagonal[row])};
    }
};

/// What the places of slices are sums of.
struct Sums {
    Index values[3];
};

/// Rows by level alone.
struct LevelRule {
    static constexpr int classes = 1;
    __device__ int class_of(const RowEntries&) const { return 0; }
};

__device__ SolveSlice slice_of(const SolveRule& rule, const Rows& rows, const int* order, int first, int count,
                               Sums& sums) {
    SolveSlice slice = {0, first, 0, count, 1 << rule.lanes_exponent(rows[order[first]])};
    for (int at = first; at < first + count; ++at)
        slice.width = max(slice.width, rule.width_of(rows[order[at]], slice.lanes));
    sums = {{Index(slice.width) * count * slice.lanes, 0, 0}};
    return slice;
}
__device__ TableSlice slice_of(const TableRule& rule, const Rows& rows, const int* order, int first, int count,
                               Sums& sums) {
    const RowEntries row = rows[order[first]];
    const TableSlice slice = {0, 0, first, row.below, count, rule.lanes_of(row)};
    const Index pivots = Index(row.below) * count;
    sums = {{pivots, pivots * slice.lanes, slice.lanes > 0 ? 0 : row.all()}};
    return slice;
}
__device__ void put(SolveSlice& slice, const Sums& before) {
    slice.begin = before.values[0];
}
__device__ void put(TableSlice& slice, const Sums& before) {
    slice.pivots = before.values[0];
    slice.offsets = before.values[slice.lanes > 0 ? 1 : 2];
}

template <class Rule>
__global__ void make_keys(Rule rule, Rows rows, const int* depth, Index count, Key* keys, int* order) {
    const Index row = own_index();
    if (row >= count) return;
    keys[row] = Key(depth[row] - 1) * Rule::classes + rule.class_of(rows[row]);
    order[row] = int(row);
}

/// The level and the group of a key as one number.
template <class Rule>
__device__ Key group_of(Key key) {
    return key / Rule::classes * Rule::groups + Rule::group_of(int(key % Rule::classes));
}

template <class Rule>
__global__ void begin_runs(const Key* keys, Index count, int* run) {
    const Index at = own_index();
    if (at >= count) return;
    run[at] = at > 0 && group_of<Rule>(keys[at]) != group_of<Rule>(keys[at - 1]) ? int(at) : 0;
}

template <class Rule>
__global__ void mark_heads(Rule rule, const Key* keys, const int* run, Index count, int* head) {
    const Index at = own_index();
    if (at >= count) return;
    head[at] = (at - run[at]) % rule.most_rows(Rule::group_of(int(keys[at] % Rule::classes))) == 0;
}

/// `number`: of the slice, from 1.
template <class Rule>
__global__ void make_slices(Rule rule, Rows rows, const int* order, const int* number, Index count,
                            typename Rule::Slice* slices, Sums* sums) {
    const Index at = own_index();
    if (at >= count || (at > 0 && number[at] == number[at - 1])) return;
    int size = 1;
    while (at + size < count && number[at + size] == number[at]) ++size;
    slices[number[at] - 1] = slice_of(rule, rows, order, int(at), size, sums[number[at] - 1]);
}

template <class Slice>
__global__ void put_slices(Slice* slices, const Sums* before, Index count) {
    if (const Index at = own_index(); at < count) put(slices[at], before[at]);
}

struct Largest {
    HYPERPLANE_HD int operator()(int a, int b) const { return a > b ? a : b; }
};
struct Add {
    HYPERPLANE_HD Sums operator()(const Sums& a, const Sums& b) const {
        return {{a.values[0] + b.values[0], a.values[1] + b.values[1], a.values[2] + b.values[2]}};
    }
};

/// Makes orders of rows; what it needs meanwhile is shared by all of them.
class Maker {
public:
    Maker(const Context& gpu, const Rows& rows, Index count, const std::string& label)
        : gpu_(gpu),
          rows_(rows),
          count_(count),
          label_(label),
          keys_{buffer<Key>(count), buffer<Key>(count)},
          other_order_(buffer<int>(count)) {}

    /// Sorts all rows; the keys are at current_ afterwards.
    template <class Rule>
    Buffer<int> sorted(const Rule& rule, const RowDepths& depths) {
        Buffer<int> order = buffer<int>(count_);
        launch("make keys", count_, make_keys<Rule>, rule, rows_, depths.depth.data(), count_, keys_[0].data(),
               order.data());
        cub::DoubleBuffer<Key> keys(keys_[0].data(), keys_[1].data());
        cub::DoubleBuffer<int> values(order.data(), other_order_.data());
        const int bits = std::bit_width(Key(depths.levels) * Rule::classes);
        call("sort rows", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, int(count_), 0, bits, stream());
        });
        current_ = keys.selector;
        if (values.selector == 1) std::swap(order, other_order_);
        return order;
    }

    /// The slices of the rows in this order, and the sums of all of them.
    template <class Rule>
    std::pair<Buffer<typename Rule::Slice>, Sums> slices(const Rule& rule, const Buffer<int>& order) {
        const Key* const keys = keys_[current_].data();
        int* const run = reinterpret_cast<int*>(keys_[1 - current_].data());
        int* const number = run + count_;
        launch("find runs", count_, begin_runs<Rule>, keys, count_, run);
        call("find runs", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveScan(temporary, bytes, run, run, Largest{}, int(count_), stream());
        });
        launch("mark slices", count_, mark_heads<Rule>, rule, keys, run, count_, number);
        call("number slices", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(temporary, bytes, number, number, int(count_), stream());
        });
        const Index count = read(number + count_ - 1);
        Buffer<typename Rule::Slice> made = buffer<typename Rule::Slice>(count);
        Buffer<Sums> sums = buffer<Sums>(count + 1);  // the last one is zero, so that the last result is the total
        launch("make slices", count_, make_slices<Rule>, rule, rows_, order.data(), number, count_, made.data(),
               sums.data());
        call("sum slices", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceScan::ExclusiveScan(temporary, bytes, sums.data(), sums.data(), Add{}, Sums{}, count + 1,
                                                  stream());
        });
        launch("place slices", count, put_slices<typename Rule::Slice>, made.data(), sums.data(), count);
        return {std::move(made), read(sums.data() + count)};
    }

private:
    template <class T>
    Buffer<T> buffer(Index size) const {
        return Buffer<T>(gpu_, label_, size);
    }
    cudaStream_t stream() const { return cuda::stream(gpu_); }
    template <class T>
    T read(const T* from) const {
        T value;
        gpu_.stream().copy(from, &value, Index(sizeof(T)));
        return value;
    }
    template <class... Parameters, class... Arguments>
    void launch(const char* name, Index work, void (*kernel)(Parameters...), const Arguments&... arguments) const {
        kernel<<<cuda::blocks_for(work, order_threads), order_threads, 0, stream()>>>(arguments...);
        cuda::launched(gpu_, name);
    }
    /// Calls one of CUB's functions with the temporary memory that it asks for.
    template <class Function>
    void call(const char* name, const Function& function) {
        std::size_t bytes = 0;
        cuda::check(function(nullptr, bytes), name);
        if (Index(bytes) > temporary_.size()) temporary_ = buffer<unsigned char>(Index(bytes));
        bytes = std::size_t(temporary_.size());
        cuda::check(function(temporary_.data(), bytes), name);
        cuda::launched(gpu_, name);
    }

    Context gpu_;
    Rows rows_;
    Index count_;
    std::string label_;
    Buffer<Key> keys_[2];
    Buffer<int> other_order_;
    int current_ = 0;
    Buffer<unsigned char> temporary_;
};

__global__ void invert(const int* order, Index count, int* position) {
    if (const Index at = own_index(); at < count) position[order[at]] = int(at);
}
__global__ void gather(const int* position, const int* order, Index count, int* from) {
    if (const Index at = own_index(); at < count) from[at] = position[order[at]];
}

}  // namespace

Orders orders_on_gpu(const Context& gpu, const BlockPattern& pattern, const Buffer<Index>& diagonal,
                     const OrderNeeds& needs, const std::string& label) {
    const Index count = pattern.rows();
    Orders orders;
    if (needs.slices) orders.lower.emplace(), orders.upper.emplace();
    if (needs.table) orders.table.emplace();
    if (count == 0 || !needs.any()) return orders;
    const BothDepths depths = depths_on_gpu(gpu, pattern, label);
    Maker maker(gpu, {pattern.row_begin(), diagonal.data()}, count, label);
    for (const Side side : {Side::lower, Side::upper}) {
        if (!needs.slices) break;
        const SolveRule rule{needs.dof, side == Side::upper};
        const RowDepths& own = side == Side::lower ? depths.lower : depths.upper;
        SlicedOrder& order = side == Side::lower ? *orders.lower : *orders.upper;
        order.row = maker.sorted(rule, own);
        auto [slices, sums] = maker.slices(rule, order.row);
        order.slices = std::move(slices);
        order.places = sums.values[0];
        order.levels = own.levels;
    }
    if (needs.table) {
        const TableRule rule{needs.table->symmetric};
        TableOrder& order = *orders.table;
        order.row = maker.sorted(rule, depths.lower);
        auto [slices, sums] = maker.slices(rule, order.row);
        order.slices = std::move(slices);
        order.sizes = {order.slices.size(), sums.values[0], sums.values[1], sums.values[2]};
        order.levels = depths.lower.levels;
    }
    if (needs.by_level) orders.by_level = maker.sorted(LevelRule{}, depths.lower);
    return orders;
}

Buffer<int> positions_on_gpu(const Context& gpu, const Buffer<int>& order, const std::string& label) {
    Buffer<int> position(gpu, label, order.size());
    if (order.size() == 0) return position;
    invert<<<cuda::blocks_for(order.size(), order_threads), order_threads, 0, cuda::stream(gpu)>>>(
        order.data(), order.size(), position.data());
    cuda::launched(gpu, "positions of rows");
    return position;
}

Buffer<int> between_on_gpu(const Context& gpu, const Buffer<int>& lower_position, const Buffer<int>& upper,
                           const std::string& label) {
    Buffer<int> from(gpu, label, upper.size());
    if (upper.size() == 0) return from;
    gather<<<cuda::blocks_for(upper.size(), order_threads), order_threads, 0, cuda::stream(gpu)>>>(
        lower_position.data(), upper.data(), upper.size(), from.data());
    cuda::launched(gpu, "positions between orders");
    return from;
}

}  // namespace hyperplane
