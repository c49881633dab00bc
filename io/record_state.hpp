// SPDX-License-Identifier: BSD-3-Clause
// The part of a record's schema from which a run goes on: the state of a checkpoint.
#pragma once

#include <vector>

#include "io/hdf5.hpp"
#include "io/record.hpp"
#include "io/sealed_file.hpp"
#include "io/values_in_file.hpp"

namespace hyperplane {

/// Where the values of a state are written later.
using Places = std::vector<PlacedValues>;

/// Transfers the group /state. Where `places` is given, its values are not written, but the file has room for them;
/// those that are read stay in `file` until they are needed. Throws FileError.
void transfer_state(const hdf5::Group& g, RunState& state, const FileIdentity& file, Places* places);

}  // namespace hyperplane
