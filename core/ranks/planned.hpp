// SPDX-License-Identifier: BSD-3-Clause
// A rank of a run that does not take place: what one rank holds is known without the others.
#pragma once

#include <utility>
#include <vector>

#include "core/ranks/communicator.hpp"

namespace hyperplane {

/// One of `size` ranks. Exchanging anything throws Error (internal).
class PlannedRank final : public Communicator {
public:
    PlannedRank(int rank, int size) : rank_(rank), size_(size) {}
    /// Ranks whose parts begin at these planes, behind which stands the number of planes; part_of (core/ranks/cuts.hpp)
    /// cuts grids of so many planes there.
    PlannedRank(int rank, std::vector<int> cuts) : rank_(rank), size_(int(cuts.size()) - 1), cuts_(std::move(cuts)) {}
    /// One of `size` ranks, each of which has grids as a whole: part_of cuts none.
    static PlannedRank with_whole_grids(int size) {
        PlannedRank rank(0, size);
        rank.cuts_grids_ = false;
        return rank;
    }

    const std::vector<int>& cuts() const { return cuts_; }
    bool cuts_grids() const { return cuts_grids_; }
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int sharing_cores() const override { return size_; }
    bool one_process() const override { return true; }
    int ranks_on_host() const override { return size_; }
    int place_on_host() const override { return rank_; }
    void send(int /*to*/, std::span<const double> /*values*/) override { refuse(); }
    void receive(int /*from*/, std::span<double> /*values*/) override { refuse(); }
    void all_gather(std::span<const double> /*mine*/, std::span<double> /*all*/) override { refuse(); }
    void abort(ExitCode /*code*/, const std::string& /*reason*/) override { refuse(); }

private:
    [[noreturn]] static void refuse() {
        throw Error(ExitCode::internal, "a rank of a run that does not take place was asked to exchange something");
    }

    int rank_, size_;
    std::vector<int> cuts_;  ///< empty: as in any run
    bool cuts_grids_ = true;
};

}  // namespace hyperplane
