// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/rounding_events.hpp"

namespace hyperplane {

std::string to_string(FactorStorage storage) {
    switch (storage) {
        case FactorStorage::double_precision: return "double";
        case FactorStorage::single_precision: return "single";
        case FactorStorage::half_scaled: return "half_scaled";
    }
    return "";
}

std::string list_of(const std::vector<FactorStorage>& storages) {
    std::string text;
    for (std::size_t at = 0; at < storages.size(); ++at)
        text += (at == 0 ? "" : at + 1 < storages.size() ? ", " : " or ") + to_string(storages[at]);
    return text;
}

ParameterSpec factor_storage_parameter(const std::vector<FactorStorage>& storages, const std::string& note) {
    ParameterSpec spec{"preconditioner", "storage", ParameterType::choice, "double", ""};
    if (storages.size() == 1)
        spec.description =
            "precision in which factors are stored; this preconditioner supports " + list_of(storages) + " alone";
    else
        spec.description =
            "precision in which factors are stored, " + list_of(storages) + "; " +
            (note.empty() ? "they are widened to double when they are read; vectors and arithmetic are double" : note);
    if (std::find(storages.begin(), storages.end(), FactorStorage::half_scaled) != storages.end())
        spec.description +=
            ". half_scaled is half precision with a power of two as scale for each row of each triangle";
    for (const FactorStorage storage : all_factor_storages) spec.choices.push_back(to_string(storage));
    return spec;
}

FactorStorage factor_storage(const Parameters& parameters) {
    if (!parameters.has("preconditioner", "storage")) return FactorStorage::double_precision;
    const std::string& text = parameters.text("preconditioner", "storage");
    for (const FactorStorage storage : all_factor_storages)
        if (text == to_string(storage)) return storage;
    return FactorStorage::double_precision;
}

void clear(const Context& context, RoundingLog* log) {
    const RoundingLog empty{empty_pivot_log(), 0};
    if (context.backend() == Backend::cuda)
        context.stream().copy(&empty, log, sizeof empty);
    else
        *log = empty;
}

Rounding rounding_by(const Context& context, const Grid& grid, int dof, int parts,
                     const std::function<void(RoundingLog*)>& round) {
    RoundingLog met{empty_pivot_log(), 0};
    Buffer<RoundingLog> log = copied_to(context, "factor", std::vector<RoundingLog>{met});
    round(log.data());
    if (context.backend() == Backend::cuda)
        context.stream().copy(log.data(), &met, sizeof met);
    else
        met = log[0];
    return events_of(met, grid, dof, parts);
}

Rounding events_of(const RoundingLog& met, const Grid& grid, int dof, int parts) {
    Rounding result{.flushed = Index(met.flushed), .overflows = Index(met.overflows.failures)};
    if (result.overflows > 0) {
        const Index row = Index(met.overflows.failed[0]) / parts;
        result.overflow = {grid.point(row / dof), int(row % dof), met.overflows.failed_value[0]};
    }
    return result;
}

namespace {

/// The same for the points of a grid; rows need not ascend with the ranks.
Rounding met_by_all_ranks(const Context& context, const Grid& grid, const Rounding& mine) {
    const PivotEvent& first = mine.overflow;
    const std::vector<double> all =
        gathered(context, {double(mine.flushed), double(mine.overflows), double(grid.row(first.cell)),
                           double(first.component), first.value});
    Rounding result;
    double first_row = 0.0;
    for (std::size_t at = 0; at < all.size(); at += 5) {
        result.flushed += Index(all[at]);
        if (const double row = all[at + 2]; all[at + 1] > 0.0 && (result.overflows == 0 || row < first_row)) {
            result.overflow = {grid.point(Index(row)), int(all[at + 3]), all[at + 4]};
            first_row = row;
        }
        result.overflows += Index(all[at + 1]);
    }
    return result;
}

}  // namespace

Rounding met_by_all_ranks(const Context& context, const IndexSpace& rows, const Rounding& mine) {
    return met_by_all_ranks(context, Grid::of_rows(rows.all_block_rows()), mine);
}

Rounding rounding_by(const Context& context, const Layout& layout, int dof, int parts,
                     const std::function<void(RoundingLog*)>& round) {
    const Rounding mine = rounding_by(context, layout.grid(), dof, parts, round);
    return layout.is_part() ? met_by_all_ranks(context, layout.grid(), mine) : mine;
}

Rounding rounding_by(const Context& context, const IndexSpace& rows, int dof, int parts,
                     const std::function<void(RoundingLog*)>& round) {
    const Grid places = Grid::of_rows(rows.all_block_rows());
    const Rounding mine = rounding_by(context, places, dof, parts, round);
    return rows.is_part() ? met_by_all_ranks(context, places, mine) : mine;
}

void judge(const Rounding& rounding, FactorStorage storage, const std::string& name, SetupReport& report,
           bool takes_half) {
    const auto& [cell, component, value] = rounding.overflow;
    judge_at(fmt::format("at cell ({},{},{}), component {},", cell.x, cell.y, cell.z, component), rounding, storage,
             name, report, takes_half);
}

void judge_at(const std::string& place, const Rounding& rounding, FactorStorage storage, const std::string& name,
              SetupReport& report, bool takes_half) {
    if (rounding.overflows > 0) {
        constexpr double most_in_half = 65504.0 * 0x1p127;  // with the largest scale
        const bool single = storage == FactorStorage::single_precision;
        const bool half_holds = single && takes_half && std::abs(rounding.overflow.value) <= most_in_half;
        throw SetupError(
            fmt::format("{}: a value of the factors {} is {:g}, which {} cannot hold "
                        "({} such rows of coefficients in all). Use preconditioner.storage = {}double.",
                        name, place, rounding.overflow.value,
                        single ? "single precision" : "half precision with a scale from 2^-126 to 2^127",
                        rounding.overflows, half_holds ? "half_scaled, which scales each row, or " : ""));
    }
    report.values_flushed = rounding.flushed;
}

}  // namespace hyperplane
