// SPDX-License-Identifier: BSD-3-Clause
// Ranks whose parts of the grid begin at multiples of some number of planes, for preconditioners that compute in boxes
// of the grid, which no cut may divide.
#pragma once

#include <memory>
#include <utility>

#include "core/ranks/communicator.hpp"

namespace hyperplane {

/// Passes every exchange on to `ranks`; part_of (core/ranks/cuts.hpp) cuts the grid at multiples of `planes` alone.
class AlignedRanks final : public Communicator {
public:
    AlignedRanks(std::shared_ptr<Communicator> ranks, int planes) : ranks_(std::move(ranks)), planes_(planes) {}

    int planes() const { return planes_; }
    int rank() const override { return ranks_->rank(); }
    int size() const override { return ranks_->size(); }
    int sharing_cores() const override { return ranks_->sharing_cores(); }
    bool one_process() const override { return ranks_->one_process(); }
    int ranks_on_host() const override { return ranks_->ranks_on_host(); }
    int place_on_host() const override { return ranks_->place_on_host(); }
    void send(int to, std::span<const double> values) override { ranks_->send(to, values); }
    void receive(int from, std::span<double> values) override { ranks_->receive(from, values); }
    void all_gather(std::span<const double> mine, std::span<double> all) override { ranks_->all_gather(mine, all); }
    void abort(ExitCode code, const std::string& reason) override { ranks_->abort(code, reason); }

private:
    std::shared_ptr<Communicator> ranks_;
    int planes_;
};

}  // namespace hyperplane
