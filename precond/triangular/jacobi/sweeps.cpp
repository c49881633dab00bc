// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/jacobi/sweeps.hpp"

#include <algorithm>
#include <type_traits>

#include "core/device/for_each_point.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"
#include "precond/factors/known_dof.hpp"
#include "precond/triangular/jacobi/sweeps_cpu.hpp"
#include "precond/walks/random_vector.hpp"

namespace hyperplane {
namespace {

/// Reads *x. If `racing`, other threads may write it meanwhile, and the result is its value before or after that.
template <bool racing>
HYPERPLANE_HD double value_at(const double* x) {
    if constexpr (racing)
        return *static_cast<const volatile double*>(x);
    else
        return *x;
}

/// One sweep at a point; m is the dof if it is known at compile time, else 0.
template <class Factors, int m, bool racing>
struct SweepPoint {
    Factors f;
    TriangleSweep s;

    static constexpr int room = m > 0 ? m : max_dof;

    HYPERPLANE_HD int size() const { return m > 0 ? m : s.dof; }
    HYPERPLANE_HD void compute(Int3 p, Index slot, double (&result)[room]) const {
        const Index slots = f.layout.slots_in_memory();
        const bool down = s.side == Side::lower;
        double sum[room];
        for (int r = 0; r < size(); ++r) sum[r] = down && s.b ? s.b[r * slots + slot] : 0.0;
        const int first = down ? 0 : f.lower + 1, last = s.x ? first + f.lower : first;
        for (int e = first; e < last; ++e) {
            const Int3 q = p + f.offsets[e];
            if (!f.layout.grid().contains(q)) continue;
            const Index there = f.layout.slot(q);
            for (int c = 0; c < size(); ++c) {
                const double value = value_at<racing>(s.x + c * slots + there);
                for (int r = 0; r < size(); ++r) sum[r] -= f.at(e, slot, there, r, c) * value;
            }
        }
        for (int r = 0; r < size(); ++r) {
            double value = s.times_inverse ? 0.0 : sum[r];
            if (s.times_inverse)
                for (int c = 0; c < size(); ++c) value += f.inverse_at(slot, r, c) * sum[c];
            result[r] = down || !s.b ? value : s.b[r * slots + slot] + value;
        }
    }
    HYPERPLANE_HD void store(Index slot, const double (&result)[room]) const {
        for (int r = 0; r < size(); ++r) s.out[r * f.layout.slots_in_memory() + slot] = result[r];
    }
    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double result[room];
        compute(p, slot, result);
        store(slot, result);
    }
};

constexpr int block_points = TriangleSweeps::block_points;

/// An asynchronous sweep's blocks.
struct Blocks {
    Turns turns;
    unsigned* next;  ///< counter on a GPU, 0 before and after a sweep; not used for `any`
};

#ifdef __CUDACC__
template <class Body>
__global__ void visit_blocks(const __grid_constant__ Body body, Blocks blocks) {
    __shared__ unsigned turn;
    if (blocks.turns != Turns::any) {
        if (threadIdx.x == 0) turn = atomicInc(blocks.next, gridDim.x - 1);  // the last one makes it 0 again
        __syncthreads();
    }
    const unsigned block = blocks.turns == Turns::any          ? blockIdx.x
                           : blocks.turns == Turns::descending ? gridDim.x - 1 - turn
                                                               : turn;
    const Index slot = Index(block) * block_points + threadIdx.x;
    const bool inside = slot < body.f.layout.slots();
    double result[Body::room];
    if (inside) body.compute(body.f.layout.point(slot), slot, result);
    __syncthreads();
    if (inside) body.store(slot, result);
}
#endif

/// Visits every block of slots once: all its points are computed, then all are written.
template <class Body>
void for_each_block(const Context& context, const Body& body, const Blocks& blocks) {
    const Layout& layout = body.f.layout;
#ifdef __CUDACC__
    if (context.backend() == Backend::cuda) {
        visit_blocks<<<cuda::blocks_for(layout.slots(), block_points), block_points, 0, cuda::stream(context)>>>(
            body, blocks);
        return cuda::launched(context, "asynchronous sweep");
    }
#endif
    const Index count = (layout.slots() + block_points - 1) / block_points;
    for_each_turn(count, context.threads_for(layout.slots()), blocks.turns, [&](Index block) {
        const Index begin = block * block_points, end = std::min(begin + block_points, layout.slots());
        double results[block_points][Body::room];
        for (Index slot = begin; slot < end; ++slot) body.compute(layout.point(slot), slot, results[slot - begin]);
        for (Index slot = begin; slot < end; ++slot) body.store(slot, results[slot - begin]);
    });
}

/// A sweep on a CPU, run by run. Blocks of an asynchronous sweep are divided where lines end.
template <class Factors>
void run_by_runs(const Context& context, const Factors& f, const TriangleSweep& s, const Blocks* in_place) {
    const Layout& layout = f.layout;
    const Index slots = layout.slots();
    if (!in_place)
        return for_each_run(context, layout, s.dof,
                            [&](const Run& run) { sweep_run(f, s, run, s.out + run.slot, layout.slots_in_memory()); });
    for_each_turn((slots + block_points - 1) / block_points, context.threads_for(slots), in_place->turns,
                  [&](Index block) {
                      thread_local std::vector<double> results;
                      results.resize(std::size_t(s.dof) * block_points);
                      const Index begin = block * block_points, end = std::min(begin + block_points, slots);
                      for (Index slot = begin; slot < end;) {
                          const Int3 p = layout.point(slot);
                          const int count = int(std::min<Index>(end - slot, layout.grid().nx - p.x));
                          sweep_run(f, s, {p, count, slot}, results.data() + (slot - begin), block_points);
                          slot += count;
                      }
                      for (int row = 0; row < s.dof; ++row)
                          std::copy_n(results.data() + row * block_points, end - begin, s.out + row * slots + begin);
                  });
}

/// A sweep as a loop over points: a synchronous one on the host or, with `in_place`, a block-asynchronous one.
void run_loop(const Context& context, const TriangleFactors& factors, const TriangleSweep& s, const Blocks* in_place) {
    std::visit(
        [&](const auto& f) {
            using Factors = std::decay_t<decltype(f)>;
            if constexpr (!std::is_same_v<Factors, ReducedFactorView<Half>>)
                if (context.backend() == Backend::cpu && goes_by_runs(f) &&
                    (f.layout.kind() == LayoutKind::natural || !in_place))
                    return run_by_runs(context, f, s, in_place);
            with_known_dof<1, 2, 3, 4, 5, 8>(s.dof, [&](auto m) {
                if (in_place)
                    for_each_block(context, SweepPoint<Factors, m.value, true>{f, s}, *in_place);
                else
                    for_each_point(context, f.layout, SweepPoint<Factors, m.value, false>{f, s});
            });
        },
        factors);
}

}  // namespace

Turns turns_of(BlockOrder order, Side side) {
    if (order == BlockOrder::natural) return Turns::any;
    const bool forward = order == BlockOrder::dependency ? side == Side::lower : order == BlockOrder::forward;
    return forward ? Turns::ascending : Turns::descending;
}

void for_each_turn(Index blocks, int threads, Turns turns, FunctionRef<void(Index)> body) {
    if (turns == Turns::any) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (Index block = 0; block < blocks; ++block) body(block);
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (Index turn = 0; turn < blocks; ++turn) body(turns == Turns::descending ? blocks - 1 - turn : turn);
}

TriangleSweeps::TriangleSweeps(const Context& context, const TriangleShape& shape, const SweepOptions& options,
                               const Layout& vectors)
    : shape_(shape),
      options_(options),
      lower_(context, vectors, shape.dof, "sweeps"),
      other_(context, vectors, shape.dof, "sweeps"),
      next_block_(context, "sweeps", 1) {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda) cuda_ = std::make_shared<TriangleSweepsCuda>(context, shape);
}

Index TriangleSweeps::bytes_per_apply(const TriangleShape& shape, const SweepOptions& options) {
    Index triangles = 0, inverses = 0, vectors = 0;
    for (const bool lower : {true, false}) {
        const int sweeps = lower ? options.lower : options.upper;
        // The first sweep, from x = 0, reads no triangle. The first lower sweep multiplies b by D^-1; if the triangles
        // are unit, the last one does.
        const int full = sweeps - 1, scales = lower && (!shape.unit || full == 0);
        triangles += full;
        inverses += full * !shape.unit + (scales || (lower && shape.unit));
        // A full sweep moves b, x and its result; in the first one x may be b itself.
        const bool begins_with_b = full > 0 && !scales;
        vectors += 3 * full + 2 * scales - begins_with_b;
    }
    const Index blocks = triangles * (shape.lower() - shape.zeros) + inverses;
    const Index values = blocks * shape.dof * shape.dof * bytes_of(shape.storage) + vectors * shape.dof * 8;
    const Index exponents = shape.storage == FactorStorage::half_scaled ? (triangles + inverses) * shape.dof : 0;
    return (values + exponents) * shape.layout.slots();
}

void TriangleSweeps::apply(const TriangleFactors& factors, const Vector& r, Vector& z) {
    options_.mode == SweepMode::sync ? sync(factors, r, z) : block_async(factors, r, z);
}

void TriangleSweeps::run(const TriangleFactors& f, Side side, const Vector* b, const Vector* x, Vector& out,
                         bool times_inverse) const {
    if (x) exchange_halo(*x);
    const auto memory = [](const Vector* v) { return v ? v->data() : nullptr; };
    if constexpr (cuda_built)
        if (cuda_) {
            // On ranks kernels compute on the planes of the halo, too: they begin at the first slot in memory.
            const Index before = out.space().halo_slots();
            const auto first = [&](const Vector* v) { return v ? v->data() - before : nullptr; };
            double* const result = out.data() - before;
            if (!x) return cuda_->scale(f, first(b), result);
            return cuda_->sweep(f, side, first(b), first(x), result, times_inverse);
        }
    run_loop(out.context(), f, {side, memory(b), memory(x), out.data(), out.dof(), times_inverse}, nullptr);
}

void TriangleSweeps::sync(const TriangleFactors& f, const Vector& r, Vector& z) {
    // A single upper sweep gives z = y, so in that case y is computed in z.
    Vector &y = options_.upper == 1 ? z : lower_, &spare = options_.upper == 1 ? lower_ : z;
    const Vector* x = nullptr;
    int left = options_.lower;
    if (shape_.unit && left > 1) x = &r, --left;  // the first lower sweep gives r
    while (left-- > 0) {
        Vector& out = left % 2 == 0 ? y : spare;
        run(f, Side::lower, &r, x, out, !shape_.unit || left == 0);
        x = &out;
    }
    x = &y;
    for (left = options_.upper - 1; left-- > 0;) {
        Vector& out = left % 2 == 0 ? z : other_;
        run(f, Side::upper, &y, x, out, !shape_.unit);
        x = &out;
    }
}

void TriangleSweeps::block_async(const TriangleFactors& f, const Vector& r, Vector& z) {
    // If the triangles are unit, the sweeps give v; one more step, which reads no neighbours, gives D^-1 v.
    Vector& v = shape_.unit ? z : lower_;
    set_zero(v);
    const Blocks lower{turns_of(options_.order, Side::lower), next_block_.data()};
    const Blocks upper{turns_of(options_.order, Side::upper), next_block_.data()};
    for (int sweep = 0; sweep < options_.lower; ++sweep)
        run_loop(z.context(), f, {Side::lower, r.data(), v.data(), v.data(), v.dof(), !shape_.unit}, &lower);
    if (shape_.unit) run(f, Side::lower, &z, nullptr, lower_, true);
    set_zero(z);
    for (int sweep = 0; sweep < options_.upper; ++sweep)
        run_loop(z.context(), f, {Side::upper, lower_.data(), z.data(), z.data(), z.dof(), !shape_.unit}, &upper);
}

std::vector<double> TriangleSweeps::growth(const TriangleFactors& f, Side side, double most) {
    const int sweeps = side == Side::lower ? options_.lower : options_.upper;
    Vector* room[] = {&lower_, &other_};
    set_random(lower_, 1, 0.0);
    const double first = norm2(lower_);
    std::vector<double> ratios;
    for (int n = 1; n <= sweeps; ++n) {
        run(f, side, nullptr, room[(n - 1) % 2], *room[n % 2], !shape_.unit);
        ratios.push_back(norm2(*room[n % 2]) / first);
        if (!(ratios.back() <= most)) break;
    }
    return ratios;
}

}  // namespace hyperplane
