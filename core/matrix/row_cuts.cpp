// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/row_cuts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/ranks/rows_cuda.hpp"
#include "core/vector/plane_sums.hpp"
#include "core/vector/sum_order.hpp"

namespace hyperplane {
namespace {

/// The columns of the rows [first, last) that lie outside of these rows, each once, ascending.
std::vector<int> columns_outside(const BlockPattern& p, Index first, Index last) {
    std::vector<int> found;
    for (Index at = p.row_begin()[first]; at < p.row_begin()[last]; ++at)
        if (const int j = p.column()[at]; j < first || j >= last) found.push_back(j);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

/// Where the values of ascending `rows` that lie in [first, last) begin and end.
std::pair<Index, Index> places_within(const std::vector<int>& rows, Index first, Index last) {
    const auto place = [&](Index row) { return std::lower_bound(rows.begin(), rows.end(), row) - rows.begin(); };
    return {place(first), place(last)};
}

/// Adds a row's columns above the diagonal that keeps(column), as slots.
template <class Keeps>
void add_upper(const BlockPattern& whole, Index row, const RowSlab& slab, const Keeps& keeps, RowSlab::Columns& to) {
    for (Index at = whole.row_begin()[row]; at < whole.row_begin()[row + 1]; ++at)
        if (const int j = whole.column()[at]; j > row && keeps(j)) to.column.push_back(slab.slot(j));
    to.begin.push_back(Index(to.column.size()));
}

RowSlab slab_of(const BlockPattern& whole, const std::vector<Index>& cuts, int rank) {
    RowSlab slab;
    slab.first = cuts[rank];
    slab.rows = cuts[rank + 1] - slab.first;
    slab.all_rows = whole.rows();
    slab.halo = columns_outside(whole, slab.first, cuts[rank + 1]);
    slab.before = places_within(slab.halo, 0, slab.first).second;
    slab.whole = whole.statistics();
    for (Index at = 0; at < slab.before; ++at)
        add_upper(
            whole, slab.halo[at], slab, [&](int j) { return slab.has(j); }, slab.upper);
    for (int other = 0; other + 1 < int(cuts.size()); ++other) {
        if (other == rank) continue;
        const auto [begin, end] = places_within(slab.halo, cuts[other], cuts[other + 1]);
        const Index slot = other < rank ? begin - slab.before : slab.rows + begin - slab.before;
        RowSlab::Neighbour neighbour{other, {}, slot, end - begin, {}};
        const std::vector<int> read = columns_outside(whole, cuts[other], cuts[other + 1]);
        const auto [first, last] = places_within(read, slab.first, cuts[rank + 1]);
        const auto has = [&](int j) {
            return (j >= cuts[other] && j < cuts[other + 1]) || std::binary_search(read.begin(), read.end(), j);
        };
        for (Index at = first; at < last; ++at) {
            neighbour.sent.push_back(read[at] - int(slab.first));
            if (other > rank) add_upper(whole, read[at], slab, has, neighbour.upper);
        }
        if (neighbour.received > 0 || !neighbour.sent.empty()) slab.neighbours.push_back(std::move(neighbour));
    }
    return slab;
}

/// The rows of `slab`, in the host's memory; they keep `kept`.
std::shared_ptr<const BlockPattern> cut(const Context& host, const BlockPattern& whole, std::shared_ptr<RowSlab> slab,
                                        const std::string& label, std::shared_ptr<const BlockPattern> kept = nullptr) {
    const Index first = slab->first, begin = whole.row_begin()[first];
    Buffer<Index> row_begin(host, label, slab->rows + 1);
    for (Index row = 0; row <= slab->rows; ++row) row_begin[row] = whole.row_begin()[first + row] - begin;
    Buffer<int> column(host, label, row_begin[slab->rows]);
#pragma omp parallel for schedule(static) num_threads(host.threads_for(column.size()))
    for (Index at = 0; at < column.size(); ++at) column[at] = slab->slot(whole.column()[begin + at]);
    return std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column), whole.order(), std::move(slab),
                                                std::move(kept));
}

}  // namespace

std::vector<Index> row_cuts(const BlockPattern& whole, int dof, int ranks, Backend backend) {
    const Index rows = whole.rows();
    const Index together =
        backend == Backend::cuda ? cuda::SumOrder::rows_of_group(rows) : PlaneSums::rows_of_block(rows, dof);
    const Index groups = (rows + together - 1) / together;
    if (groups < ranks)
        throw UsageError(
            fmt::format("device.ranks = {}: the matrix has {} in {} of {}, which no cut between ranks may divide, "
                        "since sums follow "
                        "them; {}",
                        ranks, counted(rows, "block row"), counted(groups, "block"), together,
                        groups > 1 ? fmt::format("give {} ranks or fewer", groups) : "run it on one rank"));
    std::vector<Index> cuts{0};
    for (int rank = 1; rank < ranks; ++rank) {
        const Index nearest = (whole.first_row(rank, ranks) + together / 2) / together;
        const Index before = cuts.back() / together;
        cuts.push_back(together * std::clamp<Index>(nearest, before + 1, groups - (ranks - rank)));
    }
    cuts.push_back(rows);
    return cuts;
}

std::shared_ptr<const BlockPattern> rows_of_rank(const Context& context,
                                                 const std::shared_ptr<const BlockPattern>& whole, int dof,
                                                 const std::string& label) {
    const Communicator& ranks = *context.ranks();
    auto slab = std::make_shared<RowSlab>(
        slab_of(*whole, row_cuts(*whole, dof, ranks.size(), context.backend()), ranks.rank()));
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda) slab->on_gpu = cuda::rows_on_gpu(context, *slab, dof, label);
    return cut(context.host(), *whole, std::move(slab), label, whole);
}

std::shared_ptr<const BlockPattern> rows_between(const Context& context, const BlockPattern& whole,
                                                 const std::vector<Index>& cuts, const std::string& label) {
    return cut(context.host(), whole, std::make_shared<RowSlab>(slab_of(whole, cuts, context.ranks()->rank())), label);
}

}  // namespace hyperplane
