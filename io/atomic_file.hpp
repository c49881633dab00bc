// SPDX-License-Identifier: BSD-3-Clause
// A file that appears whole or not at all, and replaces only what io/output_guard.hpp allows.
//
// It is written without a name (O_TMPFILE), synced, and only then linked to its name, so a killed process leaves
// nothing behind. If the file system has no unnamed files, a hidden temporary file in the same folder is used; it is
// removed after a failure, but remains after SIGKILL.
#pragma once

#include <string>
#include <string_view>

#include "core/types.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

class AtomicFile {
public:
    /// Opens an empty file in the folder of the file to which `name` leads. Throws FileError if no file can be made
    /// there, or if there is one that must not be replaced. `unnamed` = false works as on a file system without unnamed
    /// files.
    AtomicFile(std::string name, FileKind kind, Overwrite overwrite, bool unnamed = true);
    /// Discards what was written, unless it was committed.
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// A name by which this process can open the unfinished file, for libraries that need a name.
    std::string open_name() const;
    /// Allocates disk space; throws FileError if there is not enough.
    void reserve(Index bytes);
    /// Writes `bytes` at `offset`; throws FileError, which says how many bytes were written.
    void write(const void* data, Index bytes, Index offset);
    /// Number of bytes written so far, up to the last one.
    Index size() const;
    /// Reads `bytes` at `offset`, which must have been written; throws FileError.
    void read(void* to, Index bytes, Index offset) const;
    /// Puts what was written on the disk, and checks again that the file may have its name. Throws FileError.
    void sync() const;
    /// Syncs the file and gives it its name. What had the name before is replaced.
    void commit();

private:
    void open_unnamed(const std::string& folder);
    void open_named(const std::string& folder);
    void link_unnamed();
    [[noreturn]] void fail(const std::string& what, int error) const;

    std::string name_, path_;  ///< the name as given by the user, and with links resolved
    FileKind kind_;
    Overwrite overwrite_;
    std::string temporary_;  ///< the hidden name, empty if there is none
    int fd_ = -1;
};

/// Throws FileError where an AtomicFile of this name would, so that this is told before the work and not after it.
void require_writable(const std::string& name, FileKind kind, Overwrite overwrite);

/// Writes `content` to `path`, whole or not at all; throws FileError.
void write_atomically(const std::string& path, std::string_view content, FileKind kind, Overwrite overwrite);

}  // namespace hyperplane
