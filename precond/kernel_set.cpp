// SPDX-License-Identifier: BSD-3-Clause
#include "precond/kernel_set.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/matrix/matrix_shape.hpp"

namespace hyperplane {

std::string KernelSet::name() const {
    std::string name = fmt::format("{}_{}_dof{}_{}", family, stencil.name(), dof, symmetric ? "lower" : "full");
    if (layout.kind() == LayoutKind::natural) name += "_natural";
    if (is_reduced(storage)) name += fmt::format("_{}", to_string(storage));
    const std::array<bool, 3>& periodic = layout.grid().periodic;
    if (periodic[0] || periodic[1] || periodic[2]) name += "_periodic_";
    for (int axis = 0; axis < 3; ++axis)
        if (periodic[axis]) name += "xyz"[axis];
    return name;
}

std::vector<KernelSet> kernels_of_general(const std::string& name, const MatrixShape& a, FactorStorage storage,
                                          std::function<rtc::Programs()> programs) {
    return {{name, Layout(LayoutKind::natural, Grid::of_rows(a.block_rows()), {}), Stencil("general", {{0, 0, 0}}),
             a.dof(), a.symmetric(), storage, std::move(programs)}};
}

}  // namespace hyperplane
