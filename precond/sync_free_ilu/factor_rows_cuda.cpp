// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/factor_rows_cuda.hpp"

#include <algorithm>

#include "core/ranks/offers_cuda.hpp"
#include "core/ranks/rows_cuda.hpp"

namespace hyperplane {

FactorRowsCuda::FactorRowsCuda(const Context& context, const FilledPattern& filled, const RowSlab& slab, int dof,
                               bool with_inverses, const std::string& label)
    : context_(context), filled_(filled), slab_(slab), size_(Index(dof) * dof) {
    const int first = int(slab.before);
    for (const RowSlab::Neighbour& other : slab.neighbours) {
        if (other.rank < context.ranks()->rank() || other.sent.empty()) continue;
        std::vector<Index> blocks, rows;
        for (std::size_t at = 0; at < other.sent.size(); ++at) {
            const Index row = first + other.sent[at];
            rows.push_back(row);
            blocks.push_back(filled.diagonal[row]);
            for (Index j = other.upper.begin[at]; j < other.upper.begin[at + 1]; ++j)
                blocks.push_back(filled.pattern->find(row, other.upper.column[j] + first));
        }
        if (!with_inverses) rows.clear();
        given_.push_back({other.rank, copied_to(context, label, blocks), copied_to(context, label, rows),
                          Buffer<double>(context, label, Index(blocks.size()) * size_),
                          Buffer<double>(context, label, Index(rows.size()) * size_)});
    }
}

/// The rows of an earlier rank lie together, in the order in which they are offered.
void FactorRowsCuda::take(double* values, double* inverse) const {
    const Index* const begin = filled_.pattern->row_begin();
    const auto copy = [&](const void* from, double* to, Index blocks) {
        context_.stream().copy(from, to, blocks * size_ * Index(sizeof(double)));
    };
    for (const RowSlab::Neighbour& other : slab_.neighbours) {
        if (other.rank > context_.ranks()->rank() || other.received == 0) continue;
        const Index row = slab_.before + other.slot, place = begin[row];
        const cuda::Offer theirs = cuda::take_offer(context_, other.rank, inverse ? 2 : 1);
        copy(theirs.addresses[0], values + place * size_, begin[row + other.received] - place);
        if (inverse) copy(theirs.addresses[1], inverse + row * size_, other.received);
        cuda::acknowledge(context_, other.rank);
    }
}

void FactorRowsCuda::offer(const double* values, const double* inverse) {
    for (Given& given : given_) {
        cuda::collect(context_, given.blocks, size_, values, given.copy.data());
        if (inverse) cuda::collect(context_, given.rows, size_, inverse, given.inverses.data());
        std::vector<const void*> addresses{given.copy.data()};
        if (inverse) addresses.push_back(given.inverses.data());
        cuda::offer(context_, given.rank, {addresses});
    }
}

void FactorRowsCuda::await_later_ranks() const {
    for (const Given& given : given_) cuda::await_acknowledgement(context_, given.rank);
}

Index FactorRowsCuda::bytes(const Context& context, const RowSlab& slab, int dof, bool with_inverses) {
    Index blocks = 0;
    for (const RowSlab::Neighbour& other : slab.neighbours)
        if (other.rank > context.ranks()->rank())
            blocks += Index((with_inverses ? 2 : 1) * other.sent.size() + other.upper.column.size());
    return blocks * (Index(dof) * dof * Index(sizeof(double)) + Index(sizeof(Index)));
}

}  // namespace hyperplane
