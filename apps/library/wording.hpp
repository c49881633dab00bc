// SPDX-License-Identifier: BSD-3-Clause
// Errors of the rooms, as a program that calls the library meets them.
#pragma once

#include <new>
#include <string>

#include "core/error.hpp"

namespace hyperplane {

/// A message of a room, whose advice names keys of a deck, with what a program sets in their place.
std::string in_words_of_the_library(std::string message);

/// Throws the error again, as the same kind with its message in words of the library.
[[noreturn]] void rethrow(const Error& error);
/// Throws OutOfMemory, since the host's memory had no room for something that is not counted.
[[noreturn]] void rethrow(const std::bad_alloc& error);

/// The result of `call`, whose errors are thrown in words of the library.
template <class Call>
auto with_words_of_the_library(const Call& call) {
    try {
        return call();
    } catch (const Error& error) {
        rethrow(error);
    } catch (const std::bad_alloc& error) {
        rethrow(error);
    }
}

}  // namespace hyperplane
