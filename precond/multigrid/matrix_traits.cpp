// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/matrix_traits.hpp"

#include <algorithm>
#include <vector>

#include "core/device/for_each_point.hpp"
#include "core/matrix/coefficients.hpp"
#include "core/matrix/views.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"
#include "precond/multigrid/copied_lines.hpp"
#include "precond/multigrid/examined_row.hpp"
#include "precond/multigrid/line_values.hpp"

namespace hyperplane::multigrid {
namespace {

/// flags(i) = 1 where row i is not that of an M-matrix: a coefficient beside the diagonal is positive, or the row's sum
/// is negative by more than rounding. Else a little where its couplings jump, so little that all rows add up to less
/// than 1, and 0 where they do not.
struct RowFlags {
    Coefficients a;
    VectorView flags;
    double little;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double sum = 0.0, own = 0.0;
        bool fits = true, jumps = false;
        for (int e = 0; e < a.entries; ++e) {
            Int3 q;
            if (!a.neighbour(p, e, q)) continue;
            const double value = a(e, 0, 0, slot, a.layout.slot(q));
            sum += value;
            if (a.offsets[e] == Int3{})
                own = value;
            else
                fits = fits && value <= 0.0;
            Int3 opposite;
            const int mirror = a.entries - 1 - e;
            if (e < mirror && a.neighbour(p, mirror, opposite))
                jumps = jumps || is_jump(value, a(mirror, 0, 0, slot, a.layout.slot(opposite)));
        }
        flags.at(slot) = !(fits && is_dominated(sum, own)) ? 1.0 : jumps ? little : 0.0;
    }
};

/// Whether it is so on all ranks that have parts of a matrix.
bool on_all_ranks(const StructMatrix& a, bool mine) {
    return a.layout().is_part() ? !any_rank(a.context(), !mine) : mine;
}

/// What the rows of a matrix have, on any rank: a positive coefficient beside the diagonal; couplings that jump; a sum
/// that is negative by more than rounding.
struct RowTraits {
    bool positive = false, jump = false, negative_sum = false;
};

/// The traits of the rows along a run.
RowTraits row_traits_of(const StructMatrix& a, const Run& run) {
    RowTraits traits;
    thread_local std::vector<double> sums;
    sums.assign(run.count, 0.0);
    for (int e = 0; e < a.stencil().size(); ++e) {
        const int mirror = a.stencil().mirror(e);
        const RunNeighbours near = a.layout().neighbours(run, a.stencil()[e]);
        const double* one = a.along(run, near, e, 0, 0);
        for (int t = near.begin; t < near.end; ++t) sums[t] += one[t];
        if (e >= a.stencil().diagonal()) continue;
        const RunNeighbours opposite = a.layout().neighbours(run, a.stencil()[mirror]);
        const double* other = a.along(run, opposite, mirror, 0, 0);
        int above = 0, jumps = 0;
        for (int t = near.begin; t < near.end; ++t) above |= one[t] > 0.0;
        for (int t = std::max(near.begin, opposite.begin); t < std::min(near.end, opposite.end); ++t)
            jumps |= is_jump(one[t], other[t]);
        traits.positive = traits.positive || above;
        traits.jump = traits.jump || jumps;
    }
    const double* own = a.values(a.stencil().diagonal()) + run.slot;
    int negative = 0;
    for (int t = 0; t < run.count; ++t) negative |= !is_dominated(sums[t], own[t]);
    traits.negative_sum = negative;
    return traits;
}

/// The same on grids with periodic axes, in the natural layout.
RowTraits wrapped_row_traits_of(const StructMatrix& a, const Run& run) {
    thread_local std::vector<double> sums, one, other;
    const auto count = std::size_t(run.count);
    sums.assign(count, 0.0);
    one.resize(count);
    other.resize(count);
    int above = 0, jumps = 0, negative = 0;
    for (int e = 0; e < a.stencil().size(); ++e) {
        line_values(a, run, e, 0, 0, one.data());
        for (std::size_t t = 0; t < count; ++t) sums[t] += one[t];
        if (e == a.stencil().diagonal()) continue;
        for (std::size_t t = 0; t < count; ++t) above |= one[t] > 0.0;
        if (e > a.stencil().diagonal()) continue;
        line_values(a, run, a.stencil().mirror(e), 0, 0, other.data());
        for (std::size_t t = 0; t < count; ++t) jumps |= is_jump(one[t], other[t]);
    }
    const double* own = a.values(a.stencil().diagonal()) + run.slot;
    for (std::size_t t = 0; t < count; ++t) negative |= !is_dominated(sums[t], own[t]);
    return {.positive = above != 0, .jump = jumps != 0, .negative_sum = negative != 0};
}

RowTraits row_traits_of(const StructMatrix& a) {
    bool positive = false, jump = false, negative_sum = false;
    const auto note = [](bool found, bool& noted) {
        if (!found) return;
#pragma omp atomic write
        noted = true;
    };
    for_each_different_run(
        a,
        [&](const Run& run) {
            const RowTraits traits = a.grid().any_periodic() ? wrapped_row_traits_of(a, run) : row_traits_of(a, run);
            note(traits.positive, positive);
            note(traits.jump, jump);
            note(traits.negative_sum, negative_sum);
        },
        [](Int3, const Run&) {});
    return {!on_all_ranks(a, !positive), !on_all_ranks(a, !jump), !on_all_ranks(a, !negative_sum)};
}

}  // namespace

MatrixTraits traits_of(const StructMatrix& a, Vector& flags) {
    if (a.dof() > 1 || !a.symmetric()) return {};
    if (a.backend() == Backend::cuda || (a.grid().any_periodic() && a.layout().kind() != LayoutKind::natural)) {
        const Buffer<Int3> offsets = offsets_of(a, "multigrid: tables");
        for_each_point(a.context(), a.layout(), "row flags",
                       RowFlags{Coefficients(a, offsets.data()), view(flags), 0.5 / double(a.grid().points())});
        const double marked = sum(flags, 0);
        return {.m_matrix = marked < 1.0, .jumps = 0.0 < marked};
    }
    const RowTraits traits = row_traits_of(a);
    return {.m_matrix = !traits.positive && !traits.negative_sum, .jumps = traits.jump};
}

}  // namespace hyperplane::multigrid
