// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/fgbilu_by_element.hpp"
#include "precond/walks/for_each_element.hpp"

namespace hyperplane {
namespace {

/// A level of a triangular solve, as a loop over the level's columns, `at`, and over the rows of a block. Factors is
/// FactorView or ReducedFactorView.
template <class Factors>
struct Step {
    Factors f;
    Hyperplane plane;
    int dof;
    bool lower;

    HYPERPLANE_HD bool find(int at, Int3* p, Index* slot) const { return find_point(f.layout, plane, at, p, slot); }
    /// The sum over the entries of the triangle of <X_e(p)^{r,:}, x(p+e)>. Neighbours outside the grid or across a
    /// periodic boundary are skipped.
    HYPERPLANE_HD double triangle(Int3 p, Index slot, int r, const double* x) const {
        const Index slots = f.layout.slots();
        double sum = 0.0;
        for (int at = 0; at < f.lower; ++at) {
            const int e = lower ? at : f.lower + 1 + at;
            const Int3 q = p + f.offsets[e];
            if (!f.layout.grid().contains(q)) continue;
            const Index there = f.layout.slot(q);
            for (int c = 0; c < dof; ++c) sum += f.at(e, slot, there, r, c) * x[c * slots + there];
        }
        return sum;
    }
};

/// The first kernel of a level in Algorithm 6: z = b - E x in the lower solve, z = F x in the upper one.
struct SolveTriangle : Step<FactorView> {
    const double *b, *x;
    double* z;

    HYPERPLANE_HD void operator()(int at, int r) const {
        Int3 p;
        Index slot;
        if (!find(at, &p, &slot)) return;
        const double sum = triangle(p, slot, r, x);
        z[Index(r) * plane.columns + at] = lower ? b[r * f.layout.slots() + slot] - sum : sum;
    }
};

/// The second kernel: x = D^-1 z in the lower solve, x -= D^-1 z in the upper one.
struct SolvePivot : Step<FactorView> {
    const double* z;
    double* x;

    HYPERPLANE_HD void operator()(int at, int r) const {
        Int3 p;
        Index slot;
        if (!find(at, &p, &slot)) return;
        double sum = 0.0;
        for (int c = 0; c < dof; ++c) sum += f.inverse_at(slot, r, c) * z[Index(c) * plane.columns + at];
        double& value = x[r * f.layout.slots() + slot];
        value = lower ? sum : value - sum;
    }
};

/// The only kernel of a level if the triangles are unit: x = b - W x, or x = b - G x.
template <class T>
struct SolveUnitTriangle : Step<ReducedFactorView<T>> {
    const double* b;
    double* x;

    HYPERPLANE_HD void operator()(int at, int r) const {
        Int3 p;
        Index slot;
        if (!this->find(at, &p, &slot)) return;
        const Index place = r * this->f.layout.slots() + slot;
        x[place] = b[place] - this->triangle(p, slot, r, x);
    }
};

/// Calls body(hyperplane) for all levels, in the order of the lower or the upper solve.
template <class Body>
void for_each_level(const Layout& layout, bool lower, const Body& body) {
    const int levels = layout.level_count();
    for (int at = 0; at < levels; ++at) body(hyperplane_of(layout, lower ? at : levels - 1 - at));
}

template <class T>
void sweep(const ReducedFactorView<T>& factors, bool lower, const Vector& b, Vector& x) {
    for_each_level(factors.layout, lower, [&](const Hyperplane& plane) {
        for_each_element(x.backend(), plane.columns, x.dof(), "fgbilu: unit triangle",
                         SolveUnitTriangle<T>{{factors, plane, x.dof(), lower}, b.data(), x.data()});
    });
}

void sweep(const ReducedFactors& factors, bool lower, const Vector& b, Vector& x) {
    factors.storage() == FactorStorage::single_precision ? sweep(factors.view<float>(), lower, b, x)
                                                         : sweep(factors.view<Half>(), lower, b, x);
}

}  // namespace

void fgbilu_solve_by_steps(Backend backend, const FgBiluFactors& factors, FgBiluScratch& scratch, const double* r,
                           double* z) {
    for (const bool lower : {true, false})
        for_each_level(factors.view.layout, lower, [&](const Hyperplane& plane) {
            const Step<FactorView> step{factors.view, plane, factors.dof, lower};
            for_each_element(backend, plane.columns, factors.dof, "fgbilu: triangle",
                             SolveTriangle{step, r, z, scratch.vector()});
            for_each_element(backend, plane.columns, factors.dof, "fgbilu: pivots",
                             SolvePivot{step, scratch.vector(), z});
        });
}

void fgbilu_solve_by_steps(const ReducedFactors& factors, const Vector& r, Vector& z) {
    sweep(factors, true, r, z);
    factors.apply_inverse(z, z);
    sweep(factors, false, z, z);
}

}  // namespace hyperplane
