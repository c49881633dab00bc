// SPDX-License-Identifier: BSD-3-Clause
// The error message for decks and files of matrices whose lines end in a way that cannot be read.
#pragma once

namespace hyperplane {

/// What is said of a text whose lines do not end as they do on Linux or Windows.
inline constexpr const char* lone_returns =
    "the lines end in CR alone, as on old Macintoshes; tr '\\r' '\\n' < FILE > NEWFILE converts them";

}  // namespace hyperplane
