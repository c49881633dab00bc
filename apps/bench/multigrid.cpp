// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/multigrid.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "apps/bench/kernels.hpp"
#include "apps/bench/rows.hpp"
#include "apps/run/linear_system.hpp"
#include "core/error.hpp"
#include "precond/multigrid/galerkin.hpp"
#include "precond/multigrid/multigrid.hpp"

namespace hyperplane {
namespace {

/// Times calls on one grid. On a GPU calls of a cycle are replayed as graphs, as in iterations.
class GridWatch {
public:
    GridWatch(const Context& context, int repeats) : context_(context), repeats_(repeats) {}

    GridPart in_cycle(const std::string& name, double bytes, const std::function<void()>& call) const {
        call();
        if (context_.backend() == Backend::cpu) return timed(name, bytes, call);
        const device::Recording recording(context_.stream(), call);
        return timed(name, bytes, [&] { recording.queue(); });
    }
    GridPart timed(const std::string& name, double bytes, const std::function<void()>& call) const {
        call();
        std::vector<double> seconds;
        for (int at = 0; at < repeats_; ++at) seconds.push_back(time_call(context_, call));
        return {name, timing_of(std::move(seconds)).median, bytes};
    }

private:
    const Context& context_;
    int repeats_;
};

/// Vectors of one grid with random values, in double precision or in single.
template <class AnyVector>
struct GridVectors {
    AnyVector b, x, r;

    explicit GridVectors(const StructMatrix& a) {
        for (AnyVector* one : {&b, &x, &r}) *one = AnyVector(a.context(), a.layout(), a.dof(), "bench");
        fill(b, 7);
        fill(x, 8);
    }
    double bytes() const { return double(b.size()) * sizeof(*b.data()); }

private:
    static void fill(Vector& x, int seed) { fill_random(x, seed); }
    static void fill(SingleVector& x, int seed) {
        Vector wide(x.context(), x.layout(), x.dof(), "bench");
        fill_random(wide, seed);
        round_to_single(wide, x);
    }
};

template <class AnyVector>
std::vector<GridPart> time_cycle(Multigrid& m, int grid, const GridWatch& watch) {
    multigrid::Hierarchy& h = m.hierarchy();
    GridVectors<AnyVector> v(h.matrix(grid));
    if (grid + 1 == h.size())
        return {watch.in_cycle("coarsest", double(m.coarsest_bytes()) + 2 * v.bytes(),
                               [&] { m.solve_coarsest(v.b, v.x); })};
    GridVectors<AnyVector> coarse(h.matrix(grid + 1));
    const Preconditioner& smoother = h[grid].smoother.preconditioner();
    const multigrid::Interpolation& p = *h[grid].interpolation;
    const double weights = double(p.bytes());
    std::vector<GridPart> parts{
        watch.in_cycle("smoother", double(smoother.bytes_per_apply()), [&] { h.smooth_from_zero(grid, v.b, v.x); }),
        watch.in_cycle("residual", double(h.product_bytes(grid)) + v.bytes(), [&] { h.residual(grid, v.b, v.x); }),
        watch.in_cycle("restriction", weights + v.bytes() + coarse.bytes(), [&] { p.restrict_to(v.r, coarse.b); }),
        watch.in_cycle("prolongation", weights + 2 * v.bytes() + coarse.bytes(), [&] { p.add_to(v.x, coarse.x); })};
    if constexpr (std::is_same_v<AnyVector, Vector>)
        if (h.restricts_residual(grid))
            parts.push_back(watch.in_cycle("residual and restriction",
                                           double(h.product_bytes(grid)) + weights + coarse.bytes(),
                                           [&] { h.restrict_residual(grid, v.b, v.x); }));
    return parts;
}

std::vector<GridPart> time_setup_of(const multigrid::Hierarchy& h, int grid, const GridWatch& watch) {
    if (grid + 1 == h.size()) return {};
    const StructMatrix &a = h.matrix(grid), &next = h.matrix(grid + 1);
    multigrid::Interpolation p(a, h[grid].interpolation->grids(), next.layout());
    StructMatrix coarse(a.context(), next.layout(), next.stencil(), a.dof(), a.storage(), "bench");
    const double read = double(a.bytes()), weights = double(p.bytes());
    return {watch.timed("couplings", read, [&] { multigrid::strong_axes(a, 0.5); }),
            watch.timed("interpolation", read + weights, [&] { p.compute(a); }),
            watch.timed("Galerkin product", read + weights + double(coarse.bytes()),
                        [&] { multigrid::galerkin_product(a, p, coarse); })};
}

}  // namespace

MultigridBench bench_multigrid(const Case& a_case, int repeats) {
    auto* m = dynamic_cast<Multigrid*>(a_case.preconditioner.get());
    if (!m)
        throw UsageError(fmt::format("bench multigrid: preconditioner.name is {}; set it to multigrid",
                                     a_case.name("preconditioner")));
    LinearSystem system = make_system(a_case);
    {
        Vector u = a_case.make_vector("state: u");
        assemble_first(a_case, u, system);
    }
    const MemoryLedger& ledger = a_case.context.ledger();
    const Index before = ledger.held();
    set_up(*m, system);
    MultigridBench bench;
    bench.bytes = ledger.held() - before;
    bench.setup = time_setup(a_case.context, repeats, *m, system.preconditioned());
    Vector z = a_case.make_vector("bench");
    bench.apply = time_apply(a_case.context, repeats, *m, system.b, z);
    multigrid::Hierarchy& h = m->hierarchy();
    const GridWatch watch(a_case.context, repeats);
    for (int grid = 0; grid < h.size(); ++grid)
        bench.grids.push_back(
            {h.matrix(grid).grid(), h.matrix(grid).stencil().name(),
             h.single(grid) ? time_cycle<SingleVector>(*m, grid, watch) : time_cycle<Vector>(*m, grid, watch),
             time_setup_of(h, grid, watch)});
    return bench;
}

}  // namespace hyperplane
