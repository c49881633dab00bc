// SPDX-License-Identifier: BSD-3-Clause
// Names of the files beside a record: checkpoints, lock, fields, profile. Each begins with the record's stem, and no
// two records have the same stem:
//
//   NAME.h5, where NAME does not end in a dot  ->  NAME      any other NAME  ->  NAME.    the whole name and a dot
//   NAME.lock, NAME.0.checkpoint, ...                        NAME..lock, NAME..0.checkpoint, ...
//
// The first kind of stem does not end in a dot and the second one does, so `case` and `case.h5` share no file.
#pragma once

#include <string>

namespace hyperplane {

/// The names of all files beside a record begin with this.
std::string stem_of(const std::string& record_path);

/// Throws UsageError if the record's name ends as those of files beside records do, .lock for instance: it could be the
/// name of a file of this record or another one. The same for the fields of its final state, if the run writes them:
/// those of NAME_series.h5 would have the name of the series in time of NAME.h5. `where` says where the name stands.
void check_record_name(const std::string& record_path, const std::string& where, bool writes_fields = false);

}  // namespace hyperplane
