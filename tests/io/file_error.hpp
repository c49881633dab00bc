// SPDX-License-Identifier: BSD-3-Clause
// What an attempt to read or write a file is answered with.
#pragma once

#include <functional>
#include <string>

#include "core/error.hpp"

namespace hyperplane {

/// The message of the FileError, "no error" where there is none.
inline std::string error_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const FileError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace hyperplane
