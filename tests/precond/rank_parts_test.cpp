// SPDX-License-Identifier: BSD-3-Clause
// The parts of subdomain_ildu0 that ranks solve as a whole: every row is solved once, with its blocks within its part,
// and what ranks send is what others receive.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/graph/orderings.hpp"
#include "core/matrix/row_cuts.hpp"
#include "on_ranks.hpp"
#include "precond/general_cases.hpp"
#include "precond/sync_free_ilu/rank_parts.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

/// Exchanges as a GPU does: reads what is sent from `from`, and writes what is received to `to`.
void exchange(Communicator& ranks, const RowSlab& slab, const std::vector<double>& from, std::vector<double>& to) {
    for (const RowSlab::Neighbour& other : slab.neighbours) {
        std::vector<double> message;
        for (const int slot : other.sent) message.push_back(from.at(std::size_t(slot)));
        if (!message.empty()) ranks.send(other.rank, message);
    }
    for (const RowSlab::Neighbour& other : slab.neighbours) {
        ASSERT_LE(other.slot + other.received, Index(to.size()));
        if (other.received > 0) ranks.receive(other.rank, {to.data() + other.slot, std::size_t(other.received)});
    }
}

/// What a rank factors of `whole`, whose blocks have their places as values; and each row's number, sent there and
/// back.
void expect_whole_parts(const Context& context, const std::shared_ptr<const BlockPattern>& whole,
                        const GraphParts& parts, const PartOptions& options) {
    Communicator& ranks = *context.ranks();
    const auto a = rows_of_rank(context, whole, 1, "test");
    const SolvedParts mine = parts_of_rank(context, *a, 1, options, "test");
    const std::vector<double> solved = gathered(context, {double(mine.solved())});
    EXPECT_EQ(std::accumulate(solved.begin(), solved.end(), 0.0), double(whole->rows()));
    const Index first = whole->row_begin()[a->slab()->first];
    std::vector<double> values(std::size_t(mine.pattern->blocks()), -1.0);
    for (std::size_t at = 0; at < mine.own_blocks.size(); ++at)
        values[std::size_t(mine.first_block) + at] = double(first + mine.own_blocks[at]);
    for (const SolvedParts::Moved& moved : mine.moved) {
        std::vector<double> message;
        for (const Index place : moved.places) message.push_back(double(first + place));
        if (!message.empty()) ranks.send(moved.rank, message);
    }
    for (const SolvedParts::Moved& moved : mine.moved)
        if (moved.last > moved.first)
            ranks.receive(moved.rank, {values.data() + moved.first, std::size_t(moved.last - moved.first)});
    for (Index at = 0; at < mine.solved(); ++at) {
        const Index row = mine.row[at];
        Index next = mine.pattern->row_begin()[at];
        for (Index place = whole->row_begin()[row]; place < whole->row_begin()[row + 1]; ++place) {
            const int j = whole->column()[place];
            if (parts.part[j] != parts.part[row]) continue;
            ASSERT_LT(next, mine.pattern->row_begin()[at + 1]);
            EXPECT_EQ(mine.row[mine.pattern->column()[next]], j);
            EXPECT_EQ((*mine.part)[mine.pattern->column()[next]], (*mine.part)[at]);
            EXPECT_EQ(values[next++], double(place));
        }
        EXPECT_EQ(next, mine.pattern->row_begin()[at + 1]);
    }
    std::vector<double> own(std::size_t(a->rows())), there(std::size_t(mine.solved()), -1.0);
    std::iota(own.begin(), own.end(), double(a->slab()->first));
    for (std::size_t at = 0; at < mine.own_rows.size(); ++at)
        there[std::size_t(mine.first_row) + at] = own[mine.own_rows[at]];
    exchange(ranks, mine.there, own, there);
    for (Index at = 0; at < mine.solved(); ++at) EXPECT_EQ(there[at], double(mine.row[at]));
    there.resize(std::size_t(mine.solved() + mine.returned), -1.0);
    exchange(ranks, mine.back, std::vector<double>(there), there);
    for (Index row = 0; row < a->rows(); ++row) EXPECT_EQ(there[mine.result[row]], own[row]);
}

TEST(RankParts, HaveEveryRowOnceAndBringResultsBack) {
    for (const GeneralCase& matrix : {GeneralCase{"random", 8197, 1, 0}, {"arrow", 8300, 1, 0}, {"lower", 8300, 1, 0}})
        for (const PartOptions& options : {PartOptions{700, true}, PartOptions{1, true}, PartOptions{8300, true},
                                           PartOptions{300, false}, PartOptions{4000, false}}) {
            if (!options.consecutive && !metis_built()) continue;
            SCOPED_TRACE(matrix.pattern + " in parts of " + std::to_string(options.most_rows));
            const auto whole = reference::to_bsr_matrix(Context::cpu(1), data_of(matrix)).pattern();
            const GraphParts parts = divided_rows(Context::cpu(1), *whole, options, "test");
            for (int ranks = 2; ranks <= 4; ++ranks)
                on_each_rank(ranks,
                             [&](const Context& context) { expect_whole_parts(context, whole, parts, options); });
        }
}

TEST(RankParts, AreNotDividedWhereCutsLieBetweenThem) {
    const auto whole = reference::to_bsr_matrix(Context::cpu(1), data_of({"random", 8192, 1, 0})).pattern();
    for (const Index rows : {2048, 1, 2000})
        on_each_rank(2, [&](const Context& context) {
            const auto a = rows_of_rank(context, whole, 1, "test");
            EXPECT_EQ(parts_of_rank(context, *a, 1, {rows, true}, "test").divided, rows == 2000) << rows;
        });
}

}  // namespace
}  // namespace hyperplane
