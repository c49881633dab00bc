// SPDX-License-Identifier: BSD-3-Clause
// Lets one process at a time work on an output: it locks NAME.lock beside NAME.h5 meanwhile, and removes it at the end.
//
// On one machine the kernel keeps the lock (flock) and releases it when its holder dies, however that happens. The file
// says who holds it: host, process, since when, and the command.
//
// Between machines, on NFS for instance, flock may have no effect. So the holder also updates the file's time every few
// seconds, by the clock of the file's server. A process that gets the lock from flock, but finds the name of another
// machine in the file, watches that time for `patience`. If the time changes, the other process is at work; otherwise
// it is dead, and the lock is taken over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/base/invocation.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

class OutputLock {
public:
    /// Times, which tests shorten.
    struct Pace {
        std::chrono::milliseconds beat{5000};       ///< between updates of the file's time
        std::chrono::milliseconds patience{16000};  ///< without an update, after which the other one is dead
    };

    /// Who holds a lock.
    struct Holder {
        std::string host, since, command;
        long process = 0;
        /// "process 12 on node1 (hyperplane run a.ini), since 2026-03-01T12:00:00Z"
        std::string text() const;
    };

    /// Locks NAME.lock for `what`. If another process holds it, throws a LockedError that names the holder or, with
    /// `wait`, waits; then it throws LockedError only if `stop` says so. Throws FileError if a file that is not a lock
    /// has that name.
    struct Request {
        std::string path;      ///< path of the lock's file
        std::string what;      ///< the output that is locked, for messages
        std::string command;   ///< the command of this process, for the messages of others
        std::string key = "";  ///< what names the output, "a.ini:9: output.file", for messages; empty: not known
        Overwrite overwrite = Overwrite::own;
        bool wait = false;
        std::function<bool()> stop = [] { return false; };
    };
    explicit OutputLock(const Request& request, Pace pace);
    explicit OutputLock(const Request& request) : OutputLock(request, Pace{}) {}
    ~OutputLock();
    OutputLock(const OutputLock&) = delete;
    OutputLock& operator=(const OutputLock&) = delete;

    /// The current holder of the lock of that file, if any. A holder on another machine that has not updated the file
    /// for a minute does not count.
    static std::optional<Holder> holder(const std::string& path);
    /// Throws FileError if the folder of an output does not exist; `key` as in Request.
    static void require_folder(const std::string& path, const std::string& key = "");

private:
    struct Attempt {
        bool open = false, created = false, locked = false, flock_works = false;
    };
    Attempt open_file();
    /// Takes the lock, or returns who holds it.
    std::optional<Holder> try_to_take();
    void write_holder() const;
    void beat(std::chrono::milliseconds interval);

    std::string path_, command_, key_;
    Pace pace_;
    int fd_ = -1;
    std::thread heart_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
};

/// The request for the lock of an output's own name, NAME.lock of NAME.h5 (io/companions.hpp), with the options --wait
/// and --force. A signal ends the wait. Throws FileError if links form a cycle.
OutputLock::Request lock_request(const std::string& output, const Invocation& invocation);

/// Locks an output under its name and, if that is a link, the file to which it leads. So one file has one lock under
/// all its names, and nobody else works under this name or writes the files beside it, even if the link is changed or
/// removed meanwhile. The output itself is written where to_write() says, since a changed link may lead to a file that
/// is not locked.
class RecordLock {
public:
    /// `key` as in OutputLock::Request.
    RecordLock(const std::string& output, const Invocation& invocation, const std::string& key = "");

    /// The name under which the output is written at last, to be asked for just before. If the name has been a link and
    /// leads to another file now, it is the file to which it led, with a warning. If it has been none and is a link
    /// now, the file to which it leads is locked first; throws as the constructor does.
    std::string to_write();

    /// The files of the locks: one, or for a link two.
    static std::vector<std::string> files(const std::string& output);
    /// Who holds the lock of the name, or that of the file to which it leads.
    static std::optional<OutputLock::Holder> holder(const std::string& output);

private:
    /// Locks the file to which the name leads, if it is a link.
    void lock_file();

    OutputLock::Request request_;  ///< for the name
    std::string output_, file_;    ///< the name, and where it leads
    OutputLock of_name_;
    std::optional<OutputLock> of_file_;
};

}  // namespace hyperplane
