// On a device a block of threads has a few points: stage 1 of the Jacobian into shared memory, one thread an element of
// a point, then stage 2, one thread a part of a point's rows. The arithmetic is the host's, to the last bit.
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
template <int points>
__global__ void __launch_bounds__(points* jacobian_parts)
    jacobian_of_points(const __grid_constant__ FlowStep step, const __grid_constant__ MatrixView a) {
    extern __shared__ double values[];
    const Layout& layout = step.u.layout;
    const Index first = Index(blockIdx.x) * points;
    const int present = int(min(Index(points), layout.slots() - first));
    const auto point = [&](int at) { return layout.point(unsigned(first + at)); };
    for (int item = threadIdx.x; item < 8 * points; item += blockDim.x) {
        const int at = item % points, n = item / points;
        if (at >= present) continue;
        const PointPatch patch{step, point(at)};
        q1::store_corner_terms(element_of(patch, n), 7 - n, q1::CornerTerms<double>{values + item, 8 * points});
    }
    __syncthreads();
    const int at = threadIdx.x % points;
    if (at >= present) return;
    const PointPatch patch{step, point(at)};
    const auto terms = [&](int n) { return q1::CornerTerms<double>{values + n * points + at, 8 * points}; };
    jacobian_part(patch, terms, threadIdx.x / points,
                  [&](int entry, int row, int col, double value) { a.at(entry, row, col, first + at) = value; });
}

/// Stage 1's results take all of a multiprocessor's shared memory where it has 227 KiB, as from Hopper on; fewer
/// points go together where it has less.
template <int points>
bool launch_jacobian(const FlowStep& step, const MatrixView& a) {
    constexpr int bytes = 8 * points * q1::CornerTerms<double>::count * int(sizeof(double));
    int device = 0, most = 0;
    cuda::check(cudaGetDevice(&device), "cudaGetDevice");
    cuda::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "shared memory");
    if (bytes > most && points > 16) return false;
    cuda::check(cudaFuncSetAttribute(jacobian_of_points<points>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                "shared memory of the flow's Jacobian");
    const unsigned blocks = cuda::blocks_for(step.u.layout.slots(), points);
    jacobian_of_points<points><<<blocks, points * jacobian_parts, bytes, cuda::stream()>>>(step, a);
    cuda::launched("flow's Jacobian");
    return true;
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
    if (a.backend() == Backend::cuda) {
        if (!launch_jacobian<32>(step, view(a))) launch_jacobian<16>(step, view(a));
        return;
    }
#endif
    flow_jacobian_on_host(step, view(a));
}

void flow_kinetic_energy(const Flow& flow, const Vector& u, const VectorView& energy) {
    for_each_point(u.backend(), u.layout(), "kinetic energy", EnergyPoint{flow, view(u), energy});
}

}  // namespace hyperplane
