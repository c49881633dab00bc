// SPDX-License-Identifier: BSD-3-Clause
// The error of an attempt to read or write a file.
#pragma once

#include <functional>
#include <string>

#include "core/error.hpp"

namespace hyperplane {

/// The message of the FileError; "no error" if there is none.
inline std::string error_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const FileError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace hyperplane
