// SPDX-License-Identifier: BSD-3-Clause
// Files that hold matrices elsewhere, or text that is encoded otherwise, recognised by their beginning.
#pragma once

#include <string>
#include <string_view>

namespace hyperplane {

/// What a file is that begins with these bytes, if it is a kind of file that is known and not read here, and what to do
/// with it: "a file of NumPy, not Matrix Market or a binary file of PETSc; write ...". Empty for all others. `head`: at
/// least the first 512 bytes, or all bytes of a shorter file.
std::string foreign_kind(std::string_view head);

}  // namespace hyperplane
