// SPDX-License-Identifier: BSD-3-Clause
// Vectors times pivots, before and after conjugate gradients in Eisenstat's form, on either backend.
#include "precond/triangular/wavefront/eisenstat.hpp"
#include "precond/walks/for_each_element.hpp"

namespace hyperplane {
namespace {

struct ScaleByPivot {
    ConstBlockView inverse;
    double* x;
    bool divide;

    HYPERPLANE_HD void operator()(Index slot, int /*element*/) const {
        const double d = inverse.at(0, slot, 0, 0);
        x[slot] = divide ? x[slot] / d : x[slot] * d;
    }
};

}  // namespace

void scale_by_pivots(const IluFactors& factors, bool divide, Vector& x) {
    const ScaleByPivot body{factors.view(nullptr).inverse, x.data(), divide};
    for_each_element(factors.context(), factors.matrix().layout().slots(), 1, "pivots", body);
}

}  // namespace hyperplane
