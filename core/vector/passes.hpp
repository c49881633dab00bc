// SPDX-License-Identifier: BSD-3-Clause
// Passes over vectors on a CPU, block by block, for vector operations: updates, and sums that have the same bits for
// any number of threads.
#pragma once

#include <algorithm>
#include <vector>

#include "core/profile.hpp"
#include "core/vector/plane_sums.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

inline bool on_gpu(const Vector& x) {
    return cuda_built && x.backend() == Backend::cuda;
}

/// A pass that reads or writes so many vectors like x, as a kind of its own in a profile.
inline ProfileScope pass(const Vector& x, const char* name, double vectors) {
    return {x.context(), name, Index(vectors * double(x.size())) * Index(sizeof(double)), ProfileScope::whole};
}

// A pass over vectors begins where the previous pass ended, at values that the caches still hold: updates
// go downwards, sums and matrix products upwards.
enum class Walk { up, down };

/// Calls body(block) for the numbers of all blocks, with the threads that a loop over `size` values uses. Threads take
/// neighbouring blocks at the same time.
template <class Body>
void for_blocks(const Context& context, Index size, Index blocks, Walk walk, const Body& body) {
#pragma omp parallel for schedule(static, 1) num_threads(context.threads_for(size))
    for (Index turn = 0; turn < blocks; ++turn) body(walk == Walk::up ? turn : blocks - 1 - turn);
}

/// Calls body(first, count) for blocks of `size` values from `begin` on, downwards.
template <class Body>
void update_blocks(const Context& context, Index begin, Index size, const Body& body) {
    constexpr Index block = PlaneSums::longest;
    for_blocks(context, size, (size + block - 1) / block, Walk::down,
               [&](Index at) { body(begin + at * block, std::min(block, size - at * block)); });
}

/// The same for all values of vectors like x, those of halos included; `first` counts from data().
template <class Body>
void update_blocks(const Vector& x, const Body& body) {
    update_blocks(x.context(), -x.halo_values(), x.memory().size(), body);
}

/// Several sums over `components` components of vectors like x: body(first, count, sums) writes a block's part of sum m
/// to sums[m], and h[m] is the sum of these parts.
template <class Body>
void sum_columns(const Vector& x, Index components, std::size_t columns, Walk walk, double* h, const Body& body) {
    const PlaneSums order(x.space(), components, x.dof());
    std::vector<double> partial(std::size_t(order.blocks()) * columns);
    for_blocks(x.context(), x.space().block_rows() * components, order.blocks(), walk, [&](Index at) {
        const auto [first, count] = order.block(at);
        body(first, count, partial.data() + std::size_t(at) * columns);
    });
    order.add_up(x.context(), partial, columns, h);
}

/// The same over all components.
template <class Body>
void sum_columns(const Vector& x, std::size_t columns, Walk walk, double* h, const Body& body) {
    sum_columns(x, x.dof(), columns, walk, h, body);
}

/// The sum of body(first, count) over blocks.
template <class Body>
double sum_blocks(const Vector& x, Index components, Walk walk, const Body& body) {
    double total;
    sum_columns(x, components, 1, walk, &total, [&](Index at, Index count, double* part) { *part = body(at, count); });
    return total;
}
template <class Body>
double sum_blocks(const Vector& x, Walk walk, const Body& body) {
    return sum_blocks(x, x.dof(), walk, body);
}

}  // namespace hyperplane
