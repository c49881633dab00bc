// SPDX-License-Identifier: BSD-3-Clause
// The inverses of a general matrix's diagonal blocks, on either backend.
#include "precond/jacobi/invert_rows.hpp"

#include "core/device/for_each_point.hpp"
#include "precond/factors/judged_inverse.hpp"
#include "precond/factors/pivot_record.hpp"

namespace hyperplane {
namespace {

/// Inverts the blocks of `rows_each` consecutive block rows.
struct InvertRows {
    static constexpr int rows_each = 16;
    using few_points = void;
    const double* a;
    const Index* places;
    double* inverse;
    PivotRatio* ratios;
    PivotJudge judge;
    Index rows;
    int dof;

    HYPERPLANE_HD void operator()(Int3, Index part) const {
        PivotRatio smallest;
        const Index last = (part + 1) * rows_each < rows ? (part + 1) * rows_each : rows;
        for (Index row = part * rows_each; row < last; ++row) invert(row, smallest);
        ratios[part] = smallest;
    }

    HYPERPLANE_HD void invert(Index row, PivotRatio& smallest) const {
        const int size = dof * dof;
        const double* const own = places[row] < 0 ? nullptr : a + places[row] * size;
        double* const block = inverse + row * size;
        for (int at = 0; at < size; ++at) block[at] = own ? own[at] : 0.0;
        const double ratio = invert_judged(
            dof, block, [&](int r, int c) { return own ? own[r * dof + c] : 0.0; }, judge,
            [&](int r, double pivot, double diagonal, double scale) {
                const Index unknown = row * dof + r;
                return judge.usable(pivot, diagonal, scale, (unsigned long long)unknown, true);
            });
        smallest.take(ratio, row);
    }
};

}  // namespace

void invert_diagonal_blocks(const BsrMatrix& a, const Buffer<Index>& places, BsrMatrix& inverse,
                            const PivotRules& rules, PivotInverter& inverter) {
    const Index rows = a.pattern()->rows(), parts = (rows + InvertRows::rows_each - 1) / InvertRows::rows_each;
    PivotRecord record(a.context(), parts);
    record.clear_log();
    for_each_point(a.context(), Layout(LayoutKind::natural, Grid::of_rows(parts), {}), "inverses of diagonal blocks",
                   InvertRows{a.values(), places.data(), inverse.values(), record.ratios(),
                              PivotJudge{rule_of(rules, false), record.log()}, rows, a.dof()});
    record.report(inverter);
}

}  // namespace hyperplane
