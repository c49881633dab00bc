// SPDX-License-Identifier: BSD-3-Clause
// On a device a thread block has a few points and one thread for each of the 8 elements around each point. The rows of
// the matrix pass through shared memory one after the other, where the contributions of the elements are summed. The
// results equal the host's to the last bit.
#include "problems/navier_stokes_loops.hpp"

#include "core/device/for_each_point.hpp"

namespace hyperplane {
namespace {

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
/// A thread block has 16 points, half a warp, and a thread for each of the 8 elements around each point.
constexpr int points_together = 16, flow_threads = 8 * points_together;

/// The point and element of a thread in such a block; threads past the last slot repeat the last point.
struct FlowThread {
    int at = threadIdx.x % points_together;  ///< number of the point in the thread block
    int n = threadIdx.x / points_together;   ///< number of the element
    Index slot = Index(blockIdx.x) * points_together + at;

    __device__ PointPatch patch(const FlowStep& step) const {
        const Layout& layout = step.u.layout;
        return {step, layout.point(unsigned(min(slot, layout.slots() - 1)))};
    }
};

/// The states at the 27 nodes around each point of a thread block, in shared memory: loaded once and used by 8
/// elements.
struct FlowNodes {
    double value[4][27][points_together], rate[4][27][points_together], old[3][27][points_together];

    /// All threads of the block must call it.
    __device__ void fetch(const PointPatch& patch, const FlowThread& thread) {
#pragma unroll
        for (int turn = 0; turn < 4; ++turn) {
            const int node = thread.n + 8 * turn;
            if (node >= 27) break;
            const Index slot = patch.place({node % 3 - 1, node / 3 % 3 - 1, node / 9 - 1});
            for (int c = 0; c < 4; ++c) {
                value[c][node][thread.at] = patch.value(slot, c);
                rate[c][node][thread.at] = patch.rate(slot, c);
                if (c < 3) old[c][node][thread.at] = patch.old(slot, c);
            }
        }
    }
};

/// A PointPatch that reads the states from shared memory.
struct SharedPatch : PointPatch {
    using Place = int;
    const FlowNodes& nodes;
    int at;

    __device__ int place(Int3 o) const { return (o.x + 1 + 3 * (o.y + 1) + 9 * (o.z + 1)) * points_together + at; }
    __device__ double value(int place, int c) const { return nodes.value[c][0][place]; }
    __device__ double rate(int place, int c) const { return nodes.rate[c][0][place]; }
    __device__ double old(int place, int c) const { return nodes.old[c][0][place]; }
};

struct ResidualMemory {
    FlowNodes nodes;
    double parts[8][4][points_together], scales[8][points_together];
};

__global__ void __launch_bounds__(flow_threads, 2)
    residual_of_points(const __grid_constant__ FlowStep step, const __grid_constant__ VectorView f) {
    extern __shared__ double shared[];
    auto& memory = *reinterpret_cast<ResidualMemory*>(shared);
    const FlowThread thread;
    const PointPatch point = thread.patch(step);
    memory.nodes.fetch(point, thread);
    __syncthreads();
    const SharedPatch patch{point, memory.nodes, thread.at};
    const PatchElement element(patch, thread.n);
    double part[4] = {};
    q1::add_residual(element, part);
    for (int c = 0; c < 4; ++c) memory.parts[thread.n][c][thread.at] = part[c];
    memory.scales[thread.n][thread.at] = element.scale;
    __syncthreads();
    const int c = thread.n;
    if (c >= 4 || thread.slot >= step.u.layout.slots()) return;
    double sum = 0.0, scale = 0.0;
    for (int n = 0; n < 8; ++n) {
        sum += memory.parts[n][c][thread.at];
        scale += memory.scales[n][thread.at];
    }
    f.at(thread.slot, c) = residual_entry(patch, c, scale, sum);
}

/// The Jacobian's shared memory. One matrix row of the points' blocks passes through it at a time; a warp sums one
/// column of it, and each half of the warp the elements on one side in z.
struct JacobianMemory {
    FlowNodes nodes;
    double row[8][8][4][points_together];  ///< by element, corner of the element, column and point
    double scales[8][points_together];
};

/// 8 numbers of one thread in shared memory.
struct SharedColumn {
    double* values;
    __device__ double& operator[](int b) const { return values[b * flow_threads]; }
};

/// Adds the value that the corresponding lane of the other half-warp has.
__device__ double with_other_half(double value) {
    return value + __shfl_xor_sync(0xffffffffu, value, 16);
}

/// The diagonal coefficient s of a row that prescribes a velocity.
__device__ double scale_of_row(const JacobianMemory& memory, int at) {
    double of_side[2] = {};
    for (int n = 0; n < 8; ++n) of_side[n / 4] += memory.scales[n][at];
    return of_side[0] + of_side[1];
}

/// Sums one column of matrix row `row` at one point and writes it: in the 9 blocks of the layer on one side in z, and
/// in half of the blocks in the point's own layer. `fixed` says that the row prescribes a velocity.
__device__ void write_column(const FlowStep& step, const MatrixView& a, const JacobianMemory& memory, int row,
                             bool fixed) {
    const auto [at, n, slot] = FlowThread{};
    const int side = n % 2, col = n / 2;
    const bool here = slot < step.u.layout.slots(), all = here && a.stored_entries == 27,
               beside_here = side == 0 ? here : all;
    const Index apart = 16 * a.stride;  // distance from one entry to the next
    double *beside = &a.at(18 * side, row, col, slot), *around = &a.at(9, row, col, slot);
    const auto part = [&](int n, int b) { return memory.row[n][b][col][at]; };
    for_constants<9>([&](auto block) {
        const double outwards = side_sum<block>(side, 1, part), own = with_other_half(side_sum<block>(side, 0, part));
        if (beside_here) *beside = fixed ? 0.0 : outwards;
        if (side == block % 2 && (block <= 4 ? here : all)) {
            if (block == 4 && fixed)
                *around = col == row ? scale_of_row(memory, at) : 0.0;
            else
                *around = fixed ? 0.0 : own;
        }
        beside += apart;
        around += apart;
    });
}

__global__ void __launch_bounds__(flow_threads, 3)
    jacobian_of_points(const __grid_constant__ FlowStep step, const __grid_constant__ MatrixView a) {
    extern __shared__ double shared[];
    auto& memory = *reinterpret_cast<JacobianMemory*>(shared);
    const FlowThread thread;
    const int at = thread.at, n = thread.n;
    const PointPatch point = thread.patch(step);
    memory.nodes.fetch(point, thread);
    __syncthreads();
    const SharedPatch patch{point, memory.nodes, at};
    const PatchElement element(patch, n);
    memory.scales[n][at] = element.scale;
    __syncthreads();  // all threads have computed tau; nodes.old is free
    static_assert(sizeof(memory.nodes.old) >= 8 * flow_threads * sizeof(double));
    const SharedColumn transport{&memory.nodes.old[0][0][0] + threadIdx.x};
    q1::CornerTerms<double> terms;
    q1::make_corner_terms(element, terms, transport);
    for_constants<4>([&](auto row) {
        q1::make_row<row>(element, terms, transport,
                          [&](int b, int col, double value) { memory.row[n][b][col][at] = value; });
        __syncthreads();
        write_column(step, a, memory, row, point.fixed(row));
        if (row < 3) __syncthreads();
    });
}

template <class Out>
void launch(const Context& context, void (*kernel)(FlowStep, Out), const char* name, std::size_t bytes,
            const FlowStep& step, const Out& out) {
    const cudaStream_t stream = cuda::stream(context);
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)), name);
    const unsigned blocks = cuda::blocks_for(step.u.layout.slots(), points_together);
    kernel<<<blocks, flow_threads, bytes, stream>>>(step, out);
    cuda::launched(context, name);
}
#endif

}  // namespace

void flow_initial_state(const Flow& flow, Vector& u) {
    for_each_point(u.context(), u.layout(), "initial state", InitialPoint{flow, view(u)});
}

void flow_residual(const FlowStep& step, Vector& f) {
#ifdef __CUDACC__
    if (f.backend() == Backend::cuda)
        return launch(f.context(), residual_of_points, "flow's residual", sizeof(ResidualMemory), step, view(f));
#endif
    flow_residual_on_host(step, f);
}

void flow_jacobian(const FlowStep& step, StructMatrix& a) {
#ifdef __CUDACC__
    if (a.backend() == Backend::cuda)
        return launch(a.context(), jacobian_of_points, "flow's Jacobian", sizeof(JacobianMemory), step, view(a));
#endif
    flow_jacobian_on_host(step, a);
}

void flow_kinetic_energy(const Flow& flow, const Vector& u, const VectorView& energy) {
    for_each_point(u.context(), u.layout(), "kinetic energy", EnergyPoint{flow, view(u), energy});
}

}  // namespace hyperplane
