// SPDX-License-Identifier: BSD-3-Clause
// Look-ups in compressed rows for the kernels of par_ilut, most of which have a thread for each number of a block.
#pragma once

#include "precond/general/pattern/gpu_calls.cuh"
#include "precond/general/pattern/gpu_pattern.hpp"
#include "precond/general/pattern/search.cuh"

namespace hyperplane::par_ilut {

/// A pattern in compressed rows; `diagonal` is null where it is not needed.
struct CompressedRows {
    const Index* begin;
    const int* column;
    const Index* diagonal;
    Index rows;

    /// The row that block `at` lies in.
    __device__ Index row_of(Index at) const;
};

/// The last place of [low, high) whose value is at most `wanted`, where values ascend and the first is.
template <class Values>
__device__ Index last_up_to(const Values& values, Index low, Index high, Index wanted) {
    while (high - low > 1) {
        const Index middle = low + (high - low) / 2;
        if (values(middle) <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}
/// The first place of [begin, end) whose value is at least `wanted`, where values ascend; `end` if there is none.
template <class Values>
__device__ Index first_from(const Values& values, Index begin, Index end, Index wanted) {
    while (begin < end) {
        const Index middle = begin + (end - begin) / 2;
        if (values(middle) < wanted)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}
inline __device__ Index first_from(const int* column, Index begin, Index end, Index wanted) {
    return first_from([column](Index at) { return Index(column[at]); }, begin, end, wanted);
}

inline __device__ Index CompressedRows::row_of(Index at) const {
    return last_up_to([this](Index row) { return begin[row]; }, 0, rows, at);
}

inline CompressedRows rows_of(const BlockPattern& p) {
    return {p.row_begin(), p.column(), nullptr, p.rows()};
}
inline CompressedRows rows_of(const GpuPattern& p) {
    return {p.pattern->row_begin(), p.pattern->column(), p.diagonal.data(), p.pattern->rows()};
}

}  // namespace hyperplane::par_ilut
