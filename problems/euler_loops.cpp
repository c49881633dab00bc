#include "core/for_each_point.hpp"
#include "problems/euler_points.hpp"

namespace hyperplane {

template <class Body>
void visit_gas(Backend backend, const Layout& layout, const char* name, const Body& body) {
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
