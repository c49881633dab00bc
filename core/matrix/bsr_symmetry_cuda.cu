// SPDX-License-Identifier: BSD-3-Clause
// A thread a block row: it looks up the mirror image of each block of its row and compares the two.
#include "core/device/cuda.hpp"
#include "core/matrix/bsr_symmetry_cuda.hpp"
#include "core/matrix/find_column.hpp"

namespace hyperplane::cuda {
namespace {

constexpr int threads = 256;

__global__ void compare(const Index* row_begin, const int* column, const double* values, Index rows, int dof,
                        int* differs) {
    const Index row = Index(blockIdx.x) * threads + threadIdx.x;
    if (row >= rows) return;
    for (Index at = row_begin[row]; at < row_begin[row + 1]; ++at) {
        const Index mirrored = find_column(column, row_begin[column[at]], row_begin[column[at] + 1], int(row));
        bool same = mirrored >= 0;
        for (int r = 0; same && r < dof; ++r)
            for (int c = 0; same && c < dof; ++c)
                same = values[(at * dof + r) * dof + c] == values[(mirrored * dof + c) * dof + r];
        if (!same) {
            *differs = 1;
            return;
        }
    }
}

}  // namespace

bool equals_transpose(const BsrMatrix& a) {
    const BlockPattern& p = a.here();
    const Context& context = a.context();
    Buffer<int> differs(context, "symmetry", 1);
    if (p.rows() > 0) {
        compare<<<blocks_for(p.rows(), threads), threads, 0, stream(context)>>>(p.row_begin(), p.column(), a.values(),
                                                                                p.rows(), a.dof(), differs.data());
        launched(context, "compare with the transpose");
    }
    int found = 0;
    context.stream().copy(differs.data(), &found, sizeof(found));
    return found == 0;
}

}  // namespace hyperplane::cuda
