// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/factor_rows_cuda.hpp"

#include "core/ranks/messages_cuda.hpp"
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

/// The rows of an earlier rank lie together, in the order in which they are given.
std::vector<RankPart> FactorRowsCuda::taken(double* values, double* inverse) const {
    const Index* const begin = filled_.pattern->row_begin();
    const Index block = size_ * Index(sizeof(double));
    std::vector<RankPart> parts;
    for (const RowSlab::Neighbour& other : slab_.neighbours) {
        if (other.rank > context_.ranks()->rank() || other.received == 0) continue;
        const Index row = slab_.before + other.slot, place = begin[row];
        parts.push_back({other.rank, values + place * size_, (begin[row + other.received] - place) * block});
        if (inverse) parts.push_back({other.rank, inverse + row * size_, other.received * block});
    }
    return parts;
}

std::vector<RankPart> FactorRowsCuda::collected(const double* values, const double* inverse) {
    std::vector<RankPart> parts;
    const auto add = [&](int rank, const Buffer<Index>& places, const double* from, Buffer<double>& copy) {
        cuda::collect(context_, places, size_, from, copy.data());
        parts.push_back({rank, copy.data(), copy.size() * Index(sizeof(double))});
    };
    for (Given& given : given_) {
        add(given.rank, given.blocks, values, given.copy);
        if (inverse) add(given.rank, given.rows, inverse, given.inverses);
    }
    return parts;
}

void FactorRowsCuda::take(double* values) const {
    cuda::exchange_parts(context_, {}, taken(values, nullptr));
}

void FactorRowsCuda::give(const double* values) {
    cuda::exchange_parts(context_, collected(values, nullptr), {});
}

void FactorRowsCuda::exchange(double* values, double* inverse) {
    const std::vector<RankPart> sent = collected(values, inverse);
    cuda::exchange_parts(context_, sent, taken(values, inverse));
}

Index FactorRowsCuda::bytes(const Context& context, const RowSlab& slab, int dof, bool with_inverses) {
    Index blocks = 0;
    for (const RowSlab::Neighbour& other : slab.neighbours)
        if (other.rank > context.ranks()->rank())
            blocks += Index((with_inverses ? 2 : 1) * other.sent.size() + other.upper.column.size());
    return blocks * (Index(dof) * dof * Index(sizeof(double)) + Index(sizeof(Index)));
}

}  // namespace hyperplane
