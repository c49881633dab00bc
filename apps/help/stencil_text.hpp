// SPDX-License-Identifier: BSD-3-Clause
// The ready-made stencils in words, for `list` and `help`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/grid/stencil.hpp"

namespace hyperplane {

/// "7 entries, radius 1, levels i + 1 j + 1 k, 2 colours"
std::string summary_of(const Stencil& stencil);
/// The operations of a row in the triangular solve and in the factorisation, a line each.
std::vector<std::string> operations_on(const Stencil& stencil);
/// Explains a ready-made stencil: its summary, its offsets and what follows from them; nothing if there is none.
std::optional<std::string> explain_stencil(const std::string& name);

}  // namespace hyperplane
