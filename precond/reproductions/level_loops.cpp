// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/level_loops.hpp"

#include "core/device/for_each_point.hpp"
#include "precond/factors/known_dof.hpp"
#include "precond/par_ilu/sweep_point.hpp"

namespace hyperplane {
namespace {

#ifdef __CUDACC__
/// Visits the points of a level, one thread each: blockIdx.y counts the planes from `first_plane` on, and consecutive
/// threads have consecutive j.
template <class Body>
__global__ void visit_level(const __grid_constant__ Layout layout, int level, int first_plane,
                            const __grid_constant__ Body body) {
    const LevelMap map = layout.levels();
    const Grid& grid = layout.grid();
    const int k = first_plane + int(blockIdx.y), rest = level - map.z * k;  // i + y j
    const int before = rest - (grid.nx - 1);
    const int j = (before > 0 ? (before + map.y - 1) / map.y : 0) + int(blockIdx.x * blockDim.x + threadIdx.x);
    const Int3 p{rest - map.y * j, j, k};
    if (p.x >= 0 && j < grid.ny) body(p, layout.slot(p));
}
#endif

/// Calls body(point, slot) once for every point of a level, as layout.levels() defines it.
template <class Body>
void for_each_point_of_level([[maybe_unused]] const Context& context, const Layout& layout, int level,
                             [[maybe_unused]] const char* name, const Body& body) {
    const int first = layout.level_first_plane(level), last = layout.level_last_plane(level);
#ifdef __CUDACC__
    if (context.backend() == Backend::cuda) {
        if (first > last) return;
        const Grid& grid = layout.grid();
        const Index most = std::min<Index>(grid.ny, (grid.nx - 1) / layout.levels().y + 1);
        const int threads = most > 64 ? 128 : most > 32 ? 64 : 32;
        const dim3 blocks(cuda::blocks_for(most, threads), unsigned(last - first + 1));
        visit_level<<<blocks, threads, 0, cuda::stream(context)>>>(layout, level, first, body);
        return cuda::launched(context, name);
    }
#endif
    for (int k = first; k <= last; ++k) {
        const Run run = layout.level_run(level, k);
        for (int t = 0; t < run.count; ++t) {
            const Int3 p{run.first.x - layout.levels().y * t, run.first.y + t, k};
            body(p, layout.slot(p));
        }
    }
}

/// Solves for the unknowns of one point; m is the dof if it is known at compile time, else 0.
template <int m>
struct RowOfLevel {
    FactorView f;
    const double* in;
    double* out;
    int dof;
    bool down;  ///< the lower solve

    static constexpr int room = m > 0 ? m : max_dof;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
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

}  // namespace

void solve_by_level(const FactorView& factors, const Layout& levels, Side side, const Vector& in, Vector& out) {
    const bool down = side == Side::lower;
    const int count = levels.level_count();
    with_known_dof<1, 4, 8>(out.dof(), [&](auto m) {
        const RowOfLevel<m.value> row{factors, in.data(), out.data(), out.dof(), down};
        for (int at = 0; at < count; ++at)
            for_each_point_of_level(out.context(), levels, down ? at : count - 1 - at, "solve of a level", row);
    });
}

void eliminate_by_level(FactorSweeps& sweeps, const StructMatrix& a, const Layout& levels, const FactorTarget& factors,
                        double alpha, const PivotRules& rules, PivotInverter& inverter) {
    const par_ilu::SweepRow<0> row = sweeps.row(a, factors, factors, alpha, rules, true, true);
    with_known_dof<1, 4, 8>(row.dof, [&](auto m) {
        const par_ilu::SweepRow<m.value> known = par_ilu::known<m.value>(row);
        for (int level = 0; level < levels.level_count(); ++level)
            for_each_point_of_level(a.context(), levels, level, "elimination of a level", known);
    });
    sweeps.report(a, inverter);
}

}  // namespace hyperplane
