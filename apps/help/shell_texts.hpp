// SPDX-License-Identifier: BSD-3-Clause
// Texts for the shell that are made from the tables of verbs, keys and components.
#pragma once

#include <string>

namespace hyperplane {

/// A bash script that completes verbs, options, files, keys and their values.
std::string bash_completion();

/// The manual page hyperplane(1), for man(1).
std::string man_page();

}  // namespace hyperplane
