// SPDX-License-Identifier: BSD-3-Clause
// The records {value, epoch} that the solves with a general matrix's factors exchange between ranks on GPUs.
//
// The kernel of a rank stores what other ranks depend on into their memory. Where a solve is recorded as a graph, all
// kernels run at the same time and wait for records. In a solve that is queued once, a rank's stream waits until the
// kernels of the ranks that it depends on have ended. Both give the same values. Between hosts a kernel stores the
// records into memory of its own, from which they are messages, and the kernels follow each other.
#pragma once

#include <memory>
#include <vector>

#include "core/device/context.hpp"
#include "core/grid/row_slab.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "precond/general/orders/levels.hpp"
#include "precond/general/solves/arguments.hpp"

namespace hyperplane {

class RowsBetweenRanks {
public:
    /// Where the kernel of a solve stores records of the own rows (GeneralSolveArguments).
    struct Sent {
        Buffer<int> begin;
        Buffer<PlaceOfRow> to;
        Buffer<EpochRecord> out;               ///< between hosts: where they are stored
        std::vector<RankPart> sent, received;  ///< and what is exchanged then
    };

    /// All ranks must make theirs at the same time. Where ranks share a GPU, kernels that fill it must not wait for
    /// each other, so from then on no steps of the context are recorded.
    RowsBetweenRanks(const Context& context, std::shared_ptr<const RowSlab> slab, int dof);

    /// The places of records by the rows in memory, where `order` has the own rows by position: other ranks' rows come
    /// behind the own ones.
    std::vector<int> positions(const std::vector<int>& order) const;
    /// `records`: of a solve, of which the halo's lie behind those of the own rows. All ranks must call it for the same
    /// side.
    Sent sent(Side side, const std::vector<int>& positions, EpochRecord* records, const std::string& label) const;

    /// Before the first solve of an application: other ranks have read the records of the application before.
    void begin() const;
    /// Calls launch() to queue the kernel of a solve.
    template <class Launch>
    void solve(Side side, const Sent& exchanged, const Launch& launch) const {
        if (cuda::by_messages(context_)) {
            cuda::exchange_parts(context_, {}, exchanged.received);
            launch();
            return cuda::exchange_parts(context_, exchanged.sent, {});
        }
        const bool recording = context_.stream().recording();
        if (!recording) await_ranks_before(side);
        launch();
        if (!recording) tell_ranks_after(side);
    }

    const RowSlab& slab() const { return *slab_; }
    static Index bytes(const RowSlab& slab);

private:
    /// Whether a neighbour's rows come before this rank's in a solve.
    bool is_before(const RowSlab::Neighbour& other, Side side) const {
        return (other.rank < context_.ranks()->rank()) == (side == Side::lower);
    }
    void await_ranks_before(Side side) const;
    void tell_ranks_after(Side side) const;

    Context context_;
    std::shared_ptr<const RowSlab> slab_;
    int dof_;
};

}  // namespace hyperplane
