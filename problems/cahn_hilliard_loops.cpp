// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/for_each_point.hpp"
#include "problems/cahn_hilliard_rows.hpp"

namespace hyperplane {

template <class Body>
void visit_mixture(const Context& context, const Layout& layout, const char* name, const Body& body) {
    for_each_point(context, layout, name, body);
}

template void visit_mixture(const Context&, const Layout&, const char*, const MixtureBegin<1>&);
template void visit_mixture(const Context&, const Layout&, const char*, const MixtureBegin<2>&);
template void visit_mixture(const Context&, const Layout&, const char*, const MixtureField&);
template void visit_mixture(const Context&, const Layout&, const char*, const MixtureResidual<1>&);
template void visit_mixture(const Context&, const Layout&, const char*, const MixtureResidual<2>&);
template void visit_mixture(const Context&, const Layout&, const char*, const MixtureMatrix<1>&);
template void visit_mixture(const Context&, const Layout&, const char*, const MixtureMatrix<2>&);
template void visit_mixture(const Context&, const Layout&, const char*, const MixtureEnergy<1>&);
template void visit_mixture(const Context&, const Layout&, const char*, const MixtureEnergy<2>&);

}  // namespace hyperplane
