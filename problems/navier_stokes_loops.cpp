// On a device a block of threads has a few points: stage 1 of the Jacobian into shared memory, one thread an element of
// a point, then stage 2 from there. The arithmetic is the host's, to the last bit.
#include "problems/navier_stokes_loops.hpp"

#include "core/for_each_point.hpp"

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
/// A block has half a warp's points and a thread for each of the 8 elements around each of them.
constexpr int points_together = 16, flow_threads = 8 * points_together;

/// The place of a thread of such a block; threads past the last slot repeat its point.
struct FlowThread {
    int at = threadIdx.x % points_together;  ///< which point of the block
    int n = threadIdx.x / points_together;   ///< which element
    Index slot = Index(blockIdx.x) * points_together + at;

    __device__ PointPatch patch(const FlowStep& step) const {
        const Layout& layout = step.u.layout;
        return {step, layout.point(unsigned(min(slot, layout.slots() - 1)))};
    }
};

__global__ void __launch_bounds__(flow_threads, 2)
    residual_of_points(const __grid_constant__ FlowStep step, const __grid_constant__ VectorView f) {
    __shared__ double parts[8][4][points_together], scales[8][points_together];
    const FlowThread thread;
    const PointPatch patch = thread.patch(step);
    const PatchElement element(patch, thread.n);
    double part[4] = {};
    q1::add_residual(element, part);
    for (int c = 0; c < 4; ++c) parts[thread.n][c][thread.at] = part[c];
    scales[thread.n][thread.at] = element.scale;
    __syncthreads();
    const int c = thread.n;
    if (c >= 4 || thread.slot >= step.u.layout.slots()) return;
    double sum = 0.0, scale = 0.0;
    for (int n = 0; n < 8; ++n) {
        sum += parts[n][c][thread.at];
        scale += scales[n][thread.at];
    }
    f.at(thread.slot, c) = residual_entry(patch, c, scale, sum);
}

/// Rows of blocks go through shared memory one after the other, where a warp sums up one column, each half of it a side
/// in z.
struct JacobianMemory {
    double rows[2][8][8][4][points_together];  ///< of two rows in turn: element, its corner, column
    double slopes[q1::KeptSlopes<double>::count][flow_threads];
    double scales[8][points_together];
};

/// Adds what the other half of a warp has.
__device__ double with_other_half(double value) {
    return value + __shfl_xor_sync(0xffffffffu, value, 16);
}

/// Sums up a column of row `row` at one point and writes it.
__device__ void write_column(const FlowStep& step, const MatrixView& a, const JacobianMemory& memory, int row) {
    const auto [at, n, slot] = FlowThread{};
    const int side = n % 2, col = n / 2;
    const bool here = slot < step.u.layout.slots();
    const bool fixed = here && step.flow.fixed(step.u.layout.point(unsigned(slot)), row);
    double scale = 0.0;
    for (int quarter = 0; quarter < 4; ++quarter) scale += memory.scales[4 * side + quarter][at];
    scale = with_other_half(scale);
    const auto store = [&](int entry, double value) {
        if (here && entry < a.stored_entries)
            a.at(entry, row, col, slot) = flow_entry(fixed, entry == 13 && col == row, scale, value);
    };
    sum_blocks<double>(
        side, [&](int n, int b) { return memory.rows[row % 2][n][b][col][at]; },
        [&](int block, double outwards, double inwards) {
            const double own = with_other_half(inwards);
            store(18 * side + block, outwards);
            if (side == block % 2) store(9 + block, own);
        });
}

__global__ void __launch_bounds__(flow_threads, 2)
    jacobian_of_points(const __grid_constant__ FlowStep step, const __grid_constant__ MatrixView a) {
    extern __shared__ double shared[];
    auto& memory = *reinterpret_cast<JacobianMemory*>(shared);
    const FlowThread thread;
    const int at = thread.at, n = thread.n;
    const PointPatch patch = thread.patch(step);
    const PatchElement element(patch, n);
    const q1::KeptSlopes<double> kept{&memory.slopes[0][threadIdx.x], flow_threads};
    q1::CornerTerms<double> terms;
    q1::make_corner_terms(element, terms);
    memory.scales[n][at] = element.scale;
    for_constants<4>([&](auto row) {
        q1::make_row<row>(element, terms, kept,
                          [&](int b, int col, double value) { memory.rows[row % 2][n][b][col][at] = value; });
        __syncthreads();
        write_column(step, a, memory, row);
    });
}

template <class Out>
void launch(void (*kernel)(FlowStep, Out), const char* name, std::size_t bytes, const FlowStep& step, const Out& out) {
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)), name);
    const unsigned blocks = cuda::blocks_for(step.u.layout.slots(), points_together);
    kernel<<<blocks, flow_threads, bytes, cuda::stream()>>>(step, out);
    cuda::launched(name);
}
#endif

}  // namespace

void flow_initial_state(const Flow& flow, Vector& u) {
    for_each_point(u.backend(), u.layout(), "initial state", InitialPoint{flow, view(u)});
}

void flow_residual(const FlowStep& step, Vector& f) {
#ifdef __CUDACC__
    if (f.backend() == Backend::cuda) return launch(residual_of_points, "flow's residual", 0, step, view(f));
#endif
    flow_residual_on_host(step, view(f));
}

void flow_jacobian(const FlowStep& step, StructMatrix& a) {
#ifdef __CUDACC__
    if (a.backend() == Backend::cuda)
        return launch(jacobian_of_points, "flow's Jacobian", sizeof(JacobianMemory), step, view(a));
#endif
    flow_jacobian_on_host(step, view(a));
}

void flow_kinetic_energy(const Flow& flow, const Vector& u, const VectorView& energy) {
    for_each_point(u.backend(), u.layout(), "kinetic energy", EnergyPoint{flow, view(u), energy});
}

}  // namespace hyperplane
