// SPDX-License-Identifier: BSD-3-Clause
// In how many bits a preconditioner keeps its factors; vectors and arithmetic have 64.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/device/context.hpp"
#include "core/grid/grid.hpp"
#include "core/interfaces/linear_operator.hpp"
#include "core/parameters/parameters.hpp"
#include "precond/factors/reduced_values.hpp"

namespace hyperplane {

enum class FactorStorage {
    double_precision,
    single_precision,
    half_scaled,  ///< precond/factors/reduced_values.hpp
};

/// As decks name them: double, single, half_scaled.
std::string to_string(FactorStorage storage);
inline constexpr FactorStorage all_factor_storages[] = {FactorStorage::double_precision,
                                                        FactorStorage::single_precision, FactorStorage::half_scaled};
/// Those of fewer bits.
inline constexpr FactorStorage narrow_factor_storages[] = {FactorStorage::single_precision, FactorStorage::half_scaled};

/// Bytes of a value.
constexpr Index bytes_of(FactorStorage storage) {
    return storage == FactorStorage::double_precision ? 8 : storage == FactorStorage::single_precision ? 4 : 2;
}
constexpr bool is_narrow(FactorStorage storage) {
    return storage != FactorStorage::double_precision;
}

/// The key preconditioner.storage of a preconditioner that takes `storages`; `note`: how they are used, where they are
/// not widened when read. Every choice can be written; check_storage of precond/registry.hpp explains a refusal.
ParameterSpec factor_storage_parameter(const std::vector<FactorStorage>& storages, const std::string& note);
/// What a deck says; double where there is no such key.
FactorStorage factor_storage(const Parameters& parameters);
/// "double, single or half_scaled".
std::string list_of(const std::vector<FactorStorage>& storages);

/// What rounding factors met.
struct Rounding {
    Index flushed = 0;      ///< values that became zero
    Index overflows = 0;    ///< rows of coefficients with values that do not fit
    PivotEvent overflow{};  ///< the first of these in natural order
};
/// What `round` tells in a log that lies in a context's memory; `parts`: rows of coefficients that it tells apart for
/// each row of the system.
Rounding rounding_by(const Context& context, const Grid& grid, int dof, int parts,
                     const std::function<void(RoundingLog*)>& round);
/// Notes what became zero in a report. Throws SetupError, as preconditioner `name`, where a value did not fit;
/// `takes_half`: half_scaled is another way out.
void judge(const Rounding& rounding, FactorStorage storage, const std::string& name, SetupReport& report,
           bool takes_half = true);

}  // namespace hyperplane
