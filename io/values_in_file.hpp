// SPDX-License-Identifier: BSD-3-Clause
// Numbers of an HDF5 file that are read when they are needed, and only as many as are needed.
#pragma once

#include <string>

#include "core/interfaces/saved_values.hpp"
#include "io/hdf5.hpp"

namespace hyperplane {

/// A file as it was when it was first read.
struct FileIdentity {
    std::string path = {};
    unsigned long device = 0, inode = 0;
    Index bytes = 0, changed_seconds = 0, changed_nanoseconds = 0;

    /// Throws FileError if there is no such file.
    static FileIdentity of(const std::string& path);
    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// The numbers [first, first + count) of a dataset. Reading them throws FileError if the file is not the same any more.
SavedValues values_in_file(const FileIdentity& file, const hdf5::Group& group, const std::string& name, Index first,
                           Index count);

}  // namespace hyperplane
