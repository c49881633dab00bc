// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

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

ScalingRow scaling(const char* name, const char* summary, const char* explanation, MakeScales make,
                   bool keeps_symmetry) {
    ScalingRow row;
    row.name = name;
    row.summary = summary;
    row.explanation = explanation;
    row.create = std::move(make);
    row.keeps_symmetry = keeps_symmetry;
    return row;
}

}  // namespace

const std::vector<ScalingRow>& scalings() {
    static const std::vector<ScalingRow> rows{
        scaling(
            "none", "the matrix as it is", "The preconditioner is built from the matrix itself.",
            [](const BsrMatrix&) { return Scales{}; }, true),
        scaling("row", "rows whose largest values are about 1",
                "The preconditioner is built from R A, whose rows have a largest absolute value between 0.7 and 1.5; R "
                "holds powers of two. The scaled matrix is not symmetric, so cg refuses it.",
                by_row, false),
        scaling("symmetric", "a diagonal of about 1",
                "The preconditioner is built from D A D, whose diagonal entries have an absolute value between 0.5 and "
                "2; D holds powers of two. Where a diagonal entry is zero, the largest value of its row takes its "
                "place. A symmetric matrix stays symmetric.",
                symmetric, true),
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
