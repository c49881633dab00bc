// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/input_files.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "apps/base/backend.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/announcements.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "io/matrix_files.hpp"

namespace hyperplane {
namespace {

/// Throws OutOfMemory if the memory left cannot hold a file of `count` numbers and what is made of them.
void check_room_for(const std::string& path, Index count) {
    const Index needed = 2 * count * Index(sizeof(double)), left = available_memory();
    if (needed <= left) return;
    throw OutOfMemory(
        fmt::format("{}: to read its {} numbers takes {}, and {} are left on this machine; take a smaller grid.cells "
                    "with a file of as many values, or a machine with more memory",
                    path, count, in_mib(needed), in_mib(left)));
}

}  // namespace

InputFiles files_of(const Deck& deck, const Context& context) {
    const std::filesystem::path folder = folder_of(deck);
    const auto resolve = [folder](const std::string& path) { return (folder / path).string(); };
    return {
        .matrix =
            [resolve, context](const std::string& path, FileSymmetry symmetry) {
                announce_reading(context, resolve(path));
                return read_matrix(resolve(path), symmetry, context.threads());
            },
        .vector = [resolve](const std::string& path) { return read_vector(resolve(path)); },
        .doubles =
            [resolve](const std::string& path, Index count) {
                check_room_for(resolve(path), count);
                return read_doubles(resolve(path), count);
            },
    };
}

}  // namespace hyperplane
