// SPDX-License-Identifier: BSD-3-Clause
// The words behind a verb, as the options and arguments that it takes.
#pragma once

#include <string>
#include <vector>

#include "apps/base/invocation.hpp"

namespace hyperplane {

/// Parses what follows the verb; throws UsageError. Abbreviated options are refused.
Invocation parse_invocation(const Verb& verb, const std::vector<std::string>& words);

/// "usage: hyperplane run [OPTIONS] DECK" and one line for each option.
std::string usage(const Verb& verb);

}  // namespace hyperplane
