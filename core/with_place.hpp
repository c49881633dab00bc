// SPDX-License-Identifier: BSD-3-Clause
// Puts a place in front of the messages of errors.
#pragma once

#include <string>

#include "core/error.hpp"

namespace hyperplane {

/// Returns what `work` returns. A FileError that it throws gets `place` ("deck.ini:9: problem.file") in front of its
/// message.
template <class Work>
auto with_place(const std::string& place, const Work& work) {
    try {
        return work();
    } catch (const FileError& error) {
        throw FileError(place + ": " + error.what());
    }
}

}  // namespace hyperplane
