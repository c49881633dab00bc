// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ilu/hyperplane_copy.hpp"

#include <algorithm>

#include "precond/ilu/permutation_cuda.hpp"

namespace hyperplane {

Layout HyperplaneCopy::layout(const Layout& part, const Stencil& filled, int halo) {
    Grid own = part.grid();
    own.nz = part.planes() + 2 * halo;
    own.periodic[2] = false;
    return {LayoutKind::hyperplane, own, filled.level_map()};
}

HyperplaneCopy::HyperplaneCopy(const StructMatrix& a, const Stencil& filled, bool within_rank)
    : halo_(halo(filled, within_rank)),
      begin_plane_(a.layout().begin_plane()),
      within_rank_(within_rank),
      matrix_(a.context(), layout(a.layout(), filled, halo_), a.stencil(), a.dof(), a.storage(),
              "preconditioner: matrix in hyperplanes"),
      vector_(a.context(), matrix_.layout(), a.dof(), "preconditioner: vector in hyperplanes") {}

const StructMatrix& HyperplaneCopy::refresh(std::unique_ptr<HyperplaneCopy>& copy, const StructMatrix& a,
                                            const Stencil& filled, bool within_rank) {
    if (!copy || !copy->serves(a, layout(a.layout(), filled, halo(filled, within_rank))))
        copy = std::make_unique<HyperplaneCopy>(a, filled, within_rank);
    copy->take(a);
    return copy->matrix();
}

bool HyperplaneCopy::serves(const StructMatrix& a, const Layout& copy) const {
    return matrix_.layout() == copy && matrix_.grid().periodic == copy.grid().periodic && matrix_.dof() == a.dof() &&
           matrix_.storage() == a.storage() && matrix_.stencil().offsets() == a.stencil().offsets() &&
           begin_plane_ == a.layout().begin_plane();
}

void HyperplaneCopy::take(const StructMatrix& a) {
    const Layout& part = a.layout();
    const int nz = matrix_.grid().nz, known = std::min(halo_, part.halo());
    const int begin = halo_ - std::min(known, part.begin_plane());
    const int end = nz - halo_ + std::min(known, part.grid().nz - part.end_plane());
    const Permutation layouts(matrix_.layout(), halo_);
    // Planes that may have neighbours: the rank's own, or the whole grid, outside of which coefficients lead around a
    // periodic axis, or are zero.
    const int first = within_rank_ ? 0 : halo_ - part.begin_plane();
    const int last = within_rank_ ? nz : first + part.grid().nz;
    for (int e = 0; e < a.stored_entries(); ++e) {
        const int ahead = a.stencil()[e].z;
        for (int row = 0; row < a.dof(); ++row)
            for (int col = 0; col < a.dof(); ++col)
                copy_to_hyperplanes(a.context(), layouts, std::max(begin, first - ahead), std::min(end, last - ahead),
                                    a.values(e, row, col), matrix_.values(e, row, col));
    }
}

Vector& HyperplaneCopy::in_hyperplanes(const Vector& natural) {
    const Permutation layouts(matrix_.layout(), halo_);
    for (int c = 0; c < natural.dof(); ++c)
        copy_to_hyperplanes(natural.context(), layouts, halo_, layouts.nz - halo_, natural.component(c),
                            vector_.component(c));
    return vector_;
}

void HyperplaneCopy::to_natural(Vector& natural) const {
    const Permutation layouts(matrix_.layout(), halo_);
    for (int c = 0; c < natural.dof(); ++c)
        copy_from_hyperplanes(natural.context(), layouts, vector_.component(c), natural.component(c));
}

}  // namespace hyperplane
