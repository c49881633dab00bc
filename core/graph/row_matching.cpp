// SPDX-License-Identifier: BSD-3-Clause
#include "core/graph/row_matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/graph/matcher.hpp"
#include "core/ranks/communicator.hpp"
#include "core/timer.hpp"

namespace hyperplane {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// log |det| of a block by an elimination without row exchanges; -infinity if that meets a zero, or what rounding has
/// made of one.
double logarithm_of(const double* block, int dof, std::vector<double>& work) {
    work.assign(block, block + std::ptrdiff_t(dof) * dof);
    double largest = 0.0;
    for (const double value : work) largest = std::max(largest, std::abs(value));
    double sum = 0.0;
    for (int p = 0; p < dof; ++p) {
        const double pivot = work[std::size_t(p) * dof + p];
        if (!(std::abs(pivot) > 1e-14 * largest) || !std::isfinite(pivot)) return minus_infinity;
        sum += std::log(std::abs(pivot));
        for (int row = p + 1; row < dof; ++row) {
            const double factor = work[std::size_t(row) * dof + p] / pivot;
            for (int col = p + 1; col < dof; ++col)
                work[std::size_t(row) * dof + col] -= factor * work[std::size_t(p) * dof + col];
        }
    }
    return sum;
}

/// The matrix itself, or for a rank's rows that of all ranks' rows, which is stored in `gathered`.
const BsrMatrix& of_all_ranks(const BsrMatrix& a, std::unique_ptr<BsrMatrix>& gathered) {
    if (!a.pattern()->slab()) return a;
    const std::shared_ptr<const BlockPattern>& whole = a.pattern()->whole();
    gathered = std::make_unique<BsrMatrix>(whole->context(), whole, a.dof(), a.symmetric(), matching_label);
    a.context().ranks()->all_gather({a.values(), std::size_t(a.nonzeros())},
                                    {gathered->values(), std::size_t(gathered->nonzeros())});
    return *gathered;
}

void require_finite(const BsrMatrix& a) {
    const double* const end = a.values() + a.nonzeros();
    const double* const strange = std::find_if(a.values(), end, [](double value) { return !std::isfinite(value); });
    if (strange == end) return;
    const Index block = (strange - a.values()) / (Index(a.dof()) * a.dof());
    const BlockPattern& p = *a.pattern();
    const Index row = std::upper_bound(p.row_begin(), p.row_begin() + p.rows() + 1, block) - p.row_begin() - 1;
    throw SetupError(fmt::format("rows cannot be matched: {} {} of the matrix holds {}, which is not a finite number",
                                 a.dof() == 1 ? "row" : "block row", p.given_equation(row) + 1, *strange));
}

/// The pattern of the single rows of block rows.
BlockPattern of_single_rows(const BlockPattern& a, Index dof) {
    Buffer<Index> row_begin(a.context(), matching_label, a.rows() * dof + 1);
    Buffer<int> column(a.context(), matching_label, a.blocks() * dof * dof);
    row_begin[0] = 0;
    for (Index row = 0; row < a.rows() * dof; ++row) {
        Index to = row_begin[row];
        for (Index at = a.row_begin()[row / dof]; at < a.row_begin()[row / dof + 1]; ++at)
            for (Index c = 0; c < dof; ++c) column[to++] = int(a.column()[at] * dof + c);
        row_begin[row + 1] = to;
    }
    return {std::move(row_begin), std::move(column)};
}

}  // namespace

RowMatching match_rows(const BlockPattern& pattern, std::span<const double> logarithm) {
    const auto begin = std::chrono::steady_clock::now();
    RowMatching found = Matcher(pattern, logarithm).match();
    found.seconds = seconds_since(begin);
    return found;
}

RowMatching match_rows(const BsrMatrix& given) {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_ptr<BsrMatrix> gathered;
    const BsrMatrix& a = of_all_ranks(given, gathered);
    require_finite(a);
    const Index blocks = a.pattern()->blocks(), size = Index(a.dof()) * a.dof();
    Buffer<double> logarithm(a.context(), matching_label, blocks);
#pragma omp parallel num_threads(a.context().threads_for(a.nonzeros()))
    {
        std::vector<double> work;
#pragma omp for schedule(static)
        for (Index at = 0; at < blocks; ++at) logarithm[at] = logarithm_of(a.values() + at * size, a.dof(), work);
    }
    RowMatching found = match_rows(*a.pattern(), {logarithm.data(), std::size_t(blocks)});
    found.seconds = seconds_since(begin);
    return found;
}

MatchingScales matching_scales(const BsrMatrix& given) {
    std::unique_ptr<BsrMatrix> gathered;
    const BsrMatrix& a = of_all_ranks(given, gathered);
    require_finite(a);
    const BlockPattern& blocks = *a.pattern();
    const Index dof = a.dof();
    std::optional<BlockPattern> single;
    const BlockPattern& p = dof == 1 ? blocks : single.emplace(of_single_rows(blocks, dof));
    Buffer<double> logarithm(a.context(), matching_label, p.blocks());
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.nonzeros()))
    for (Index row = 0; row < p.rows(); ++row) {
        double* to = logarithm.data() + p.row_begin()[row];
        for (Index at = blocks.row_begin()[row / dof]; at < blocks.row_begin()[row / dof + 1]; ++at)
            for (Index c = 0; c < dof; ++c) {
                const double size = std::abs(a.values()[(at * dof + row % dof) * dof + c]);
                *to++ = size > 0.0 ? std::log(size) : minus_infinity;
            }
    }
    const std::span<const double> sizes{logarithm.data(), std::size_t(logarithm.size())};
    Matcher matcher(p, sizes);
    MatchingScales found{matcher.match(), {}, {}};
    if (found.matching.unmatched == 0) matcher.set_scales(sizes, found);
    return found;
}

Index bytes_of_matching(Index rows, Index blocks) {
    // The logarithm and the cost of each block, and what is known of each row and column.
    return 2 * blocks * Index(sizeof(double)) + rows * Index(6 * sizeof(double) + sizeof(int) + 1);
}

Index bytes_of_matching_scales(Index rows, Index blocks, int dof, bool on_ranks) {
    const Index entries = blocks * dof * dof;
    return bytes_of_matching(rows * dof, entries) + (dof > 1 ? BlockPattern::bytes(rows * dof, entries) : 0) +
           (on_ranks ? entries * Index(sizeof(double)) : 0);
}

std::string unmatched_text(const RowMatching& matching, int dof, const std::string& instead) {
    const char* const row = dof == 1 ? "row" : "block row";
    const char* const usable = dof == 1 ? "entries that are not zero" : "blocks that can be inverted";
    const Index others = matching.rows_around - 1;
    const std::string advice =
        dof == 1 && others == 0
            ? ""  // no pivot_policy helps a row of zeros
            : ", or " + instead +
                  (dof == 1 ? " and, with a factorisation, set preconditioner.pivot_policy = boost" : "");
    const std::string around =
        others == 0 ? fmt::format("it has no {}", usable)
                    : fmt::format("it and {} other {}{} have {} in only {}", others, row, others == 1 ? "" : "s",
                                  usable, counted(others, dof == 1 ? "column" : "block column"));
    return fmt::format(
        "no column is left for {} of {}, the first of which is {} {}: {}{}{}", matching.unmatched,
        counted(matching.row.size(), row), row, matching.first + 1, around,
        dof == 1 ? ", so the matrix is singular whatever its other values are; look for equations that are missing or "
                   "given twice"
                 : "; match single rows with problem.block = 1",
        advice);
}

void require_all_matched(const RowMatching& matching, int dof, const std::string& where) {
    if (matching.unmatched > 0)
        throw FileError(where + ": " + unmatched_text(matching, dof, "leave ordering.rows out"));
}

BlockPattern with_rows_matched(const BlockPattern& a, const RowMatching& matching) {
    Buffer<Index> row_begin(a.context(), matching_label, a.rows() + 1);
    Buffer<int> column(a.context(), matching_label, a.blocks());
    for (Index row = 0; row < a.rows(); ++row) {
        const Index from = matching.row[row], begin = a.row_begin()[from], count = a.row_begin()[from + 1] - begin;
        row_begin[row + 1] = row_begin[row] + count;
        std::copy_n(a.column() + begin, count, column.data() + row_begin[row]);
    }
    return {std::move(row_begin), std::move(column)};
}

}  // namespace hyperplane
