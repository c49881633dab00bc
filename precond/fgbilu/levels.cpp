// SPDX-License-Identifier: BSD-3-Clause
#include "precond/fgbilu/levels.hpp"

#include <algorithm>

#include "core/device/for_each_point.hpp"
#include "precond/walks/level_columns.hpp"

namespace hyperplane {
namespace {

struct Copy {
    FgBiluFactors f;
    ConstBlockView a;
    int entries;  ///< number of stored entries, or 0 for the diagonal alone
    double alpha;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        for (int r = 0; r < f.dof; ++r)
            for (int c = 0; c < f.dof; ++c) {
                const double factor = r == c ? 1.0 + alpha : 1.0;
                f.inverse.at(0, slot, r, c) = factor * f.diagonal.at(0, slot, r, c);
                for (int e = 0; e < entries; ++e)
                    if (e != f.view.lower) f.triangles.at(e, slot, r, c) = a.at(e, slot, r, c);
            }
    }
};

struct FromView {
    FactorView factors;
    int dof, planes_before;

    HYPERPLANE_HD double at(int entry, Int3 p, Int3 q, int row, int column) const {
        p.z -= planes_before;
        q.z -= planes_before;
        return factors.unit_at(entry, factors.layout.slot(p), factors.layout.slot(q), row, column, dof);
    }
};

}  // namespace

int most_columns(const Layout& layout) {
    int most = 0;
    for (int level = 0; level < layout.level_count(); ++level)
        most = std::max(most, hyperplane_of(layout, level).columns);
    return most;
}

void fgbilu_copy(const Context& context, const StructMatrix& a, const FgBiluFactors& factors, double alpha) {
    for_each_point(context, factors.view.layout, "fgbilu: copy",
                   Copy{factors, block_view(a), factors.triangles.values ? a.stored_entries() : 0, alpha});
}

void fgbilu_export(const FgBiluFactors& from, const TriangleCopy& to, int planes_before) {
    copy_triangles_of(FromView{from.view, to.dof, planes_before}, to);
}

}  // namespace hyperplane
