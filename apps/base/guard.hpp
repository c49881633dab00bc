// SPDX-License-Identifier: BSD-3-Clause
// The one place where exceptions become exit codes.
#pragma once

#include <functional>

namespace hyperplane {

/// Calls `body` and returns its exit status. If it throws, prints the message on stderr, with `json` also as an object
/// on stdout, and returns the exit code of the Error. Also fails if standard output could not be written.
int guarded(bool json, const std::function<int()>& body);

}  // namespace hyperplane
