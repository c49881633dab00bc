// SPDX-License-Identifier: BSD-3-Clause
// The ranks of another communicator, for communicators that change one property of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/ranks/communicator.hpp"

namespace hyperplane {

/// Passes every question and every exchange on to `ranks`.
class PassedOnRanks : public Communicator {
public:
    explicit PassedOnRanks(std::shared_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}
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
};

}  // namespace hyperplane
