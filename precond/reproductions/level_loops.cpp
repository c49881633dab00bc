// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/level_loops.hpp"

#include "precond/factors/known_dof.hpp"
#include "precond/walks/level_points.hpp"

namespace hyperplane {
namespace {

/// Solves for the unknowns of one point; m is the dof if it is known at compile time, else 0.
template <int m, Direction direction>
struct RowOfLevel {
    FactorView f;
    const double* in;
    double* out;
    int dof;

    static constexpr int room = m > 0 ? m : max_dof;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        constexpr bool down = direction == Direction::lower;
        const int size = m > 0 ? m : dof;
        const Index slots = f.layout.slots();
        double own[room], sum[room], scaled[room];
        for (int r = 0; r < size; ++r) {
            own[r] = in[r * slots + slot];
            sum[r] = down ? own[r] : 0.0;
        }
        const int first = down ? 0 : f.lower + 1;
        for (int e = first; e < first + f.lower; ++e) {
            const Int3 q = p + f.offsets[e];
            if (!f.layout.grid().contains(q)) continue;
            const Index there = f.layout.slot(q);
            for (int c = 0; c < size; ++c) {
                const double value = out[c * slots + there];
                for (int r = 0; r < size; ++r) sum[r] -= f.at(e, slot, there, r, c) * value;
            }
        }
        if (!down || !f.unit)
            for (int r = 0; r < size; ++r) {
                scaled[r] = 0.0;
                for (int c = 0; c < size; ++c) scaled[r] += f.inverse.at(0, slot, r, c) * (f.unit ? own : sum)[c];
            }
        for (int r = 0; r < size; ++r)
            out[r * slots + slot] = down ? (f.unit ? sum : scaled)[r] : scaled[r] + (f.unit ? sum : own)[r];
    }
};

template <int m, Direction direction>
void run(const FactorView& f, const Layout& levels, const Vector& in, Vector& out) {
    const RowOfLevel<m, direction> row{f, in.data(), out.data(), out.dof()};
    const int count = levels.level_count();
    for (int at = 0; at < count; ++at)
        for_each_point_of_level(out.backend(), levels, direction == Direction::lower ? at : count - 1 - at,
                                "solve of a level", row);
}

template <Direction direction>
void run(const FactorView& f, const Layout& levels, const Vector& in, Vector& out) {
    with_known_dof<1, 4, 8>(out.dof(), [&](auto m) { run<m.value, direction>(f, levels, in, out); });
}

}  // namespace

void solve_by_level(const FactorView& factors, const Layout& levels, Direction direction, const Vector& in,
                    Vector& out) {
    direction == Direction::lower ? run<Direction::lower>(factors, levels, in, out)
                                  : run<Direction::upper>(factors, levels, in, out);
}

}  // namespace hyperplane
