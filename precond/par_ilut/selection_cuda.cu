// SPDX-License-Identifier: BSD-3-Clause
// The selection of the largest blocks: a radix selection of the threshold, 8 bits at a time, among the sizes of one
// triangle; where not all blocks of this size are kept, a scan numbers them in the order of rows.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cub/device/device_scan.cuh>
#include <utility>

#include "precond/par_ilut/gpu_factors.hpp"
#include "precond/par_ilut/rows_cuda.cuh"

namespace hyperplane::par_ilut {
namespace {

constexpr const char* selection_label = "factor";
constexpr int digit_bits = 8, digits = 1 << digit_bits;

using Key = std::uint64_t;

/// Where a block lies, and whether it is kept.
enum Mark : unsigned char { lower_out, upper_out, kept };

/// The squared size of an off-diagonal block, as size_of in selection.cpp computes it.
__device__ double size_of(const CompressedRows& x, const double* values, const double* inverse, int dof, bool symmetric,
                          Index row, Index at) {
    const int size = dof * dof;
    const Index column = x.column[at];
    const double* const block = values + at * size;
    double sum = 0.0;
    for (int e = 0; e < size; ++e) {
        const int r = e / dof, c = e % dof;
        double product = 0.0;
        if (symmetric)
            for (int q = 0; q < dof; ++q)
                product = __fma_rn(inverse[row * size + r * dof + q], block[q * dof + c], product);
        else if (column < row)
            for (int q = 0; q < dof; ++q)
                product = __fma_rn(block[r * dof + q], inverse[column * size + q * dof + c], product);
        else
            product = block[e];
        sum = __fma_rn(symmetric ? block[e] : product, product, sum);
    }
    return sum;
}

__global__ void find_keys(CompressedRows x, const double* values, const double* inverse, int dof, bool symmetric,
                          Index blocks, Key* keys, Mark* marks) {
    const Index at = own_index();
    if (at >= blocks) return;
    const Index row = x.row_of(at), column = x.column[at];
    marks[at] = column == row ? kept : column < row ? lower_out : upper_out;
    if (column != row && (!symmetric || column > row))
        keys[at] = Key(__double_as_longlong(fabs(size_of(x, values, inverse, dof, symmetric, row, at))));
}

/// How often each digit comes next among the keys of a triangle that begin with `prefix`.
__global__ void count_digits(const Key* keys, const Mark* marks, Mark side, Index blocks, int shift, Key prefix,
                             unsigned long long* count) {
    __shared__ unsigned own[digits];
    own[threadIdx.x] = 0;
    __syncthreads();
    const Index stride = Index(gridDim.x) * GpuCalls::threads;
    for (Index at = own_index(); at < blocks; at += stride) {
        if (marks[at] != side) continue;
        const Key leading = keys[at] >> shift;
        if (leading >> digit_bits == prefix) atomicAdd(&own[leading % digits], 1u);
    }
    __syncthreads();
    if (own[threadIdx.x] > 0) atomicAdd(count + threadIdx.x, static_cast<unsigned long long>(own[threadIdx.x]));
}
static_assert(digits == GpuCalls::threads);

/// Blocks whose keys exceed `key` are kept, and the first `equal` of those whose keys equal it.
struct Threshold {
    Key key = 0;
    Index equal = 0;
    bool all_equal = false;  ///< no more blocks have this key
};

struct HasKey {
    const Key* keys;
    const Mark* marks;
    Mark side;
    Key key;

    __device__ Index operator()(Index at) const { return marks[at] == side && keys[at] == key; }
};
struct IsKept {
    const Mark* marks;
    Index blocks;

    __device__ Index operator()(Index at) const { return at < blocks && marks[at] == kept; }
};

/// `position`: the number of blocks with the threshold's key up to this one; null: all of them are kept.
__global__ void keep_largest(const Key* keys, Threshold threshold, const Index* position, Mark side, Index blocks,
                             Mark* marks) {
    const Index at = own_index();
    if (at >= blocks || marks[at] != side) return;
    const bool is_first = keys[at] == threshold.key && (!position || position[at] <= threshold.equal);
    if (keys[at] > threshold.key || is_first) marks[at] = kept;
}
__global__ void keep_all(Mark side, Index blocks, Mark* marks) {
    if (const Index at = own_index(); at < blocks && marks[at] == side) marks[at] = kept;
}
/// The blocks below the diagonal whose mirror images are kept.
__global__ void keep_mirrors(CompressedRows x, Index blocks, Mark* marks) {
    const Index at = own_index();
    if (at >= blocks || marks[at] != lower_out) return;
    const Index row = x.row_of(at), k = x.column[at];
    if (marks[find(x.column, x.begin[k], x.begin[k + 1], int(row))] == kept) marks[at] = kept;
}

__global__ void cut_begins(const Index* begin, Index rows, const Index* position, Index* made) {
    if (const Index row = own_index(); row <= rows) made[row] = position[begin[row]];
}
__global__ void copy_kept(const Mark* marks, const Index* position, const int* column, const double* values, int size,
                          Index numbers, int* made_column, double* made) {
    const Index own = own_index();
    if (own >= numbers) return;
    const Index at = own / size;
    if (marks[at] != kept) return;
    made[position[at] * size + own % size] = values[own];
    if (own % size == 0) made_column[position[at]] = column[at];
}

class Selector : GpuCalls {
public:
    Selector(const BsrMatrix& a, const GpuFactors& x, const Buffer<double>& inverse)
        : GpuCalls(a.context(), selection_label),
          a_(a),
          x_(x),
          rows_(rows_of(*x.pattern)),
          blocks_(x.pattern->pattern->blocks()),
          keys_(buffer<Key>(blocks_)),
          marks_(buffer<Mark>(blocks_)),
          position_(buffer<Index>(blocks_ + 1)),
          counts_(buffer<unsigned long long>(digits)) {
        launch("find sizes of blocks", blocks_, find_keys, rows_, x.values.data(), inverse.data(), a.dof(),
               a.symmetric(), blocks_, keys_.data(), marks_.data());
    }

    GpuFactors largest(const FillLimits& limits) {
        const Index lower = x_.pattern->counts.lower, upper = blocks_ - rows_.rows - lower;
        keep(upper_out, upper, limits.upper);
        if (a_.symmetric())
            launch("keep mirror images", blocks_, keep_mirrors, rows_, blocks_, marks_.data());
        else
            keep(lower_out, lower, limits.lower);
        number(IsKept{marks_.data(), blocks_}, blocks_ + 1, false);
        const Index left = read<Index>(position_.data() + blocks_);
        const int size = a_.dof() * a_.dof();
        Buffer<Index> begin = buffer<Index>(rows_.rows + 1);
        Buffer<int> column = buffer<int>(left);
        Buffer<double> values = buffer<double>(left * size);
        launch("cut rows", rows_.rows + 1, cut_begins, rows_.begin, rows_.rows, position_.data(), begin.data());
        launch("copy kept blocks", blocks_ * size, copy_kept, marks_.data(), position_.data(), rows_.column,
               x_.values.data(), size, blocks_ * size, column.data(), values.data());
        return with_pattern(a_, std::move(begin), std::move(column), std::move(values), selection_label);
    }

private:
    /// Keeps the largest of the blocks of a triangle.
    void keep(Mark side, Index blocks, Index limit) {
        if (limit == 0 || blocks == 0) return;
        if (limit >= blocks) return launch("keep a triangle", blocks_, keep_all, side, blocks_, marks_.data());
        const Threshold threshold = threshold_of(side, limit);
        const HasKey has_key{keys_.data(), marks_.data(), side, threshold.key};
        if (!threshold.all_equal) number(has_key, blocks_, true);
        launch("keep the largest blocks", blocks_, keep_largest, keys_.data(), threshold,
               threshold.all_equal ? nullptr : position_.data(), side, blocks_, marks_.data());
    }
    /// 0 < limit < blocks of the triangle.
    Threshold threshold_of(Mark side, Index limit) {
        Threshold result{0, limit};
        for (int shift = 64 - digit_bits; shift >= 0; shift -= digit_bits) {
            context().stream().zero(counts_.data(), digits * Index(sizeof(unsigned long long)));
            launch("count digits", std::min(blocks_, Index(most_blocks) * threads), count_digits, keys_.data(),
                   marks_.data(), side, blocks_, shift, result.key, counts_.data());
            const auto count = read<std::array<unsigned long long, digits>>(counts_.data());
            int digit = digits - 1;
            for (; result.equal > Index(count[digit]); --digit) result.equal -= Index(count[digit]);
            result.key = result.key << digit_bits | Key(digit);
            result.all_equal = result.equal == Index(count[digit]);
        }
        return result;
    }
    /// position_[at]: the sum of `ones` of the blocks before, and of the block itself if `including`.
    template <class Ones>
    void number(const Ones& ones, Index count, bool including) {
        const auto flags = thrust::make_transform_iterator(thrust::counting_iterator<Index>(0), ones);
        call("number blocks", [&](void* temporary, std::size_t& bytes) {
            return including
                       ? cub::DeviceScan::InclusiveSum(temporary, bytes, flags, position_.data(), count, stream())
                       : cub::DeviceScan::ExclusiveSum(temporary, bytes, flags, position_.data(), count, stream());
        });
    }

    static constexpr int most_blocks = 4096;  ///< that count digits

    const BsrMatrix& a_;
    const GpuFactors& x_;
    CompressedRows rows_;
    Index blocks_;
    Buffer<Key> keys_;
    Buffer<Mark> marks_;
    Buffer<Index> position_;
    Buffer<unsigned long long> counts_;
};

}  // namespace

GpuFactors with_largest(const BsrMatrix& a, GpuFactors x, const Buffer<double>& inverse, const FillLimits& limits) {
    return Selector(a, x, inverse).largest(limits);
}

}  // namespace hyperplane::par_ilut
