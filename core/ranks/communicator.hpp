// SPDX-License-Identifier: BSD-3-Clause
// Communicator: how the ranks of a run exchange data of the host's memory. It is made once, where a run begins
// (core/ranks/threads.hpp), and passed on in the ranks' contexts; nothing else knows what the ranks are.
#pragma once

#include <span>
#include <string>

#include "core/error.hpp"

namespace hyperplane {

/// One rank's access to all of them. Every function waits until its part of the exchange is done. Once a rank has
/// called abort, calls of other ranks throw RanksAborted instead of waiting.
class Communicator {
public:
    virtual ~Communicator() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// How many ranks, this one included, may use the processor cores that this one may use.
    virtual int sharing_cores() const = 0;
    /// Whether all ranks are threads of one process, so that an address means the same to all of them.
    virtual bool one_process() const = 0;
    /// How many ranks are on this one's host, and how many of them come before this one.
    virtual int ranks_on_host() const = 0;
    virtual int place_on_host() const = 0;

    /// Sends values to another rank; they may be overwritten on return. What one rank sends to another arrives in
    /// order. It does not wait until they are received.
    virtual void send(int to, std::span<const double> values) = 0;
    /// Receives the next values that a rank sends. Throws Error (internal) if their number is another one.
    virtual void receive(int from, std::span<double> values) = 0;
    /// Gathers the values of all ranks, in the order of ranks, on every rank. mine.size() may differ from rank to rank.
    /// Throws Error (internal) if `all` has not room for exactly all of them.
    virtual void all_gather(std::span<const double> mine, std::span<double> all) = 0;
    /// Ends all ranks: whatever they wait for throws RanksAborted with this code, and with rank and reason in its
    /// message. Only the first call counts.
    virtual void abort(ExitCode code, const std::string& reason) = 0;
};

}  // namespace hyperplane
