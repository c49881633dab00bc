// SPDX-License-Identifier: BSD-3-Clause
// The order in which a rank computes the rows of a triangle of a general matrix, where a row may depend on rows of
// other ranks.
//
// In the lower triangle rows depend on rows of earlier ranks, in the upper one on rows of later ranks, so the ranks are
// a pipeline. The levels of the whole matrix's rows are divided into stages of about equal work. A rank receives what
// it needs of a stage, computes its rows of the stage and passes on what others need of them, so that the ranks follow
// each other a stage apart. Rows of a stage ascend, or descend in the upper triangle. What is computed for a row does
// not depend on the stages.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/grid/row_slab.hpp"
#include "core/ranks/communicator.hpp"
#include "precond/general/solves/row_walk.hpp"

namespace hyperplane {

class RankStages {
public:
    /// The rows that are exchanged with one other rank, in the order of stages.
    struct Exchange {
        const RowSlab::Neighbour* with;
        std::vector<Index> at;     ///< the places of rows among those that are sent or received
        std::vector<int> rows;     ///< their numbers in the pattern
        std::vector<Index> begin;  ///< [stage]; one value more than there are stages
    };

    RankStages() = default;
    /// `pattern`: row `slab.before` is the first own row, and columns are numbered in the same way. All ranks must call
    /// it.
    RankStages(const Context& context, const BlockPattern& pattern, const RowSlab& slab, Side side,
               const std::string& label);
    /// The own rows, stage by stage.
    std::span<const int> rows() const { return {rows_.data(), std::size_t(rows_.size())}; }
    static Index bytes(const RowSlab& slab) { return slab.rows * Index(sizeof(int)); }

    /// Stage by stage: messages.size(exchange, at) values are received for each row of an exchange and given to
    /// messages.take(exchange, at, values), rows(RowRange) computes, and messages.give(exchange, at, message) appends
    /// what is sent.
    template <class Messages, class Rows>
    void for_each(Communicator& ranks, const Messages& messages, const Rows& rows) const {
        std::vector<double> message;
        for (std::size_t stage = 0; stage + 1 < begin_.size(); ++stage) {
            for (const Exchange& from : from_)
                receive(ranks, from, from.begin[stage], from.begin[stage + 1], messages, message);
            rows(RowRange{rows_.data(), begin_[stage], begin_[stage + 1], side_});
            for (const Exchange& to : to_) {
                message.clear();
                for (Index at = to.begin[stage]; at < to.begin[stage + 1]; ++at) messages.give(to, at, message);
                if (!message.empty()) ranks.send(to.with->rank, message);
            }
        }
    }

    /// The same for all rows at once, where none depends on another one: everything is sent before it is received.
    template <class Messages>
    void exchange(Communicator& ranks, const Messages& messages) const {
        std::vector<double> message;
        for (const Exchange& to : to_) {
            message.clear();
            for (Index at = 0; at < Index(to.rows.size()); ++at) messages.give(to, at, message);
            ranks.send(to.with->rank, message);
        }
        for (const Exchange& from : from_) receive(ranks, from, 0, Index(from.rows.size()), messages, message);
    }

private:
    template <class Messages>
    static void receive(Communicator& ranks, const Exchange& from, Index first, Index last, const Messages& messages,
                        std::vector<double>& message) {
        Index size = 0;
        for (Index at = first; at < last; ++at) size += messages.size(from, at);
        if (size == 0) return;
        message.resize(std::size_t(size));
        ranks.receive(from.with->rank, message);
        const double* values = message.data();
        for (Index at = first; at < last; ++at) {
            messages.take(from, at, values);
            values += messages.size(from, at);
        }
    }

    Side side_ = Side::lower;
    Buffer<int> rows_;          ///< the own rows, stage by stage
    std::vector<Index> begin_;  ///< [stage]
    std::vector<Exchange> from_, to_;
};

}  // namespace hyperplane
