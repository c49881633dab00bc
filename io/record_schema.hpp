// SPDX-License-Identifier: BSD-3-Clause
// The schema of a record: one list of groups, attributes and datasets, by which records are both written and read.
#pragma once

#include "io/hdf5.hpp"
#include "io/record.hpp"
#include "io/record_state.hpp"

namespace hyperplane {

/// Transfers the attributes with which records and comparisons begin. Throws FileError if the schema is another one.
void transfer_origin(const hdf5::Group& root, int& schema_version, std::string& code_version, std::string& git_sha);

/// Writes all of `record` below `root`, or reads it. Where `places` is given, the values of its state are not written,
/// but the file has room for them; those that are read stay in the file until they are needed. Throws FileError.
void transfer_record(const hdf5::Group& root, RecordData& record, Places* places = nullptr);

}  // namespace hyperplane
