// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/solves/between_ranks.hpp"

#include <numeric>
#include <utility>

#include "core/ranks/links_cuda.hpp"
#include "core/ranks/offers_cuda.hpp"

namespace hyperplane {

RowsBetweenRanks::RowsBetweenRanks(const Context& context, std::shared_ptr<const RowSlab> slab, int dof)
    : context_(context), slab_(std::move(slab)), dof_(dof) {
    links_of(context).keep_to_host_if_shared();
}

std::vector<int> RowsBetweenRanks::positions(const std::vector<int>& order) const {
    std::vector<int> position(std::size_t(slab_->rows_in_memory()));
    for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = int(at);
    for (Index at = 0; at < slab_->before; ++at) position[at] = int(slab_->rows + at);
    for (Index at = slab_->before; at < Index(slab_->halo.size()); ++at)
        position[slab_->rows + at] = int(slab_->rows + at);
    return position;
}

RowsBetweenRanks::Sent RowsBetweenRanks::sent(Side side, const std::vector<int>& positions, EpochRecord* records,
                                              const std::string& label) const {
    Communicator& ranks = *context_.ranks();
    const bool messages = cuda::by_messages(context_);
    const Index record = dof_ * Index(sizeof(EpochRecord));
    Sent made;
    for (const RowSlab::Neighbour& other : slab_->neighbours)
        if (is_before(other, side) && other.received > 0) {
            EpochRecord* const first = records + Index(positions[slab_->before + other.slot]) * dof_;
            if (messages)
                made.received.push_back({other.rank, first, other.received * record});
            else
                ranks.send(other.rank, cuda::described(context_, {first}));
        }
    std::vector<int> begin(std::size_t(slab_->rows) + 1);
    for (const RowSlab::Neighbour& other : slab_->neighbours)
        if (!is_before(other, side))
            for (const int slot : other.sent) ++begin[positions[slab_->before + slot] + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<PlaceOfRow> to(static_cast<std::size_t>(begin.back()));
    std::vector<int> next(begin.begin(), begin.end() - 1);
    if (messages) made.out = Buffer<EpochRecord>(context_, label, begin.back() * Index(dof_));
    EpochRecord* out = made.out.data();
    const auto place_for = [&](const RowSlab::Neighbour& other) {
        if (messages) {
            made.sent.push_back({other.rank, out, Index(other.sent.size()) * record});
            return std::exchange(out, out + Index(other.sent.size()) * dof_);
        }
        std::vector<double> message(cuda::values_to_describe(context_, 1));
        ranks.receive(other.rank, message);
        return static_cast<EpochRecord*>(cuda::reached(context_, other.rank, message)[0]);
    };
    for (const RowSlab::Neighbour& other : slab_->neighbours) {
        if (is_before(other, side) || other.sent.empty()) continue;
        EpochRecord* const theirs = place_for(other);
        for (std::size_t at = 0; at < other.sent.size(); ++at)
            to[next[positions[slab_->before + other.sent[at]]]++] = {theirs + Index(at) * dof_};
    }
    made.begin = copied_to(context_, label, begin);
    made.to = copied_to(context_, label, to);
    return made;
}

void RowsBetweenRanks::begin() const {
    if (cuda::by_messages(context_)) return;  // records are overwritten in the order of the stream
    if (context_.stream().recording()) return cuda::synchronise_in_stream(context_);
    for (const RowSlab::Neighbour& other : slab_->neighbours) cuda::acknowledge(context_, other.rank);
    for (const RowSlab::Neighbour& other : slab_->neighbours) cuda::await_acknowledgement(context_, other.rank);
}

void RowsBetweenRanks::await_ranks_before(Side side) const {
    for (const RowSlab::Neighbour& other : slab_->neighbours)
        if (is_before(other, side) && other.received > 0) cuda::take_offer(context_, other.rank, 0, 1);
}

void RowsBetweenRanks::tell_ranks_after(Side side) const {
    for (const RowSlab::Neighbour& other : slab_->neighbours)
        if (!is_before(other, side) && !other.sent.empty()) cuda::offer(context_, other.rank, {{}, {1.0}});
}

Index RowsBetweenRanks::bytes(const RowSlab& slab) {
    Index sent = 0;
    for (const RowSlab::Neighbour& other : slab.neighbours) sent += Index(other.sent.size());
    return 2 * (slab.rows + 1) * Index(sizeof(int)) + sent * Index(sizeof(PlaceOfRow));
}

}  // namespace hyperplane
