// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/copy.hpp"

namespace hyperplane {
namespace {

struct FromView {
    FactorView factors;
    int dof;

    HYPERPLANE_HD double at(int entry, Int3 p, Int3 q, int row, int column) const {
        return factors.unit_at(entry, factors.layout.slot(p), factors.layout.slot(q), row, column, dof);
    }
};

}  // namespace

void copy_triangles(const FactorView& from, const TriangleCopy& to) {
    copy_triangles_of(FromView{from, to.dof}, to);
}

}  // namespace hyperplane
