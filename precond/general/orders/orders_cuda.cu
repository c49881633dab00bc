// SPDX-License-Identifier: BSD-3-Clause
// An order of rows (row_classes.hpp), on a GPU:
//
//     1. keys = level * classes + class of each row; a stable radix sort of the rows by keys
//     2. run[position] = where the rows with the level and group of this position begin: a scan by the maximum
//     3. a slice begins wherever (position - run) is a multiple of the group's most rows; a scan of these heads numbers
//        the slices
//     4. each head makes its slice and its sums, mostly from its key alone; a scan of the sums gives each slice its
//     place
//
// The host waits for the GPU twice in all: for the numbers of slices of all orders, and for their sums.
#include "precond/general/orders/orders_cuda.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <array>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <limits>
#include <utility>

#include "precond/general/pattern/gpu_calls.cuh"

namespace hyperplane {
namespace {

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
    using Slice = int;  // it has none
    static constexpr int classes = 1;
    __device__ int class_of(const RowEntries&) const { return 0; }
};

/// The slice that begins at a position with a row of a class.
__device__ SolveSlice slice_of(const SolveRule& rule, const Rows& rows, const int* order, int of_class, int first,
                               int count, Sums& sums) {
    SolveSlice slice = {0, first, SolveRule::least_width(of_class), count, SolveRule::lanes_of_class(of_class)};
    if (slice.width == SolveRule::widths - 1)  // or wider
        for (int at = first; at < first + count; ++at)
            slice.width = max(slice.width, rule.width_of(rows[order[at]], slice.lanes));
    sums = {{Index(slice.width) * count * slice.lanes, 0, 0}};
    return slice;
}
__device__ TableSlice slice_of(const TableRule&, const Rows& rows, const int* order, int of_class, int first, int count,
                               Sums& sums) {
    TableSlice slice = {0, 0, first, TableRule::steps_of_class(of_class), count, TableRule::lanes_of_class(of_class)};
    Index long_row = 0;
    if (slice.lanes == 0) {
        const RowEntries row = rows[order[first]];
        slice.width = row.below;
        long_row = row.all();
    }
    const Index pivots = Index(slice.width) * count;
    sums = {{pivots, pivots * slice.lanes, long_row}};
    return slice;
}
__device__ void put(SolveSlice& slice, const Sums& before) {
    slice.begin = before.values[0];
}
__device__ void put(TableSlice& slice, const Sums& before) {
    slice.pivots = before.values[0];
    slice.offsets = before.values[slice.lanes > 0 ? 1 : 2];
}

template <class Rule, class Key>
__global__ void make_keys(Rule rule, Rows rows, const int* depth, Index count, Key* keys, int* order) {
    const Index row = own_index();
    if (row >= count) return;
    keys[row] = Key(depth[row] - 1) * Key(Rule::classes) + Key(rule.class_of(rows[row]));
    order[row] = int(row);
}

/// Where a run begins, if it begins at this position, otherwise 0. A run has one level and one group.
template <class Rule, class Key>
struct RunBegin {
    const Key* keys;

    __device__ Key run_of(Key key) const {
        return key / Key(Rule::classes) * Key(Rule::groups) + Key(Rule::group_of(int(key % Key(Rule::classes))));
    }
    __device__ int operator()(int at) const { return at > 0 && run_of(keys[at]) != run_of(keys[at - 1]) ? at : 0; }
};

/// 1 where a slice begins.
template <class Rule, class Key>
struct SliceBegin {
    const Key* keys;
    const int* run;  // [position]: where it begins

    __device__ int operator()(int at) const {
        return (at - run[at]) % rule.most_rows(Rule::group_of(int(keys[at] % Key(Rule::classes)))) == 0;
    }
    Rule rule;
};

/// begin[level]: its first slice, and behind them the number of slices. `number`: of the slice, from 1.
template <class Rule, class Key>
__global__ void find_level_begins(const Key* keys, const int* number, Index count, int* begin) {
    const Index at = own_index();
    if (at >= count) return;
    const Key level = keys[at] / Key(Rule::classes);
    if (at == 0 || keys[at - 1] / Key(Rule::classes) != level) begin[level] = number[at] - 1;
    if (at == count - 1) begin[level + 1] = number[at];
}

/// `number`: of the slice, from 1.
template <class Rule, class Key>
__global__ void make_slices(Rule rule, Rows rows, const Key* keys, const int* order, const int* number, Index count,
                            typename Rule::Slice* slices, Sums* sums) {
    const Index at = own_index();
    if (at >= count || (at > 0 && number[at] == number[at - 1])) return;
    int size = 1;
    while (at + size < count && number[at + size] == number[at]) ++size;
    slices[number[at] - 1] =
        slice_of(rule, rows, order, int(keys[at] % Key(Rule::classes)), int(at), size, sums[number[at] - 1]);
}

template <class T>
__global__ void keep(const T* from, T* to) {
    *to = *from;
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

/// An order while it is made.
template <class Rule, class Key>
struct Draft {
    Rule rule;
    const RowDepths* depths;
    Buffer<int> row = {};  // [position]
    Buffer<Key> keys = {};
    Buffer<int> number = {};
    Buffer<typename Rule::Slice> slices = {};
};

/// Makes orders of rows; what it needs meanwhile is shared by all of them.
template <class Key>
class Maker : GpuCalls {
public:
    static constexpr int most_orders = 3;

    Maker(const Context& gpu, const Rows& rows, Index count, const std::string& label)
        : GpuCalls(gpu, label),
          rows_(rows),
          count_(count),
          other_keys_(buffer<Key>(count)),
          other_order_(buffer<int>(count)),
          counts_(buffer<int>(most_orders)),
          sums_(buffer<Sums>(most_orders)) {}

    template <class Rule>
    void sort(Draft<Rule, Key>& draft) {
        draft.row = buffer<int>(count_);
        draft.keys = buffer<Key>(count_);
        launch("make keys", count_, make_keys<Rule, Key>, draft.rule, rows_, draft.depths->depth.data(), count_,
               draft.keys.data(), draft.row.data());
        cub::DoubleBuffer<Key> keys(draft.keys.data(), other_keys_.data());
        cub::DoubleBuffer<int> values(draft.row.data(), other_order_.data());
        const int bits = std::bit_width(std::uint64_t(draft.depths->levels) * Rule::classes);
        call("sort rows", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, values, int(count_), 0, bits, stream());
        });
        if (keys.selector == 1) std::swap(draft.keys, other_keys_);
        if (values.selector == 1) std::swap(draft.row, other_order_);
    }

    /// Numbers the slices of a sorted order, the at-th.
    template <class Rule>
    void number(Draft<Rule, Key>& draft, int at) {
        draft.number = buffer<int>(count_);
        int* const run = other_order_.data();
        const thrust::counting_iterator<int> position(0);
        const auto begins = thrust::make_transform_iterator(position, RunBegin<Rule, Key>{draft.keys.data()});
        call("find runs", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveScan(temporary, bytes, begins, run, Largest{}, int(count_), stream());
        });
        const auto heads =
            thrust::make_transform_iterator(position, SliceBegin<Rule, Key>{draft.keys.data(), run, draft.rule});
        call("number slices", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(temporary, bytes, heads, draft.number.data(), int(count_), stream());
        });
        launch("keep a number of slices", 1, keep<int>, draft.number.data() + count_ - 1, counts_.data() + at);
    }
    /// Those of all orders that have been numbered.
    std::array<int, most_orders> numbers_of_slices() const {
        return read<std::array<int, most_orders>>(counts_.data());
    }

    /// Makes the slices of the at-th order.
    template <class Rule>
    void slice(Draft<Rule, Key>& draft, int at, int count) {
        draft.slices = buffer<typename Rule::Slice>(count);
        Buffer<Sums> sums(context(), label(), count + 1);  // the last one is zero, so that the last result is the total
        launch("make slices", count_, make_slices<Rule, Key>, draft.rule, rows_, draft.keys.data(), draft.row.data(),
               draft.number.data(), count_, draft.slices.data(), sums.data());
        call("sum slices", [&](void* temporary, std::size_t& bytes) {
            return cub::DeviceScan::ExclusiveScan(temporary, bytes, sums.data(), sums.data(), Add{}, Sums{}, count + 1,
                                                  stream());
        });
        launch("place slices", count, put_slices<typename Rule::Slice>, draft.slices.data(), sums.data(), count);
        launch("keep sums of slices", 1, keep<Sums>, sums.data() + count, sums_.data() + at);
    }
    /// Where the levels of a numbered order begin.
    template <class Rule>
    std::vector<int> level_begins(const Draft<Rule, Key>& draft) const {
        Buffer<int> begin = buffer<int>(draft.depths->levels + 1);
        launch("find levels of slices", count_, find_level_begins<Rule, Key>, draft.keys.data(), draft.number.data(),
               count_, begin.data());
        std::vector<int> made(std::size_t(begin.size()));
        context().stream().copy(begin.data(), made.data(), begin.size() * Index(sizeof(int)));
        return made;
    }
    /// Those of all orders whose slices have been made.
    std::array<Sums, most_orders> sums() const { return read<std::array<Sums, most_orders>>(sums_.data()); }

private:
    Rows rows_;
    Index count_;
    Buffer<Key> other_keys_;
    Buffer<int> other_order_;
    Buffer<int> counts_;
    Buffer<Sums> sums_;
};

/// The orders, with keys that have enough bits for all of them.
template <class Key>
void make_orders(const Context& gpu, const BlockPattern& pattern, const Buffer<Index>& diagonal,
                 const OrderNeeds& needs, const BothDepths& depths, const std::string& label, Orders& orders) {
    Maker<Key> maker(gpu, {pattern.row_begin(), diagonal.data()}, pattern.rows(), label);
    if (needs.by_level) {
        Draft<LevelRule, Key> draft{{}, &depths.lower};
        maker.sort(draft);
        orders.by_level = std::move(draft.row);
    }
    Draft<SolveRule, Key> lower{{needs.dof, false}, &depths.lower}, upper{{needs.dof, true}, &depths.upper};
    Draft<TableRule, Key> table{{needs.table && needs.table->symmetric}, &depths.lower};
    const auto for_each = [&](const auto& step) {
        if (needs.slices) step(lower, 0), step(upper, 1);
        if (needs.table) step(table, 2);
    };
    for_each([&](auto& draft, int at) {
        maker.sort(draft);
        maker.number(draft, at);
    });
    const auto counts = maker.numbers_of_slices();
    for_each([&](auto& draft, int at) { maker.slice(draft, at, counts[at]); });
    const auto sums = maker.sums();
    if (needs.slices) {
        orders.lower = {std::move(lower.row), std::move(lower.slices), sums[0].values[0], depths.lower.levels, {}};
        orders.upper = {std::move(upper.row), std::move(upper.slices), sums[1].values[0], depths.upper.levels, {}};
        if (solves_by_levels(needs.way, depths.lower.levels + depths.upper.levels,
                             (orders.lower->places + orders.upper->places) * needs.dof * needs.dof)) {
            orders.lower->level_begin = maker.level_begins(lower);
            orders.upper->level_begin = maker.level_begins(upper);
        }
    }
    if (needs.table) {
        const Index slices = table.slices.size();
        const Sums& all = sums[2];
        orders.table = {std::move(table.row),
                        std::move(table.slices),
                        {slices, all.values[0], all.values[1], all.values[2]},
                        depths.lower.levels};
    }
}

__global__ void invert(const int* order, Index count, int* position) {
    if (const Index at = own_index(); at < count) position[order[at]] = int(at);
}
__global__ void gather(const int* position, const int* order, Index count, int* from) {
    if (const Index at = own_index(); at < count) from[at] = position[order[at]];
}

}  // namespace

Orders orders_on_gpu(const Context& gpu, const BlockPattern& pattern, const Buffer<Index>& diagonal,
                     const OrderNeeds& needs, const std::string& label) {
    Orders orders;
    if (needs.slices) orders.lower.emplace(), orders.upper.emplace();
    if (needs.table) orders.table.emplace();
    if (pattern.rows() == 0 || !needs.any()) return orders;
    const BothDepths depths = depths_on_gpu(gpu, pattern, label, &diagonal);
    const Index levels = std::max(depths.lower.levels, depths.upper.levels);
    const Index most_keys = levels * std::max(SolveRule::classes, TableRule::classes);
    if (most_keys <= std::numeric_limits<unsigned>::max())
        make_orders<unsigned>(gpu, pattern, diagonal, needs, depths, label, orders);
    else
        make_orders<unsigned long long>(gpu, pattern, diagonal, needs, depths, label, orders);
    return orders;
}

Buffer<int> positions_on_gpu(const Context& gpu, const Buffer<int>& order, const std::string& label) {
    Buffer<int> position(gpu, label, order.size(), Initially::anything);
    if (order.size() == 0) return position;
    invert<<<cuda::blocks_for(order.size(), GpuCalls::threads), GpuCalls::threads, 0, cuda::stream(gpu)>>>(
        order.data(), order.size(), position.data());
    cuda::launched(gpu, "positions of rows");
    return position;
}

Buffer<int> between_on_gpu(const Context& gpu, const Buffer<int>& lower_position, const Buffer<int>& upper,
                           const std::string& label) {
    Buffer<int> from(gpu, label, upper.size(), Initially::anything);
    if (upper.size() == 0) return from;
    gather<<<cuda::blocks_for(upper.size(), GpuCalls::threads), GpuCalls::threads, 0, cuda::stream(gpu)>>>(
        lower_position.data(), upper.data(), upper.size(), from.data());
    cuda::launched(gpu, "positions between orders");
    return from;
}

}  // namespace hyperplane
