// SPDX-License-Identifier: BSD-3-Clause
// Eisenstat's form: vectors times powers of pivots, before and after conjugate gradients, on either backend; and the
// scaled triangle of a GPU.
#include "core/device/for_each_element.hpp"
#include "core/grid/slots.hpp"
#include "precond/triangular/wavefront/eisenstat.hpp"

namespace hyperplane {
namespace {

struct ScaleByPivot {
    ConstBlockView inverse;
    double* x;
    PivotPower power;
    bool divide;

    HYPERPLANE_HD void operator()(Index slot, int /*element*/) const {
        double d = inverse.at(0, slot, 0, 0);
        if (power == PivotPower::signed_root) d = copysign(sqrt(fabs(d)), d);
        if (power == PivotPower::root) d = sqrt(fabs(d));
        x[slot] = divide ? x[slot] / d : x[slot] * d;
    }
};

/// An entry of the scaled triangle. A coefficient that leaves the grid is zero.
struct ScaleEntry {
    const double *entry, *inverse;
    double* to;
    int slots, shift;

    HYPERPLANE_HD void operator()(Index slot, int /*element*/) const {
        const double d = inverse[slot], neighbour = inverse[shifted_slot(*this, int(slot), shift)];
        to[slot] = entry[slot] == 0.0 ? 0.0 : copysign(sqrt(fabs(d)), d) * entry[slot] * sqrt(fabs(neighbour));
    }
};

/// Writes D, and sets `differs` if D is not positive or diag(A) is not D + E D^-1 E^T.
struct CompareDiagonal {
    const double *entries, *diagonal, *inverse;
    double* pivots;
    int* differs;
    Index slots;
    int lower;

    HYPERPLANE_HD void operator()(Index slot, int /*element*/) const {
        const double d = inverse[slot];
        double sum = 1.0;
        for (int e = 0; e < lower; ++e) sum = fma(entries[e * slots + slot], entries[e * slots + slot], sum);
        pivots[slot] = 1.0 / d;
        constexpr double rounding = 16 * 1.1102230246251565e-16;  // of the elimination, the roots and this sum
        if (!(d > 0.0 && fabs(diagonal[slot] * d - sum) <= rounding * sum)) *differs = 1;
    }
};

}  // namespace

ScaledTriangle::ScaledTriangle(const Context& context, const IluPattern& pattern)
    : slots_(pattern.layout.slots()),
      lower_(pattern.stencil.lower_size()),
      values_(context, "preconditioner: scaled", (lower_ + 1) * slots_),
      differs_(context, "preconditioner: scaled", 1) {}

Index ScaledTriangle::bytes(const IluPattern& pattern) {
    return (pattern.stencil.lower_size() + 1) * pattern.layout.slots() * Index(sizeof(double)) + Index(sizeof(int));
}

void ScaledTriangle::take(const IluFactors& factors) {
    const StructMatrix& a = factors.matrix();
    const Context& context = a.context();
    const auto* inverse = static_cast<const double*>(factors.inverse_address());
    for (int e = 0; e < lower_; ++e)
        for_each_element(context, slots_, 1, "scaled",
                         ScaleEntry{a.values(e), inverse, values_.data() + e * slots_, int(slots_),
                                    int(a.layout().slot_delta(factors.stencil()[e]))});
    int differs = 0;
    context.stream().copy(&differs, differs_.data(), sizeof differs);
    diagonal_ = a.values(a.stencil().diagonal());
    for_each_element(context, slots_, 1, "scaled",
                     CompareDiagonal{values_.data(), diagonal_, inverse, values_.data() + lower_ * slots_,
                                     differs_.data(), slots_, int(lower_)});
    context.stream().copy(differs_.data(), &differs, sizeof differs);
    if (!differs) diagonal_ = nullptr;
}

void scale_by_pivots(const IluFactors& factors, PivotPower power, bool divide, Vector& x) {
    const ScaleByPivot body{factors.view(nullptr).inverse, x.data(), power, divide};
    for_each_element(factors.context(), factors.matrix().layout().slots(), 1, "pivots", body);
}

}  // namespace hyperplane
