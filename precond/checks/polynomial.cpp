// SPDX-License-Identifier: BSD-3-Clause
#include "precond/checks/polynomial.hpp"

#include <utility>

#include "core/device/for_each_point.hpp"
#include "core/matrix/views.hpp"
#include "core/vector/blas1.hpp"
#include "precond/checks/applications.hpp"
#include "precond/checks/errors.hpp"

namespace hyperplane {
namespace {

/// out = x + D^-1 (r - A x) / zero
struct FactorOfDegreeOne {
    ConstMatrixView a;
    const Int3* offsets;
    int size;
    double zero;
    ConstVectorView r, x;
    VectorView out;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const Layout& layout = r.layout;
        const int diagonal = size / 2;
        double sum[max_dof];
        for (int i = 0; i < a.dof; ++i) sum[i] = r.at(slot, i);
        for (int e = 0; e < size; ++e) {
            const Int3 q = layout.grid().wrapped(p + offsets[e]);
            if (!layout.grid().contains(q)) continue;
            const Index there = layout.slot(q);
            const bool stored = e < a.stored_entries;
            for (int i = 0; i < a.dof; ++i)
                for (int c = 0; c < a.dof; ++c)
                    sum[i] -= (stored ? a.at(e, i, c, slot) : a.at(size - 1 - e, c, i, there)) * x.at(there, c);
        }
        divide_by_block(
            a.dof, [&](int i, int c) { return a.at(diagonal, i, c, slot); }, sum);
        for (int i = 0; i < a.dof; ++i) out.at(slot, i) = x.at(slot, i) + sum[i] / zero;
    }
};

}  // namespace

double polynomial_error(const StructMatrix& a, const std::vector<double>& zeros, const Vector& r, const Vector& z) {
    const Context& context = a.context();
    Vector x(context, r.layout(), r.dof(), "check"), out(context, r.layout(), r.dof(), "check");
    const Buffer<Int3> offsets = copied_to(context, "check", a.stencil().offsets());
    set_zero(x);
    for (const double zero : zeros) {
        for_each_point(r.backend(), r.layout(), "check of a polynomial",
                       FactorOfDegreeOne{view(a), offsets.data(), a.stencil().size(), zero, view(r),
                                         view(std::as_const(x)), view(out)});
        std::swap(x, out);
    }
    return largest_difference(context, z, x);
}

}  // namespace hyperplane
