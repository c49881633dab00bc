// SPDX-License-Identifier: BSD-3-Clause
#include "io/values_in_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace hyperplane {

FileIdentity FileIdentity::of(const std::string& path) {
    struct stat file = {};
    if (stat(path.c_str(), &file) != 0) throw FileError(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
    return {path, file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec};
}

SavedValues values_in_file(const FileIdentity& file, const hdf5::Group& group, const std::string& name, Index first,
                           Index count) {
    if (count == 0) return {};
    return {count, [file, item = group.item(name).substr(1), begin = first](Index from, Index some, double* to) {
                if (FileIdentity::of(file.path) != file)
                    throw FileError(file.path + ": was changed while a run read it; start the run again");
                const hdf5::Quiet quiet;
                const hdf5::Id open = hdf5::open_to_read(file.path);
                hdf5::Group::root(open, hdf5::Mode::read, file.path).read_some(item, begin + from, some, to);
            }};
}

}  // namespace hyperplane
