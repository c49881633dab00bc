// SPDX-License-Identifier: BSD-3-Clause
#include "apps/library/wording.hpp"

#include <array>
#include <utility>

namespace hyperplane {
namespace {

/// What messages say of a deck, and what it is for a program.
constexpr std::array<std::pair<const char*, const char*>, 10> words{{
    {"grid.cells: ", "StencilShape::extents: "},
    {"matrix.format = general makes it one", "a SparseMatrix is one"},
    {"set matrix.format = general", "hand the matrix over as a SparseMatrix"},
    {"set matrix.format = structured for a problem on a grid", "hand a matrix on a grid over as a StencilMatrix"},
    {" and ordering.name = multicolor", ", by the order of the rows that the program gives it"},
    {"ordering.rows = matching does for a matrix from a file", "ordering.rows = matching does for a SparseMatrix"},
    {"problem.block = 1", "SparseMatrix::block = 1"},
    {", since device.memory_limit allows no more", ""},
    {"device.backend = cuda", "SolverSettings::gpu"},
    {"device.backend = cpu", "no SolverSettings::gpu"},
}};

}  // namespace

std::string in_words_of_the_library(std::string message) {
    for (const auto& [of_deck, of_library] : words) {
        const std::string from = of_deck, to = of_library;
        for (std::size_t at = message.find(from); at != message.npos; at = message.find(from, at + to.size()))
            message.replace(at, from.size(), to);
    }
    return message;
}

void rethrow(const Error& error) {
    const std::string message = in_words_of_the_library(error.what());
    if (dynamic_cast<const UsageError*>(&error)) throw UsageError(message);
    if (dynamic_cast<const DeviceError*>(&error)) throw DeviceError(message);
    if (dynamic_cast<const OutOfMemory*>(&error)) throw OutOfMemory(message);
    if (dynamic_cast<const SetupError*>(&error)) throw SetupError(message);
    if (dynamic_cast<const FileError*>(&error)) throw FileError(message);
    throw Error(error.code(), message);
}

void rethrow(const std::bad_alloc&) {
    throw OutOfMemory(
        "out of memory: the host has no room for what the set-up notes beside the matrix; use a smaller "
        "matrix, or keys that take less memory");
}

}  // namespace hyperplane
