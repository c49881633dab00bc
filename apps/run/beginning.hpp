// SPDX-License-Identifier: BSD-3-Clause
// Where a run begins: at the initial state, or where an earlier run of the same deck stopped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/run/case.hpp"
#include "io/record.hpp"

namespace hyperplane {

/// Which earlier runs may be continued.
enum class Restart {
    never,      ///< --fresh
    preempted,  ///< the default: continue a preempted record
    required,   ///< --restart: continue a preempted or failed record or a checkpoint, or extend a finished record
    possible,   ///< continue either if there is one; for the cases of a study
};

/// What a run goes on from.
struct Continued {
    bool anew = false;                      ///< the step under way is given up and begins again, with a new set-up
    bool other_length = false;              ///< the deck has another time step or Courant number than the record
    std::vector<std::string> changed = {};  ///< keys with other values: "solver.rtol is 1e-6, was 1e-8"
    RecordData record;
};

/// The most advanced state from which the run can be continued; nothing if it begins at the initial state. The log says
/// where the state comes from, and which slots are damaged. Throws UsageError if record or checkpoint is of another
/// deck, apart from keys that may change, and FileError if the record is not one, if its rows have other places, or if
/// a restart is required and impossible.
std::optional<Continued> find_beginning(const Case& a_case, Restart restart);

/// A mark of the places of the rows, which a state keeps as `order_item`. A run that continues the state knows by it
/// whether its rows have the same places.
std::vector<double> order_mark(const RowOrder& order);
constexpr const char* order_item = "run/order";

}  // namespace hyperplane
