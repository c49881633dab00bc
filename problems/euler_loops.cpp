// SPDX-License-Identifier: BSD-3-Clause
// On a GPU a thread block computes the matrix at 32 points and keeps the data of their faces in shared memory: a thread
// that computed a point alone would need more registers than it has.
#include "core/device/for_each_point.hpp"
#include "problems/euler_points.hpp"
#include "problems/unrolled.hpp"

namespace hyperplane {

#ifdef __CUDACC__
namespace {

/// A thread block has 32 points, and one warp for each of the 6 faces of a point.
constexpr int group = 32, gas_threads = 6 * group;

/// The data that a thread block keeps in shared memory, by axis and point. The odd number of doubles from point to
/// point avoids bank conflicts.
template <class Faces>
struct SharedFaces : Faces {
    double gap[1 + sizeof(Faces) / sizeof(double) % 2];
};

/// The two phases of GasMatrix: each warp computes one face of all points, then one row of their blocks.
template <class Body>
__global__ void __launch_bounds__(gas_threads, 2)
    make_matrix(const __grid_constant__ Layout layout, const __grid_constant__ Body body) {
    extern __shared__ double shared[];
    auto* faces = reinterpret_cast<SharedFaces<typename Body::Faces>*>(shared) + threadIdx.x % group;
    const int warp = threadIdx.x / group;
    const unsigned slot = blockIdx.x * group + threadIdx.x % group;
    const bool here = slot < layout.slots();
    const Int3 p = here ? layout.point(slot) : Int3{};
    if (const int axis = warp / 2; here && !body.rows.flow.domain.flat(axis))
        body.make_face(p, axis, warp % 2, faces[axis * group]);
    __syncthreads();
    if (here && warp < 5)
        body.write_row(p, warp, slot, [&](int axis) -> const typename Body::Faces& { return faces[axis * group]; });
}

template <class Body>
void launch_matrix(const Context& context, const Layout& layout, const char* name, const Body& body) {
    constexpr int bytes = 3 * group * sizeof(SharedFaces<typename Body::Faces>);
    static_assert(sizeof(SharedFaces<typename Body::Faces>) / sizeof(double) % 2 == 1);
    const cudaStream_t stream = cuda::stream(context);
    cuda::check(cudaFuncSetAttribute(make_matrix<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), name);
    make_matrix<<<cuda::blocks_for(layout.slots(), group), gas_threads, bytes, stream>>>(layout, body);
    cuda::launched(context, name);
}

}  // namespace
#endif

template <class Body>
void visit_gas(const Context& context, const Layout& layout, const char* name, const Body& body) {
#ifdef __CUDACC__
    if constexpr (requires { typename Body::Faces; })
        return context.backend() == Backend::cuda ? launch_matrix(context, layout, name, body)
                                                  : for_each_point(context, layout, body);
    else
#endif
        for_each_point(context, layout, name, body);
}

template void visit_gas(const Context&, const Layout&, const char*, const GasStart&);
template void visit_gas(const Context&, const Layout&, const char*, const GasCrossing&);
template void visit_gas(const Context&, const Layout&, const char*, const GasBound&);
template void visit_gas(const Context&, const Layout&, const char*, const GasBadness&);
template void visit_gas(const Context&, const Layout&, const char*, const GasKineticEnergy&);
template void visit_gas(const Context&, const Layout&, const char*, const GasResidual<FluxKind::hllc>&);
template void visit_gas(const Context&, const Layout&, const char*, const GasResidual<FluxKind::rusanov>&);
template void visit_gas(const Context&, const Layout&, const char*,
                        const GasMatrix<FluxKind::hllc, GasJacobian::exact>&);
template void visit_gas(const Context&, const Layout&, const char*,
                        const GasMatrix<FluxKind::hllc, GasJacobian::upwind2>&);
template void visit_gas(const Context&, const Layout&, const char*,
                        const GasMatrix<FluxKind::hllc, GasJacobian::first>&);
template void visit_gas(const Context&, const Layout&, const char*,
                        const GasMatrix<FluxKind::rusanov, GasJacobian::exact>&);
template void visit_gas(const Context&, const Layout&, const char*,
                        const GasMatrix<FluxKind::rusanov, GasJacobian::upwind2>&);
template void visit_gas(const Context&, const Layout&, const char*,
                        const GasMatrix<FluxKind::rusanov, GasJacobian::first>&);

}  // namespace hyperplane
