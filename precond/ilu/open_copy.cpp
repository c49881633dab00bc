// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ilu/open_copy.hpp"

#include <algorithm>

namespace hyperplane {

Layout OpenCopy::layout(const Layout& part) {
    const Layout own = part.with_halo_as_own_grid();
    Grid open = own.grid();
    open.periodic[2] = false;
    return {LayoutKind::natural, open, own.levels()};
}

OpenCopy::OpenCopy(const StructMatrix& a)
    : part_(a.layout()),
      matrix_(a.context(), layout(part_), a.stencil(), a.dof(), a.storage(), "preconditioner: matrix on an open grid") {
}

bool OpenCopy::serves(const StructMatrix& a) const {
    return part_ == a.layout() && part_.grid().periodic == a.grid().periodic && matrix_.dof() == a.dof() &&
           matrix_.storage() == a.storage() && matrix_.stencil().offsets() == a.stencil().offsets();
}

void OpenCopy::take(const StructMatrix& a) {
    const Index plane = part_.slots_of_plane();
    const int planes = matrix_.grid().nz, halo = part_.halo();
    // The planes of the whole grid, counted as those of the copy.
    const int first = halo - part_.begin_plane(), last = first + part_.grid().nz;
    for (int e = 0; e < a.stored_entries(); ++e) {
        const int ahead = a.stencil()[e].z;
        const int begin = std::max({0, first, first - ahead}), end = std::min({planes, last, last - ahead});
        for (int row = 0; row < a.dof() && begin < end; ++row)
            for (int col = 0; col < a.dof(); ++col)
                a.context().stream().copy(a.values(e, row, col) + (begin - halo) * plane,
                                          matrix_.values(e, row, col) + begin * plane,
                                          (end - begin) * plane * Index(sizeof(double)));
    }
}

}  // namespace hyperplane
