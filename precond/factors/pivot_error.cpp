// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/pivot_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/views.hpp"
#include "core/ranks/cuts.hpp"
#include "precond/factors/pivot_log.hpp"
#include "precond/factors/pivot_rule.hpp"

namespace hyperplane {
namespace {

/// The coefficients of A where a pivot failed.
struct Surroundings {
    std::vector<double> block;  ///< A's diagonal block, zeros where none is stored; empty if another rank has the row
    double largest = 0.0;       ///< the largest entry that a boosted pivot may have its scale from
};

/// The surroundings in the row of a general matrix whose number in the given order is `given`.
Surroundings surroundings_in_row(const BsrMatrix& a, int given) {
    const int size = a.dof() * a.dof();
    const BlockPattern& pattern = *a.pattern();
    const Index row = (pattern.order() ? pattern.order()->place[given] : given) - a.space().first_block_row();
    if (row < 0 || row >= pattern.rows()) return {};
    const Index begin = pattern.row_begin()[row], blocks = pattern.row_begin()[row + 1] - begin;
    std::vector<double> values(std::size_t(blocks * size));
    copy_between(a.context(), a.values() + begin * size, a.context().host(), values.data(),
                 Index(values.size() * sizeof(double)));
    Surroundings found{std::vector<double>(std::size_t(size), 0.0),
                       largest_of_row(values.data(), nullptr, 0, blocks, size)};
    if (const Index at = pattern.find(row, int(row)); at >= 0)
        std::copy_n(values.begin() + std::ptrdiff_t((at - begin) * size), size, found.block.begin());
    return found;
}

/// The surroundings in a cell, or in the row of a general matrix whose number in the given order is cell.x.
Surroundings surroundings(const SystemMatrix& a, Int3 cell) {
    if (const auto* const general = dynamic_cast<const BsrMatrix*>(&a)) return surroundings_in_row(*general, cell.x);
    if (a.space().is_part()) return {};
    const int dof = a.dof();
    const Context host = a.context().host();
    std::vector<double> block(std::size_t(dof * dof), 0.0);
    const auto& on_grid = dynamic_cast<const StructMatrix&>(a);
    const ConstMatrixView values = view(on_grid);
    const Index slot = on_grid.layout().slot(cell);
    for (int row = 0; row < dof; ++row)
        for (int col = 0; col < dof; ++col)
            copy_between(a.context(), &values.at(on_grid.stencil().diagonal(), row, col, slot), host,
                         &block[std::size_t(row) * dof + col], Index(sizeof(double)));
    return {block, largest_of_row(block.data(), nullptr, 0, 1, dof * dof)};
}

/// The first pivot that failed, and what stands around it.
struct FirstFailure {
    PivotEvent pivot;
    Surroundings around;
};

FirstFailure first_failure(const SystemMatrix& a, const PivotInverter& inverter) {
    SetupReport report;
    inverter.add_failures_to(report);
    const PivotEvent& pivot = report.modified.back();
    return {pivot, surroundings(a, pivot.cell)};
}

PivotRemedies remedies_of(const SystemMatrix& a, const FirstFailure& first) {
    const auto& [cell, component, value] = first.pivot;
    const auto& [block, largest] = first.around;
    const auto has_inverse = PivotRule::has_inverse;
    PivotRemedies remedies{has_inverse(value), has_inverse(value) || component > 0};
    if (!block.empty()) {
        remedies.shift = remedies.shift || has_inverse(block[std::size_t(component) * a.dof() + component]);
        remedies.boost = remedies.boost || has_inverse(largest);
    }
    if (!a.space().is_part()) return remedies;
    // One rank has the row of a general matrix; on a grid none looks.
    const std::vector<double> of_ranks =
        gathered(a.context(), {double(remedies.shift), double(remedies.boost), double(!block.empty())});
    bool known = false;
    for (std::size_t at = 0; at < of_ranks.size(); at += 3) {
        remedies.shift = remedies.shift || of_ranks[at] > 0.0;
        remedies.boost = remedies.boost || of_ranks[at + 1] > 0.0;
        known = known || of_ranks[at + 2] > 0.0;
    }
    return known ? remedies : PivotRemedies{};
}

/// Why pivot_policy = boost does not mend a zero in a general matrix; empty where that is not known.
std::string why_not_boosted(const std::string& name, const BsrMatrix& a, const FirstFailure& first, double boost) {
    double largest = first.around.block.empty() ? -1.0 : first.around.largest;
    const bool is_part = a.space().is_part();
    if (is_part)
        for (const double of_rank : gathered(a.context(), {largest})) largest = std::max(largest, of_rank);
    if (largest == 0.0)
        return " Its whole row is zero, so there is no scale to boost it to, and the matrix is singular.";
    if (std::isfinite(largest) && !PivotRule::has_inverse(boost * largest))
        return fmt::format(
            " The largest entry of its row is {:g}, and pivot_boost times that has no inverse in double precision: "
            "multiply the matrix and b by a power of ten.",
            largest);
    if (!(largest > 0.0 && std::isfinite(largest)) || a.dof() > 1) return "";
    const char* const who_keeps_all = name != "sync_free_ilu" ? "; sync_free_ilu keeps all"
                                      : is_part               ? "; with scope = global they keep all"
                                                              : "";
    return fmt::format(" The factors keep no entry of its row, so there is no scale to boost it to{}.", who_keeps_all);
}

/// Whether an elimination without row exchanges meets a zero in a regular block, at `component`.
bool needs_exchanges(std::vector<double> block, int dof, int component) {
    const double zero = 1e-14 * largest_of_row(block.data(), nullptr, 0, 1, dof * dof);
    const auto entry = [&](int row, int col) -> double& { return block[std::size_t(row) * dof + col]; };
    for (int p = 0; p < dof; ++p) {
        if (p == component && std::abs(entry(p, p)) > zero) return false;
        int largest = p;
        for (int row = p; row < dof && p >= component; ++row)
            if (std::abs(entry(row, p)) > std::abs(entry(largest, p))) largest = row;
        if (!(std::abs(entry(largest, p)) > zero)) return false;
        for (int col = 0; col < dof && largest != p; ++col) std::swap(entry(p, col), entry(largest, col));
        for (int row = p + 1; row < dof; ++row) {
            const double factor = entry(row, p) / entry(p, p);
            for (int col = p; col < dof; ++col) entry(row, col) -= factor * entry(p, col);
        }
    }
    return true;
}

/// Whether A's block where the first pivot failed needs row exchanges; false where no rank can look at it.
bool fails_without_exchanges(const SystemMatrix& a, const FirstFailure& first) {
    const std::vector<double>& block = first.around.block;
    const bool fails = !block.empty() && needs_exchanges(block, a.dof(), first.pivot.component);
    if (!a.space().is_part()) return fails;
    const std::vector<double> of_ranks = gathered(a.context(), {double(fails)});
    return std::find(of_ranks.begin(), of_ranks.end(), 1.0) != of_ranks.end();
}

}  // namespace

void refuse_pivots(const std::string& name, const SystemMatrix& a, const PivotInverter& inverter,
                   const PivotRules& rules, const std::string& remark, const std::string& of_signs) {
    if (inverter.not_finite()) throw SetupError(fmt::format("{}: {}{}", name, inverter.explain(), remark));
    const FirstFailure first = first_failure(a, inverter);
    const PivotRemedies remedies = remedies_of(a, first);
    const auto* const general = dynamic_cast<const BsrMatrix*>(&a);
    const std::string of_row = general && rules.policy == PivotPolicy::boost && inverter.is_zero()
                                   ? why_not_boosted(name, *general, first, rules.boost)
                                   : "";
    std::string message = fmt::format("{}: {}{}{}", name, inverter.explain(), of_row, remark);
    if (remedies.shift)
        message += inverter.is_zero() ? "" : of_signs;
    else if (remedies.boost && !a.space().has_grid() && a.dof() == 1 && inverter.is_zero() &&
             rules.policy != PivotPolicy::boost)
        message +=
            general && general->pattern()->order() && general->pattern()->order()->matches_rows()
                ? " ordering.rows = matching chose its row by earlier values of the matrix; match the rows anew, by "
                  "these."
                : " Its row has no diagonal coefficient, or a zero: number such rows last, or permute the rows of the "
                  "system so that large coefficients lie on the diagonal, as ordering.rows = matching does for a "
                  "matrix from a file.";
    if (a.dof() > 1 && inverter.is_zero() && fails_without_exchanges(a, first))
        message += fmt::format(
            " A's block of {0} unknowns there is regular, but blocks are inverted without row exchanges, so that none "
            "of their leading minors may be zero: number the {0} unknowns, or the {0} equations, in another order.",
            a.dof());
    if (rules.policy == PivotPolicy::boost) throw SetupError(message);
    throw PivotError(message, remedies);
}

}  // namespace hyperplane
