// SPDX-License-Identifier: BSD-3-Clause
// Errors and exit codes: every failure is an Error of one of the kinds below, each with its own exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace hyperplane {

/// The exit codes of the program (docs/cookbook: "exit codes").
enum class ExitCode : int {
    ok = 0,              ///< valid and converged
    internal = 1,        ///< a bug in Hyperplane
    usage = 2,           ///< the command line or the deck is wrong
    not_converged = 3,   ///< the iterations allowed were not enough
    diverged = 4,        ///< diverged, not finite, breakdown, false convergence
    preconditioner = 5,  ///< the set-up failed at a pivot that cannot be used
    out_of_memory = 6,   ///< on the host or on the GPU
    file = 7,            ///< an input or output file cannot be used
    expectation = 8,     ///< an expectation ([expect]) or a verification failed
    no_device = 9,       ///< no suitable device
    locked = 10,         ///< another process is at work on the same output
    checkpointed = 75,   ///< stopped by a signal after a checkpoint; the same command continues the run
};

/// Base of all errors that a user can cause or encounter; what() is a complete message that says what to do.
class Error : public std::runtime_error {
public:
    Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

/// A wrong command line, deck or combination of components.
struct UsageError : Error {
    explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// A file that cannot be read, written or understood.
struct FileError : Error {
    explicit FileError(const std::string& message) : Error(ExitCode::file, message) {}
};

/// An output that another process is at work on; the message says which process.
struct LockedError : Error {
    explicit LockedError(const std::string& message) : Error(ExitCode::locked, message) {}
};

/// An allocation that failed; the message holds the ledger of what was held at that moment.
struct OutOfMemory : Error {
    explicit OutOfMemory(const std::string& message) : Error(ExitCode::out_of_memory, message) {}
};

/// The requested device does not exist or cannot do the work.
struct DeviceError : Error {
    explicit DeviceError(const std::string& message) : Error(ExitCode::no_device, message) {}
};

/// What ends the ranks of a run when another rank has failed; the message has that rank's number and reason.
struct RanksAborted : Error {
    RanksAborted(ExitCode code, const std::string& message) : Error(code, message) {}
};

/// A preconditioner that cannot be set up, e.g. a zero pivot; the message names the cell.
struct SetupError : Error {
    explicit SetupError(const std::string& message) : Error(ExitCode::preconditioner, message) {}
};

}  // namespace hyperplane
