// SPDX-License-Identifier: BSD-3-Clause
// The log, and the one place where exceptions become exit codes.
#pragma once

#include <functional>

namespace hyperplane {

/// From now on the log goes to stderr, "warning: ..." a line. Called once.
void start_log();

/// The body's exit status; where it throws, the message once on stderr, with `json` as an object on
/// stdout too, and the Error's exit code. Also notices a standard output that cannot be written.
int guarded(bool json, const std::function<int()>& body);

}  // namespace hyperplane
