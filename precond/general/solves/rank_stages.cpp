// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/solves/rank_stages.hpp"

#include <numeric>

#include "core/ranks/cuts.hpp"

namespace hyperplane {
namespace {

constexpr Index stages_a_rank = 8;    // filling the pipeline of r ranks takes r - 1 stages, under an eighth of them
constexpr Index most_buckets = 4096;  // of levels, whose work each rank sends to all: 32 KiB

/// The level of each row in memory, counted from 1; other ranks send those of their rows.
std::vector<double> levels_in_memory(Communicator& ranks, const BlockPattern& p, const RowSlab& slab, Side side,
                                     const std::vector<RankStages::Exchange>& from,
                                     const std::vector<RankStages::Exchange>& to) {
    std::vector<double> level(std::size_t(p.rows()), 0.0), message;
    for (const RankStages::Exchange& exchange : from) {
        message.resize(exchange.rows.size());
        ranks.receive(exchange.with->rank, message);
        for (std::size_t at = 0; at < message.size(); ++at) level[exchange.rows[at]] = message[at];
    }
    for (Index step = 0; step < slab.rows; ++step) {
        const Index row = slab.before + (side == Side::lower ? step : slab.rows - 1 - step);
        for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1]; ++at)
            if (const Index j = p.column()[at]; side == Side::lower ? j < row : j > row)
                level[row] = std::max(level[row], level[j]);
        level[row] += 1.0;
    }
    for (const RankStages::Exchange& exchange : to) {
        message.clear();
        for (const int row : exchange.rows) message.push_back(level[row]);
        ranks.send(exchange.with->rank, message);
    }
    return level;
}

/// The numbers [0, count) in the order of stage_of(number), equal ones as they were; `begin`: where each stage begins.
template <class StageOf>
std::vector<Index> sorted(Index count, Index stages, const StageOf& stage_of, std::vector<Index>& begin) {
    begin.assign(std::size_t(stages) + 1, 0);
    for (Index at = 0; at < count; ++at) ++begin[stage_of(at) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Index> next(begin.begin(), begin.end() - 1), order(static_cast<std::size_t>(count));
    for (Index at = 0; at < count; ++at) order[next[stage_of(at)]++] = at;
    return order;
}

}  // namespace

RankStages::RankStages(const Context& context, const BlockPattern& pattern, const RowSlab& slab, Side side,
                       const std::string& label)
    : side_(side), rows_(context, label, slab.rows) {
    Communicator& ranks = *context.ranks();
    for (const RowSlab::Neighbour& other : slab.neighbours) {
        const bool receives = (other.rank < ranks.rank()) == (side == Side::lower);
        Exchange exchange{&other, {}, {}, {}};
        if (receives)
            for (Index at = 0; at < other.received; ++at) exchange.rows.push_back(int(slab.before + other.slot + at));
        else
            for (const int slot : other.sent) exchange.rows.push_back(int(slab.before) + slot);
        if (!exchange.rows.empty()) (receives ? from_ : to_).push_back(std::move(exchange));
    }
    const std::vector<double> level = levels_in_memory(ranks, pattern, slab, side, from_, to_);
    const double deepest = largest_of_ranks(context, *std::max_element(level.begin(), level.end()));
    const Index buckets = std::min(Index(deepest), most_buckets);
    const auto bucket_of = [&](Index row) { return Index(level[row] - 1.0) * buckets / Index(deepest); };
    std::vector<double> work(std::size_t(buckets), 0.0);
    for (Index row = slab.before; row < slab.before + slab.rows; ++row)
        work[bucket_of(row)] += double(pattern.row_begin()[row + 1] - pattern.row_begin()[row]);
    const std::vector<double> of_ranks = gathered(context, work);
    const double all = std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0);
    const Index stages = stages_a_rank * ranks.size();
    std::vector<Index> stage(static_cast<std::size_t>(buckets));
    double before = 0.0;
    for (Index bucket = 0; bucket < buckets; ++bucket) {
        stage[bucket] = std::min(stages - 1, Index(before / all * double(stages)));
        for (std::size_t at = std::size_t(bucket); at < of_ranks.size(); at += std::size_t(buckets))
            before += of_ranks[at];
    }
    const auto stage_of = [&](Index row) { return stage[bucket_of(row)]; };
    const std::vector<Index> own = sorted(
        slab.rows, stages, [&](Index at) { return stage_of(slab.before + at); }, begin_);
    for (Index at = 0; at < slab.rows; ++at) rows_[at] = int(slab.before + own[at]);
    for (std::vector<Exchange>* exchanges : {&from_, &to_})
        for (Exchange& exchange : *exchanges) {
            const std::vector<int> given = std::move(exchange.rows);
            exchange.at = sorted(
                Index(given.size()), stages, [&](Index at) { return stage_of(given[at]); }, exchange.begin);
            exchange.rows.clear();
            for (const Index at : exchange.at) exchange.rows.push_back(given[at]);
        }
}

}  // namespace hyperplane
