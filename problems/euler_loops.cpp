// On a GPU a block of threads makes the matrix at a warp's points from shared memory: a thread alone would hold more
// than its registers do.
#include "core/for_each_point.hpp"
#include "problems/euler_points.hpp"
#include "problems/unrolled.hpp"

namespace hyperplane {

#ifdef __CUDACC__
namespace {

constexpr int group = 32;  // points of a block, a lane each

/// What a block keeps in shared memory. An odd number of doubles from lane to lane spreads Faces over the banks.
template <class Body>
struct GroupMemory {
    typename Body::Faces faces[3][group];
    double parts[3][5][5][group];
    static_assert(sizeof(typename Body::Faces) / sizeof(double) % 2 == 1);
};

/// The phases of GasMatrix, each shared by the warps of a block: a face, a row along an axis, a row of the diagonal
/// block.
template <class Body>
__global__ void __launch_bounds__(256, 2)
    make_matrix(const __grid_constant__ Layout layout, const __grid_constant__ Body body) {
    extern __shared__ double shared[];
    auto& memory = *reinterpret_cast<GroupMemory<Body>*>(shared);
    const int lane = threadIdx.x % group, first = threadIdx.x / group, warps = blockDim.x / group;
    const unsigned slot = blockIdx.x * group + lane;
    const bool here = slot < layout.slots();
    const Int3 p = here ? layout.point(slot) : Int3{};
    for (int task = first; task < 6; task += warps) {
        const int axis = task / 2;
        if (!here || body.rows.flow.domain.flat(axis)) continue;
        auto& faces = memory.faces[axis][lane];
        const GasLine line = body.rows.line(p, axis);
        if (task % 2 == 0) {
            faces.line = line;
            body.template make_face<0>(line, faces);
        } else {
            body.template make_face<1>(line, faces);
        }
    }
    __syncthreads();
    for (int task = first; task < 15; task += warps) {
        const int axis = task / 5, row = task % 5;
        if (!here || body.rows.flow.domain.flat(axis)) continue;
        for_constants<5>([&](auto r) {
            if (r != row) return;
            const GasState<double> part = body.template write_row<r>(p, axis, slot, memory.faces[axis][lane]);
            for (int c = 0; c < 5; ++c) memory.parts[axis][r][c][lane] = part[c];
        });
    }
    __syncthreads();
    const auto part = [&](int axis, int row, int c) { return memory.parts[axis][row][c][lane]; };
    for (int row = first; here && row < 5; row += warps)
        for_constants<5>([&](auto r) {
            if (r == row) body.template write_diagonal<r>(p, slot, part);
        });
}

template <class Body>
void launch_matrix(const Layout& layout, const char* name, const Body& body) {
    constexpr int bytes = sizeof(GroupMemory<Body>);
    cuda::check(cudaFuncSetAttribute(make_matrix<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), name);
    make_matrix<<<unsigned((layout.slots() + group - 1) / group), 256, bytes, cuda::stream()>>>(layout, body);
    cuda::launched(name);
}

}  // namespace
#endif

template <class Body>
void visit_gas(Backend backend, const Layout& layout, const char* name, const Body& body) {
#ifdef __CUDACC__
    if constexpr (requires { typename Body::Faces; })
        return backend == Backend::cuda ? launch_matrix(layout, name, body) : for_each_point(layout, body);
    else
#endif
        for_each_point(backend, layout, name, body);
}

template void visit_gas(Backend, const Layout&, const char*, const GasStart&);
template void visit_gas(Backend, const Layout&, const char*, const GasCrossing&);
template void visit_gas(Backend, const Layout&, const char*, const GasBound&);
template void visit_gas(Backend, const Layout&, const char*, const GasBadness&);
template void visit_gas(Backend, const Layout&, const char*, const GasKineticEnergy&);
template void visit_gas(Backend, const Layout&, const char*, const GasResidual<FluxKind::hllc>&);
template void visit_gas(Backend, const Layout&, const char*, const GasResidual<FluxKind::rusanov>&);
template void visit_gas(Backend, const Layout&, const char*, const GasMatrix<FluxKind::hllc, GasJacobian::exact>&);
template void visit_gas(Backend, const Layout&, const char*, const GasMatrix<FluxKind::hllc, GasJacobian::upwind2>&);
template void visit_gas(Backend, const Layout&, const char*, const GasMatrix<FluxKind::hllc, GasJacobian::first>&);
template void visit_gas(Backend, const Layout&, const char*, const GasMatrix<FluxKind::rusanov, GasJacobian::exact>&);
template void visit_gas(Backend, const Layout&, const char*, const GasMatrix<FluxKind::rusanov, GasJacobian::upwind2>&);
template void visit_gas(Backend, const Layout&, const char*, const GasMatrix<FluxKind::rusanov, GasJacobian::first>&);

}  // namespace hyperplane
