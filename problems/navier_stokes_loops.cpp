// On a device a block of threads has a few points: stage 1 of the Jacobian into shared memory, one thread an element of
// a point, then stage 2 from there. The arithmetic is the host's, to the last bit.
#include "problems/navier_stokes_loops.hpp"

#include "core/for_each_point.hpp"

namespace hyperplane {
namespace {

struct ResidualPoint {
    FlowStep step;
    VectorView f;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double row[4];
        residual_row(PointPatch{step, p}, row);
        for (int c = 0; c < 4; ++c) f.at(slot, c) = row[c];
    }
};

struct InitialPoint {
    Flow flow;
    VectorView u;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        for (int c = 0; c < 4; ++c) u.at(slot, c) = flow.initial(c, p);
    }
};

struct EnergyPoint {
    Flow flow;
    ConstVectorView u;
    VectorView energy;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const PointPatch patch{{flow, u, u, {}, {}, 0.0, 0.0}, p};
        double volume = 0.0, square = 0.0;
        for (int n = 0; n < 8; ++n) volume += patch.box(n).weight;
        for (int c = 0; c < 3; ++c) square += u.at(slot, c) * u.at(slot, c);
        energy.at(slot) = 0.5 * volume * square;
    }
};

#ifdef __CUDACC__
/// A block has half a warp's points and six warps. A warp computes for one component i row i of momentum and column i
/// of the pressure's row, in two quarters, one a half: quarters 1 and 2, which are added, or 0 and 3.
constexpr int points_together = 16, jacobian_threads = 2 * 3 * 32;

/// Adds the other half's value where the quarters meet.
__device__ double met(bool meeting, double value) {
    const double other = __shfl_xor_sync(0xffffffffu, value, 16);
    return meeting ? value + other : value;
}

__global__ void __launch_bounds__(jacobian_threads, 2)
    jacobian_of_points(const __grid_constant__ FlowStep step, const __grid_constant__ MatrixView a) {
    extern __shared__ double values[];
    const Layout& layout = step.u.layout;
    const Index begin = Index(blockIdx.x) * points_together;
    const int last = int(min(Index(points_together), layout.slots() - begin)) - 1;
    for (int item = threadIdx.x; item < 8 * points_together; item += jacobian_threads) {
        const int n = item / points_together, at = min(item % points_together, last);
        const PointPatch patch{step, layout.point(unsigned(begin + at))};
        q1::store_corner_terms(PatchElement(patch, n), 7 - n,
                               q1::CornerTerms<double>{values + item, 8 * points_together});
    }
    __syncthreads();
    const int at = threadIdx.x % points_together, half = threadIdx.x / points_together % 2;
    const int i = threadIdx.x / 32 % 3;
    const bool meeting = threadIdx.x < jacobian_threads / 2;
    const Quarter quarter(meeting ? 1 + half : 3 * half);
    const int layer = meeting ? 1 : 2 * half;
    const bool writes = at <= last && !(meeting && half == 1);
    const Index slot = begin + at;
    const PointPatch patch{step, layout.point(unsigned(begin + min(at, last)))};
    const auto terms = [&](int n) {
        return q1::CornerTerms<double>{values + n * points_together + at, 8 * points_together};
    };
    const auto store = [&](int block, int row, int col, double value) {
        if (writes && 9 * layer + block < a.stored_entries) a.at(9 * layer + block, row, col, slot) = value;
    };
    {
        const MomentumRow<double> row = momentum_row(patch, terms, i, quarter);
        const bool fixed = patch.fixed(i);
        const double scale = met(meeting, row.scale);
#pragma unroll
        for (int block = 0; block < 9; ++block)
#pragma unroll
            for (int col = 0; col < 4; ++col)
                store(block, i, col,
                      momentum_entry(fixed, layer == 1 && block == 4 && col == i, scale,
                                     met(meeting, row.blocks[block][col])));
    }
    for (int column = i; column < 4; column += 3) {  // warps of i = 0 take the pressure's own column too
        const ContinuityColumn<double> sums = continuity_column(patch, terms, column, quarter);
#pragma unroll
        for (int block = 0; block < 9; ++block) store(block, 3, column, met(meeting, sums.blocks[block]));
    }
}

void launch_jacobian(const FlowStep& step, const MatrixView& a) {
    constexpr int bytes = 8 * points_together * q1::CornerTerms<double>::count * int(sizeof(double));
    cuda::check(cudaFuncSetAttribute(jacobian_of_points, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                "shared memory of the flow's Jacobian");
    jacobian_of_points<<<cuda::blocks_for(step.u.layout.slots(), points_together), jacobian_threads, bytes,
                         cuda::stream()>>>(step, a);
    cuda::launched("flow's Jacobian");
}
#endif

}  // namespace

void flow_initial_state(const Flow& flow, Vector& u) {
    for_each_point(u.backend(), u.layout(), "initial state", InitialPoint{flow, view(u)});
}

void flow_residual(const FlowStep& step, Vector& f) {
#ifdef __CUDACC__
    if (f.backend() == Backend::cuda)
        return for_each_point(Backend::cuda, f.layout(), "flow's residual", ResidualPoint{step, view(f)});
#endif
    flow_residual_on_host(step, view(f));
}

void flow_jacobian(const FlowStep& step, StructMatrix& a) {
#ifdef __CUDACC__
    if (a.backend() == Backend::cuda) return launch_jacobian(step, view(a));
#endif
    flow_jacobian_on_host(step, view(a));
}

void flow_kinetic_energy(const Flow& flow, const Vector& u, const VectorView& energy) {
    for_each_point(u.backend(), u.layout(), "kinetic energy", EnergyPoint{flow, view(u), energy});
}

}  // namespace hyperplane
