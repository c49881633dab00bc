// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/rank_planes_cuda.hpp"

#include "core/device/cuda.hpp"
#include "precond/factors/coefficient_order.hpp"

namespace hyperplane {

/// In the natural layout planes are contiguous. In the hyperplane layout those of each level modulo nx are: ranks count
/// planes and levels from different ones, so in a message levels are counted from its first plane, which turns their
/// order.
void RankPlanes::copy(int entry, int first, double* message, bool to_gpu) const {
    const Layout& layout = pattern_.layout;
    const bool natural = layout.kind() == LayoutKind::natural;
    const int levels = natural ? 1 : layout.grid().nx;
    const Index block = Index(pattern_.dof) * pattern_.dof, plane = layout.slots_of_plane() / levels * block;
    const std::size_t width = std::size_t(plane * pattern_.halo) * sizeof(double),
                      pitch = std::size_t(plane * layout.grid().nz) * sizeof(double);
    double* const held = values_ + place_together<Index>(layout.slots(), pattern_.dof, entry, 0, 0, 0) + plane * first;
    const auto move = [&](int level, int at, int count) {
        double* const on_gpu = held + level * plane * layout.grid().nz;
        double* const on_host = message + at * plane * pattern_.halo;
        const cudaStream_t stream = cuda::stream(context_);
        cuda::check(to_gpu ? cudaMemcpy2DAsync(on_gpu, pitch, on_host, width, width, std::size_t(count),
                                               cudaMemcpyHostToDevice, stream)
                           : cudaMemcpy2DAsync(on_host, width, on_gpu, pitch, width, std::size_t(count),
                                               cudaMemcpyDeviceToHost, stream),
                    "cudaMemcpy2DAsync");
    };
    const int turn = natural ? 0 : layout.levels().z * first % levels;
    move(turn, 0, levels - turn);
    if (turn > 0) move(0, levels - turn, turn);
}

void RankPlanes::send(int to, const std::vector<int>& entries, int first) const {
    std::vector<double> message(entries.size() * std::size_t(values_of_entry()));
    double* at = message.data();
    for (const int entry : entries) {
        copy(entry, first, at, false);
        at += values_of_entry();
    }
    context_.synchronize();
    context_.ranks()->send(to, message);
}

void RankPlanes::receive(int from, const std::vector<int>& entries, int first) const {
    std::vector<double> message(entries.size() * std::size_t(values_of_entry()));
    context_.ranks()->receive(from, message);
    double* at = message.data();
    for (const int entry : entries) {
        copy(entry, first, at, true);
        at += values_of_entry();
    }
    context_.synchronize();
}

void RankPlanes::exchange(const std::vector<int>& entries) const {
    const int halo = pattern_.halo, end = pattern_.layout.grid().nz - halo, rank = context_.ranks()->rank();
    const int below = rank - 1, above = rank + 1 < context_.ranks()->size() ? rank + 1 : -1;
    if (below >= 0) send(below, entries, halo);
    if (above >= 0) send(above, entries, end - halo);
    if (below >= 0) receive(below, entries, 0);
    if (above >= 0) receive(above, entries, end);
}

}  // namespace hyperplane
