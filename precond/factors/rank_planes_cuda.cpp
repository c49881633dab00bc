// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/rank_planes_cuda.hpp"

#include <algorithm>
#include <numeric>

#include "core/device/cuda.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/ranks/offers_cuda.hpp"
#include "precond/factors/coefficient_order.hpp"

namespace hyperplane {

RankPlanes::RankPlanes(const Context& context, const IluPattern& pattern, double* values)
    : RankPlanes(context, pattern, values, pattern.dof * pattern.dof,
                 place_together<Index>(pattern.layout.slots(), pattern.dof, 1, 0, 0, 0)) {}

RankPlanes::RankPlanes(const Context& context, const IluPattern& pattern, double* values, Index distance)
    : RankPlanes(context, pattern, values, 1, distance) {}

RankPlanes::RankPlanes(const Context& context, const IluPattern& pattern, double* values, int values_of_slot,
                       Index distance)
    : levels_(pattern.layout.kind() == LayoutKind::natural ? 1 : pattern.layout.grid().nx),
      turn_(pattern.layout.levels().z),
      plane_(pattern.layout.slots_of_plane() / levels_ * values_of_slot),
      entries_(distance),
      stored_(std::size_t(pattern.kept() * pattern.dof * pattern.dof / values_of_slot)),
      context_(context),
      pattern_(pattern),
      values_(values) {
    std::iota(stored_.begin(), stored_.end(), 0);
}

/// Planes are offered by the address of the first one, the distances of entries and of levels, and the level modulo nx
/// at which it begins. Ranks count planes and levels from different ones.
void RankPlanes::offer(int to, int first) const {
    cuda::offer(context_, to,
                {{values_ + plane_ * first},
                 {double(entries_), double(plane_ * pattern_.layout.grid().nz), double(turn_ * first % levels_)}});
}

void RankPlanes::move(Way way, const std::vector<int>& entries, int first, Buffer<double>& message) const {
    const Index pitch = plane_ * pattern_.layout.grid().nz, width = plane_ * pattern_.halo;
    const auto bytes = [&](Index values) { return std::size_t(values) * sizeof(double); };
    const int begin = turn_ * first % levels_;  // where the levels of the first plane begin, on every rank
    double* packed = message.data();
    for (const int entry : entries)
        for (int done = 0; done < levels_;) {
            const int level = (begin + done) % levels_, count = std::min(levels_ - done, levels_ - level);
            double* const planes = values_ + entry * entries_ + level * pitch + plane_ * first;
            const bool out = way == Way::to_message;
            double* const to = out ? packed : planes;
            const double* const from = out ? planes : packed;
            const cudaStream_t stream = cuda::stream(context_);
            cuda::check(count == 1 ? cudaMemcpyAsync(to, from, bytes(width), cudaMemcpyDefault, stream)
                                   : cudaMemcpy2DAsync(to, bytes(out ? width : pitch), from, bytes(out ? pitch : width),
                                                       bytes(width), std::size_t(count), cudaMemcpyDefault, stream),
                        "copy of factors between ranks");
            packed += count * width;
            done += count;
        }
}

void RankPlanes::exchange_messages(const std::vector<Planes>& sent, const std::vector<Planes>& received,
                                   const std::vector<int>& entries) const {
    const Index values = Index(entries.size()) * levels_ * plane_ * pattern_.halo;
    std::vector<Buffer<double>> messages;
    const auto list = [&](const std::vector<Planes>& planes) {
        std::vector<RankPart> parts;
        for (const Planes& of : planes) {
            messages.emplace_back(context_, "exchange of factors", values, Initially::anything);
            parts.push_back({of.rank, messages.back().data(), values * Index(sizeof(double))});
        }
        return parts;
    };
    const std::vector<RankPart> out = list(sent), in = list(received);
    for (std::size_t at = 0; at < sent.size(); ++at) move(Way::to_message, entries, sent[at].first, messages[at]);
    cuda::exchange_parts(context_, out, in);
    for (std::size_t at = 0; at < received.size(); ++at)
        move(Way::from_message, entries, received[at].first, messages[sent.size() + at]);
}

void RankPlanes::receive(int from, const std::vector<int>& entries, int first) const {
    if (cuda::by_messages(context_)) return exchange_messages({}, {{from, first}}, entries);
    const cuda::Offer offered = cuda::take_offer(context_, from, 1, 3);
    const auto* const theirs = static_cast<const double*>(offered.addresses[0]);
    const Index their_entries = Index(offered.numbers[0]), their_levels = Index(offered.numbers[1]);
    const Index pitch = plane_ * pattern_.layout.grid().nz, width = plane_ * pattern_.halo;
    const int turn = turn_ * first % levels_, their_turn = int(offered.numbers[2]);
    const auto bytes = [&](double values) { return std::size_t(values) * sizeof(double); };
    const cudaStream_t stream = cuda::stream(context_);
    for (const int entry : entries)
        for (int done = 0; done < levels_;) {
            const int level = (turn + done) % levels_, their_level = (their_turn + done) % levels_;
            const int count = std::min({levels_ - done, levels_ - level, levels_ - their_level});
            double* const to = values_ + entry * entries_ + level * pitch + plane_ * first;
            const double* const source = theirs + their_entries * entry + their_levels * their_level;
            cuda::check(count == 1
                            ? cudaMemcpyAsync(to, source, bytes(double(width)), cudaMemcpyDefault, stream)
                            : cudaMemcpy2DAsync(to, bytes(double(pitch)), source, bytes(double(their_levels)),
                                                bytes(double(width)), std::size_t(count), cudaMemcpyDefault, stream),
                        "copy of another rank's factors");
            done += count;
        }
    cuda::acknowledge(context_, from);
}

void RankPlanes::send(int to, const std::vector<int>& entries, int first) const {
    if (cuda::by_messages(context_)) return exchange_messages({{to, first}}, {}, entries);
    offer(to, first);
    cuda::await_acknowledgement(context_, to);
}

void RankPlanes::exchange(const std::vector<int>& entries) const {
    const int halo = pattern_.halo, end = pattern_.layout.grid().nz - halo, rank = context_.ranks()->rank();
    const int below = rank - 1, above = rank + 1 < context_.ranks()->size() ? rank + 1 : -1;
    if (cuda::by_messages(context_)) {
        std::vector<Planes> sent, received;
        if (below >= 0) sent.push_back({below, halo}), received.push_back({below, 0});
        if (above >= 0) sent.push_back({above, end - halo}), received.push_back({above, end});
        return exchange_messages(sent, received, entries);
    }
    if (below >= 0) offer(below, halo);
    if (above >= 0) offer(above, end - halo);
    if (below >= 0) receive(below, entries, 0);
    if (above >= 0) receive(above, entries, end);
    for (const int other : {below, above})
        if (other >= 0) cuda::await_acknowledgement(context_, other);
}

void RankPlanes::receive_from_below() const {
    if (const int rank = context_.ranks()->rank(); rank > 0) receive(rank - 1, stored_, 0);
}

void RankPlanes::send_above() const {
    const Communicator& ranks = *context_.ranks();
    const int end = pattern_.layout.grid().nz;
    if (ranks.rank() + 1 < ranks.size()) send(ranks.rank() + 1, stored_, end - 2 * pattern_.halo);
}

void RankPlanes::exchange_downwards() const {
    const Communicator& ranks = *context_.ranks();
    const int rank = ranks.rank(), halo = pattern_.halo, end = pattern_.layout.grid().nz;
    if (rank > 0) send(rank - 1, stored_, halo);
    if (rank + 1 < ranks.size()) receive(rank + 1, stored_, end - halo);
}

}  // namespace hyperplane
