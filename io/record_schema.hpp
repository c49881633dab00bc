// The schema of a record: one list of groups, attributes and datasets that both writes and reads.
#pragma once

#include "io/hdf5.hpp"
#include "io/record.hpp"

namespace hyperplane {

/// Writes all of `record` below `root`, or reads it. Throws FileError.
void transfer_record(const hdf5::Group& root, RecordData& record);

}  // namespace hyperplane
