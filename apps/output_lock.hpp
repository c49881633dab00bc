// SPDX-License-Identifier: BSD-3-Clause
// One process at a time works on an output: NAME.lock beside NAME.h5, locked while it works and removed after it.
//
// On one machine the kernel decides (flock): it gives the lock back when its holder dies, however it dies. The file
// says who holds it: host, process, since when, doing what.
//
// Between machines, on NFS and the like, flock may or may not reach the other one. So the holder also sets the file's
// time anew every few seconds, by the clock of the file's server. Who is given the lock by flock, but finds another
// machine's name in the file, watches that time for `patience`: where it moves, the other one is at work; where it
// stands still, the other one is dead, and the lock is taken over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "apps/command_line.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

class OutputLock {
public:
    /// Times that tests shorten.
    struct Pace {
        std::chrono::milliseconds beat{5000};       ///< between signs of life
        std::chrono::milliseconds patience{16000};  ///< without one, after which a holder elsewhere is dead
    };

    /// Who holds a lock.
    struct Holder {
        std::string host, since, command;
        long process = 0;
        /// "process 12 on node1 (hyperplane run a.ini), since 2026-03-01T12:00:00Z"
        std::string text() const;
    };

    /// Locks NAME.lock for `what`. Throws LockedError naming the holder where another process has it, unless `wait`:
    /// then it waits, and throws LockedError only where `stop` tells it to give up. Throws FileError where a file that
    /// is no lock has that name.
    struct Request {
        std::string path;     ///< of the lock's file
        std::string what;     ///< what is to be worked on, for messages
        std::string command;  ///< what this process does, for others' messages
        Overwrite overwrite = Overwrite::own;
        bool wait = false;
        std::function<bool()> stop = [] { return false; };
    };
    explicit OutputLock(const Request& request, Pace pace);
    explicit OutputLock(const Request& request) : OutputLock(request, Pace{}) {}
    ~OutputLock();
    OutputLock(const OutputLock&) = delete;
    OutputLock& operator=(const OutputLock&) = delete;

    /// Who holds the lock of that file now; nothing where no one does. Of a holder elsewhere that has given no sign of
    /// life for a minute it says nothing.
    static std::optional<Holder> holder(const std::string& path);

private:
    struct Attempt {
        bool open = false, created = false, locked = false, flock_works = false;
    };
    Attempt open_file();
    /// Takes the lock, or says who has it.
    std::optional<Holder> try_to_take();
    void write_holder() const;
    void beat(std::chrono::milliseconds interval);

    std::string path_, command_;
    Pace pace_;
    int fd_ = -1;
    std::thread heart_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
};

/// NAME.lock of the record NAME.h5.
std::string lock_of(const std::string& record);

/// The lock of an output as the user wants it: --wait, --force. A signal ends the wait.
OutputLock::Request lock_request(const std::string& output, const Invocation& invocation);

}  // namespace hyperplane
