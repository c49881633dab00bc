// SPDX-License-Identifier: BSD-3-Clause
// A file that appears whole or not at all, in place of nothing but what io/output_guard.hpp lets it replace.
//
// It is written without a name (O_TMPFILE), synced, and only then linked to its name, so a killed
// process leaves nothing behind. Where the file system has no unnamed files, a hidden temporary file
// in the same folder takes their place; failure removes it, SIGKILL cannot.
#pragma once

#include <string>
#include <string_view>

#include "core/types.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

class AtomicFile {
public:
    /// Opens an empty file beside the one that `name` leads to; throws FileError where there can be no file, or where
    /// one lies that must not be replaced. `unnamed` = false works as on a file system without unnamed files.
    AtomicFile(std::string name, FileKind kind, Overwrite overwrite, bool unnamed = true);
    /// Discards what was written, unless it was committed.
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// A name by which this process can open the unfinished file, for libraries that want one.
    std::string open_name() const;
    /// Sets disk space aside; throws FileError where there is not enough.
    void reserve(Index bytes);
    /// Writes `bytes` at `offset`; throws FileError saying how far it came.
    void write(const void* data, Index bytes, Index offset);
    /// Syncs and gives the file its name, replacing what was there; the guard looks at that once more.
    void commit();

private:
    void open_unnamed(const std::string& folder);
    void open_named(const std::string& folder);
    void link_unnamed();
    [[noreturn]] void fail(const std::string& what, int error) const;

    std::string name_, path_;  ///< as the user knows it, and with links resolved
    FileKind kind_;
    Overwrite overwrite_;
    std::string temporary_;  ///< the hidden name while there is one
    int fd_ = -1;
};

/// Writes `content` to `path`, whole or not at all; throws FileError.
void write_atomically(const std::string& path, std::string_view content, FileKind kind, Overwrite overwrite);

}  // namespace hyperplane
