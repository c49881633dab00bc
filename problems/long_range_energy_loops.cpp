// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/for_each_point.hpp"
#include "problems/long_range_energy.hpp"

namespace hyperplane {

template <class Body>
void visit_modes(const Context& context, const Layout& layout, const char* name, const Body& body) {
    for_each_point(context, layout, name, body);
}

template void visit_modes(const Context&, const Layout&, const char*, const CentredField&);
template void visit_modes(const Context&, const Layout&, const char*, const AxisTransform&);
template void visit_modes(const Context&, const Layout&, const char*, const ModeEnergy&);
template void visit_modes(const Context&, const Layout&, const char*, const ToRanks&);
template void visit_modes(const Context&, const Layout&, const char*, const FromRanks&);

}  // namespace hyperplane
