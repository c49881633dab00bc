// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "precond/factors/known_dof.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/factors/reduced_rows.hpp"

namespace hyperplane::general_cpu {
namespace {

/// sum -= the blocks [begin, end) times x.
template <int m>
void subtract(const GeneralFactors& f, Index begin, Index end, const double* x, double* sum) {
    const int dof = m > 0 ? m : f.dof;
    const int* const column = f.pattern().column();
    for (Index at = begin; at < end; ++at)
        subtract_block<m>(dof, f.values.data() + at * dof * dof, x + Index(column[at]) * dof, sum);
}

template <int m>
using Sum = std::array<double, m == 0 ? max_dof : m>;

}  // namespace

void lower_solve(const GeneralFactors& f, const RowWalk& walk, const double* r, double* y) {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(f.dof, [&](auto m) {
        const int dof = m.value > 0 ? m.value : f.dof;
        walk.for_each_part([&](const RowRange& part) {
            part.for_each([&](Index row) {
                Sum<m.value> sum;
                std::copy_n(r + row * dof, dof, sum.begin());
                subtract<m.value>(f, f.pattern().row_begin()[row], f.filled.diagonal[row], y, sum.data());
                std::copy_n(sum.begin(), dof, y + row * dof);
            });
        });
    });
}

void upper_solve(const GeneralFactors& f, const RowWalk& walk, double* z) {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(f.dof, [&](auto m) {
        const int dof = m.value > 0 ? m.value : f.dof;
        walk.for_each_part([&](const RowRange& part) {
            part.for_each([&](Index row) {
                Sum<m.value> sum;
                std::copy_n(z + row * dof, dof, sum.begin());
                const Index diagonal = f.filled.diagonal[row];
                subtract<m.value>(f, diagonal + 1, f.pattern().row_begin()[row + 1], z, sum.data());
                apply_inverse<m.value>(dof, f.values.data() + diagonal * dof * dof, sum.data(), z + row * dof);
            });
        });
    });
}

Index bytes_per_apply(Index rows, Index blocks, int dof, FactorStorage storage) {
    // r once, z written by both solves and read between them, and the places of the diagonal blocks twice.
    return ReducedRows::bytes(storage, rows, blocks, dof) + BlockPattern::bytes(rows, blocks) +
           2 * rows * Index(sizeof(Index)) + 4 * rows * dof * Index(sizeof(double));
}

}  // namespace hyperplane::general_cpu
