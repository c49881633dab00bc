// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/galerkin.hpp"

#include "core/device/for_each_point.hpp"
#include "core/error.hpp"
#include "precond/multigrid/coefficients.hpp"
#include "precond/multigrid/galerkin_lines.hpp"

namespace hyperplane::multigrid {
namespace {

constexpr int reach = 2;  ///< the largest radius of a coarse stencil

/// The rows of one coarse point.
struct Products {
    Coefficients a;
    WeightsView<const double> weights;
    MatrixView coarse;
    signed char entry_of[125];  ///< by offset; -1 where the coarse stencil has none, or does not store it

    HYPERPLANE_HD int unknowns() const { return 64 * a.a.dof * a.a.dof; }

    HYPERPLANE_HD void operator()(Int3 coarse_point, Index coarse_slot) const {
        for (int number = 0; number < 27; ++number) {
            Int3 p;
            if ((weights.places.of[number] < 0 && number != 13) ||
                !weights.grids.child(coarse_point, offset_of(number), p))
                continue;
            const double weight = number == 13 ? 1.0 : weights.at(number, coarse_slot);
            const Index slot = a.layout.slot(p);
            for (int e = 0; e < a.entries; ++e) {
                Int3 q;
                if (a.neighbour(p, e, q)) add_parents(coarse_point, coarse_slot, weight, e, slot, q);
            }
        }
        const int diagonal = entry_of[place({0, 0, 0})];
        for (int c = 0; c < a.a.dof; ++c)
            if (double& own = coarse.at(diagonal, c, c, coarse_slot); own == 0.0) own = 1.0;
    }

    HYPERPLANE_HD static int place(Int3 d) {
        return d.x + reach + (2 * reach + 1) * (d.y + reach + (2 * reach + 1) * (d.z + reach));
    }

    HYPERPLANE_HD void add_parents(Int3 coarse_point, Index coarse_slot, double weight, int e, Index slot,
                                   Int3 q) const {
        const Index there = a.layout.slot(q);
        for (int number = 0; number < 27; ++number) {
            Int3 parent;
            if ((weights.places.of[number] < 0 && number != 13) || !weights.grids.parent(q, offset_of(number), parent))
                continue;
            const int entry = entry_of[place(weights.grids.offset(coarse_point, parent))];
            if (entry < 0) continue;
            const double both = weight * (number == 13 ? 1.0 : weights.at(number, weights.coarse.slot(parent)));
            for (int row = 0; row < a.a.dof; ++row)
                for (int col = 0; col < a.a.dof; ++col)
                    coarse.at(entry, row, col, coarse_slot) += both * a(e, row, col, slot, there);
        }
    }
};

}  // namespace

void galerkin_product(const StructMatrix& a, const Interpolation& p, StructMatrix& coarse) {
    if (a.backend() == Backend::cpu && can_follow_lines(a.layout()) && can_follow_lines(coarse.layout()))
        return galerkin_by_lines(a, p, coarse);
    if (coarse.stencil().radius() > reach)
        throw Error(ExitCode::internal, "multigrid: a coarse stencil of radius 3 or more");
    for (int e = 0; e < coarse.stored_entries(); ++e) coarse.set_zero(e);
    const Buffer<Int3> offsets = offsets_of(a);
    Products products{Coefficients(a, offsets.data()), p.view(), view(coarse), {}};
    for (signed char& entry : products.entry_of) entry = -1;
    for (int e = 0; e < coarse.stored_entries(); ++e)
        products.entry_of[Products::place(coarse.stencil()[e])] = static_cast<signed char>(e);
    for_each_point(a.backend(), coarse.layout(), "Galerkin product", products);
}

}  // namespace hyperplane::multigrid
