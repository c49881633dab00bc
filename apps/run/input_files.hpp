// SPDX-License-Identifier: BSD-3-Clause
// How a problem reads the files that its deck names.
#pragma once

#include "core/device/context.hpp"
#include "core/interfaces/input_files.hpp"
#include "io/deck.hpp"

namespace hyperplane {

/// The files of a deck, whose names are relative to the deck's folder.
InputFiles files_of(const Deck& deck, const Context& context);

}  // namespace hyperplane
