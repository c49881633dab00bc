// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/row_matching.hpp"
#include "precond/scaling/scaled.hpp"

namespace hyperplane {
namespace {

/// The exponent e for which value 2^e is nearest to 1, in the ratio; 0 where there is no such number.
int towards_one(double value) {
    if (!(value > 0.0) || !std::isfinite(value)) return 0;
    constexpr int largest = 1023;  // 2^1024 is no number, and subnormal values ask for more
    return std::min(-int(std::lround(std::log2(value))), largest);
}

/// Calls body(row, largest absolute value, diagonal value) for each row.
template <class Body>
void for_rows(const BsrMatrix& a, const Body& body) {
    const BlockPattern& p = *a.pattern();
    const int dof = a.dof();
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.nonzeros()))
    for (Index row = 0; row < p.rows(); ++row)
        for (int r = 0; r < dof; ++r) {
            double largest = 0.0, diagonal = 0.0;
            for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1]; ++at)
                for (int c = 0; c < dof; ++c) {
                    const double value = a.values()[(at * dof + r) * dof + c];
                    largest = std::max(largest, std::abs(value));
                    if (p.column()[at] == row && r == c) diagonal = value;
                }
            body(row * dof + r, largest, diagonal);
        }
}

/// Row by row the largest absolute value becomes about 1.
Scales by_row(const BsrMatrix& a) {
    Scales scales{std::vector<int>(std::size_t(a.unknowns()), 0), {}};
    for_rows(a, [&](Index row, double largest, double) { scales.row[row] = towards_one(largest); });
    return scales;
}

/// Diagonals become about 1 in size; where one is zero, the largest value of the row.
Scales symmetric(const BsrMatrix& a) {
    Scales scales{std::vector<int>(std::size_t(a.unknowns()), 0), {}};
    for_rows(a, [&](Index row, double largest, double diagonal) {
        scales.row[row] = towards_one(std::sqrt(diagonal != 0.0 ? std::abs(diagonal) : largest));
    });
    scales.column = scales.row;
    return scales;
}

/// The exponents nearest to scales of which the logarithms are given, times 2^`shift`, for all ranks' rows or columns,
/// which `kind` and `given` name. Throws SetupError if a scale or its inverse is above 2^511.
std::vector<int> exponents_of(const std::vector<double>& logarithm, double shift, const char* kind,
                              const std::function<Index(Index)>& given) {
    std::vector<int> exponents;
    for (const double value : logarithm) {
        const double exponent = std::round(value / std::log(2.0) + shift);
        constexpr double largest = 511.0;  // so that scaled entries and vectors keep their bits
        if (!(std::abs(exponent) <= largest))
            throw SetupError(
                fmt::format("scaling.name = matching: {} {} would be multiplied by 2^{:.0f}, which leaves vectors no "
                            "room in double "
                            "precision; "
                            "use scaling.name = symmetric, row or none",
                            kind, given(Index(exponents.size())) + 1, exponent));
        exponents.push_back(int(exponent));
    }
    return exponents;
}

/// Duff and Koster's scaling, of symmetric matrices Duff and Pralet's: all entries become at most about 1 in size, and
/// those of a matching about 1.
Scales by_matching(const BsrMatrix& a) {
    const RowSlab* const slab = a.pattern()->slab().get();
    const BlockPattern& all = slab ? *a.pattern()->whole() : *a.pattern();
    const Index dof = a.dof();
    const auto given_row = [&](Index row) { return all.given_equation(row / dof) * dof + row % dof; };
    const auto given_column = [&](Index column) { return all.given_row(column / dof) * dof + column % dof; };
    MatchingScales found = matching_scales(a);
    if (found.matching.unmatched > 0) {
        found.matching.first = given_row(found.matching.first);
        throw SetupError("scaling.name = matching: " +
                         unmatched_text(found.matching, 1, "use scaling.name = symmetric, row or none"));
    }
    double most = -HUGE_VAL, least = HUGE_VAL;  // of the exponents of rows and, with the other sign, of columns
    for (std::size_t at = 0; at < found.row.size(); ++at) {
        double &row = found.row[at], &column = found.column[at];
        if (a.symmetric()) row = column = 0.5 * (row + column);
        most = std::max({most, row, -column});
        least = std::min({least, row, -column});
    }
    // Only the products of a row's and a column's scale matter, so that both may be equally far from 1; of a symmetric
    // matrix they are, and the shift is 0.
    const double shift = std::round(-0.5 * (most + least) / std::log(2.0));
    std::vector<int> row = exponents_of(found.row, shift, "row", given_row);
    std::vector<int> column = exponents_of(found.column, -shift, "column", given_column);
    if (slab) {
        const auto own = [&](const std::vector<int>& of_all) {
            const auto first = of_all.begin() + slab->first * dof;
            return std::vector<int>(first, first + slab->rows * dof);
        };
        return {own(row), own(column)};
    }
    return {std::move(row), std::move(column)};
}

ScalingRow scaling(const char* name, const char* summary, const char* explanation, MakeScales make,
                   ColumnScales columns) {
    ScalingRow row;
    row.name = name;
    row.summary = summary;
    row.explanation = explanation;
    row.create = std::move(make);
    row.columns = columns;
    return row;
}

ScalingRow scaling_by_matching() {
    ScalingRow row = scaling(
        "matching", "one entry of each row and column about 1, and none larger",
        "The preconditioner is built from R A C. Of all choices of one entry in each row and each column it takes one "
        "whose product is the largest in size: those entries then have an absolute value between 0.5 and 2, and no "
        "entry one above 2; R and C hold powers of two. Where blocks have one unknown they are the entries that "
        "ordering.rows = matching puts on the diagonal, so the two belong together; without that they stay where they "
        "are, and the diagonal may have "
        "zeros as before. Where blocks have several unknowns, single rows are matched. A symmetric matrix stays "
        "symmetric: R and C are then equal, the geometric mean of both. One thread finds the scales, in each set-up. "
        "Sources: Duff and Koster, On algorithms for permuting large entries to the diagonal of a sparse matrix, 2001 "
        "(job 5 of MC64); for symmetric matrices Duff and Pralet, Strategies for scaling and pivoting for sparse "
        "symmetric indefinite problems, 2005.",
        by_matching, ColumnScales::own);
    row.aliases = {"mc64"};
    row.setup_bytes = [](const BlockCounts& all, bool on_ranks) {
        return bytes_of_matching_scales(all.rows, all.blocks, all.dof, on_ranks);
    };
    return row;
}

}  // namespace

const std::vector<ScalingRow>& scalings() {
    static const std::vector<ScalingRow> rows{
        scaling(
            "none", "the matrix as it is", "The preconditioner is built from the matrix itself.",
            [](const BsrMatrix&) { return Scales{}; }, ColumnScales::those_of_rows),
        scaling("row", "rows whose largest values are about 1",
                "The preconditioner is built from R A, whose rows have a largest absolute value between 0.7 and 1.5; R "
                "holds powers of two. The scaled matrix is not symmetric, so cg refuses it.",
                by_row, ColumnScales::none),
        scaling("symmetric", "a diagonal of about 1",
                "The preconditioner is built from D A D, whose diagonal entries have an absolute value between 0.5 and "
                "2; D holds powers of two. Where a diagonal entry is zero, the largest value of its row takes its "
                "place. A symmetric matrix stays symmetric.",
                symmetric, ColumnScales::those_of_rows),
        scaling_by_matching(),
    };
    return rows;
}

ParameterTable common_scaling_parameters() {
    return {{.section = "scaling",
             .key = "name",
             .type = ParameterType::text,
             .default_value = "none",
             .description = "how the general matrix that the preconditioner is built from is scaled (hyperplane list "
                            "scalings); system, residuals and solution keep their scale"}};
}

}  // namespace hyperplane
