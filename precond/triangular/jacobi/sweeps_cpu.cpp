// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/jacobi/sweeps_cpu.hpp"

#include <type_traits>
#include <vector>

#include "core/vector/run_kernel.hpp"

namespace hyperplane {

template <class Factors>
void sweep_run(const Factors& f, const TriangleSweep& sweep, const Run& run, double* out, Index stride) {
    thread_local std::vector<RunNeighbours> near;  // kept from run to run: an allocation takes longer than a short run
    using Coefficient = std::remove_cvref_t<decltype(*f.inverse_place(0, 0, 0))>;
    thread_local std::vector<BasicRunTerm<Coefficient, double>> terms;
    thread_local std::vector<double> sums;
    const auto& [side, b, x, unused, dof, times_inverse] = sweep;
    const bool down = side == Side::lower;
    const int first = down ? 0 : f.lower + 1, entries = x ? f.lower : 0, count = run.count;
    const Index slots = f.layout.slots_in_memory();
    near.resize(std::size_t(entries));
    for (int e = 0; e < entries; ++e) near[e] = f.layout.neighbours(run, f.offsets[first + e]);
    sums.resize(std::size_t(dof) * count);
    for (int row = 0; row < dof; ++row) {
        terms.clear();
        for (int e = 0; e < entries; ++e) {
            if (near[e].begin >= near[e].end) continue;
            for (int col = 0; col < dof; ++col) {
                const Coefficient* const a = f.place(first + e, run.slot, near[e].slot, row, col);
                terms.push_back({a, x + col * slots + near[e].slot, near[e].begin, near[e].end});
                if (dof > 1) ask_for(a + count, count);
            }
        }
        accumulate<-1>(terms, down && b ? b + row * slots + run.slot : nullptr, sums.data() + row * count, count);
    }
    for (int row = 0; row < dof; ++row) {
        double* const result = out + row * stride;
        if (times_inverse) {
            terms.clear();
            for (int col = 0; col < dof; ++col) {
                terms.push_back({f.inverse_place(run.slot, row, col), sums.data() + col * count, 0, count});
                if (dof > 1) ask_for(terms.back().a + count, count);
            }
            accumulate<+1>(terms, nullptr, result, count);
        } else {
            std::copy_n(sums.data() + row * count, count, result);
        }
        if (down || !b) continue;
        const double* const own = b + row * slots + run.slot;
#pragma omp simd
        for (int t = 0; t < count; ++t) result[t] = own[t] + result[t];
    }
}

template void sweep_run(const FactorView&, const TriangleSweep&, const Run&, double*, Index);
template void sweep_run(const ReducedFactorView<float>&, const TriangleSweep&, const Run&, double*, Index);

}  // namespace hyperplane
