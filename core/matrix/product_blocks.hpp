// SPDX-License-Identifier: BSD-3-Clause
// The blocks of consecutive slots in which a CPU computes a product y = A x of a structured matrix in natural layout.
#pragma once

#include "core/matrix/struct_matrix.hpp"
#include "core/ranks/halo_halves.hpp"
#include "core/vector/plane_sums.hpp"

namespace hyperplane {

/// Calls body(at) for every block of a product with x: first for those that read no halo, while it is on its way.
template <class Body>
void for_blocks(const StructMatrix& a, const Vector& x, const PlaneSums& order, const Body& body) {
    const Index blocks = order.blocks();
    const auto each = [&](Index begin, Index end, Index left_out_at, Index left_out) {
#pragma omp parallel for schedule(static, 1) num_threads(a.context().threads_for(a.unknowns()))
        for (Index at = begin; at < end; ++at) body(at < left_out_at ? at : at + left_out);
    };
    const Layout& layout = a.layout();
    if (!layout.is_part() || a.stencil().planes() == 0) return each(0, blocks, blocks, 0);
    const Index reach = a.stencil().planes() * layout.slots_of_plane();
    Index first = 0, last = blocks;  // the blocks [first, last) read no halo
    while (first < blocks && order.block(first).first < reach) ++first;
    while (last > first && order.block(last - 1).first + order.block(last - 1).count > layout.slots() - reach) --last;
    send_halo(x);
    each(first, last, last, 0);
    receive_halo(x);
    each(0, blocks - (last - first), first, last - first);
}

}  // namespace hyperplane
