// SPDX-License-Identifier: BSD-3-Clause
// The precision in which a preconditioner stores its factors. Vectors and arithmetic are in double precision.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/device/context.hpp"
#include "core/grid/layout.hpp"
#include "core/interfaces/preconditioner.hpp"
#include "core/parameters/parameters.hpp"
#include "precond/factors/reduced_values.hpp"

namespace hyperplane {

enum class FactorStorage {
    double_precision,
    single_precision,
    half_scaled,  ///< see precond/factors/reduced_values.hpp
};

/// The name in a deck: double, single or half_scaled.
std::string to_string(FactorStorage storage);
inline constexpr FactorStorage all_factor_storages[] = {FactorStorage::double_precision,
                                                        FactorStorage::single_precision, FactorStorage::half_scaled};
/// The storages in reduced precision.
inline constexpr FactorStorage reduced_factor_storages[] = {FactorStorage::single_precision,
                                                            FactorStorage::half_scaled};

/// Bytes a value.
constexpr Index bytes_of(FactorStorage storage) {
    return storage == FactorStorage::double_precision ? 8 : storage == FactorStorage::single_precision ? 4 : 2;
}
constexpr bool is_reduced(FactorStorage storage) {
    return storage != FactorStorage::double_precision;
}

/// The key preconditioner.storage of a preconditioner that supports `storages`. `note` says how reduced storages are
/// used if they are not simply widened when they are read. The key accepts every storage; check_storage
/// (precond/registry.hpp) refuses those that are not supported, with a message that says which are.
ParameterSpec factor_storage_parameter(const std::vector<FactorStorage>& storages, const std::string& note);
/// The storage chosen by a deck; double if the preconditioner has no such key.
FactorStorage factor_storage(const Parameters& parameters);
/// The names as a list in words, such as "double, single or half_scaled".
std::string list_of(const std::vector<FactorStorage>& storages);

/// The events of rounding factors.
struct Rounding {
    Index flushed = 0;      ///< values that became zero
    Index overflows = 0;    ///< rows of coefficients with values that do not fit
    PivotEvent overflow{};  ///< the first of these in natural order
};
/// Calls `round` with a log in the context's memory and returns the events it recorded. `parts` is the number of rows
/// of coefficients that `round` numbers separately for each row of the matrix.
Rounding rounding_by(const Context& context, const Grid& grid, int dof, int parts,
                     const std::function<void(RoundingLog*)>& round);
/// Does the same for the points of a layout. Where it is a part of the grid, all ranks get the events of all of them.
Rounding rounding_by(const Context& context, const Layout& layout, int dof, int parts,
                     const std::function<void(RoundingLog*)>& round);
/// Removes the events of a log in the context's memory.
void clear(const Context& context, RoundingLog* log);
/// Enters the number of flushed values in a report. Throws SetupError if a value did not fit; `name` is the
/// preconditioner's name in its message, and `takes_half` says whether the message may suggest half_scaled.
void judge(const Rounding& rounding, FactorStorage storage, const std::string& name, SetupReport& report,
           bool takes_half = true);

}  // namespace hyperplane
