// SPDX-License-Identifier: BSD-3-Clause
// The word that was probably meant, for messages about unknown names.
#pragma once

#include <string>
#include <vector>

namespace hyperplane {

/// The word of `known` with the smallest edit distance from `word`, or the one that begins with `word`; "" if none is
/// near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

}  // namespace hyperplane
