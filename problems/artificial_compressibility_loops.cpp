// SPDX-License-Identifier: BSD-3-Clause
#include "problems/artificial_compressibility_loops.hpp"

#include "core/device/for_each_point.hpp"
#include "problems/unrolled.hpp"

namespace hyperplane {
namespace {

/// x = H x at one point.
HYPERPLANE_HD void reflect(const CavityFlow& flow, const VectorView& x, Index slot) {
    double product = 0.0;
    for (int c = 0; c < flow.dof(); ++c) product += CavityFlow::reflector(c) * x.at(slot, c);
    product *= flow.reflector_scale();
    for (int c = 0; c < flow.dof(); ++c) x.at(slot, c) -= product * CavityFlow::reflector(c);
}

struct CombinePoint {
    CavityFlow flow;
    double factors[3];
    ConstVectorView from[3];
    VectorView out;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        for (int c = 0; c < flow.dof(); ++c) {
            double sum = 0.0;
            for (int v = 0; v < 3; ++v)
                if (factors[v] != 0.0) sum += factors[v] * from[v].at(slot, c);
            out.at(slot, c) = sum;
        }
        if (flow.coupled) reflect(flow, out, slot);
    }
};

struct ReflectPoint {
    CavityFlow flow;
    VectorView x;

    HYPERPLANE_HD void operator()(Int3, Index slot) const { reflect(flow, x, slot); }
};

struct CavityResidualPoint {
    CavityFlow flow;
    ConstVectorView q;
    VectorView f;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        for (int set = 0; set < flow.sets; ++set) {
            double sum[4];
            for (int c = 0; c < 4; ++c) sum[c] = flow.slowness(4 * set + c) * f.at(slot, 4 * set + c);
            flow.add_fluxes(q, set, p, sum);
            for (int c = 0; c < 4; ++c) f.at(slot, 4 * set + c) = sum[c];
        }
        for (int s = 0; s < flow.scalars; ++s) {
            const int c = 4 * flow.sets + s;
            f.at(slot, c) = flow.slowness(c) * f.at(slot, c) + flow.scalar_fluxes(q, s, p);
        }
    }
};

/// The matrix rows of a point. `Sets` is an upper bound for the number of sets. With 1, the flow is one uncoupled set
/// without scalars, and its blocks stay in registers.
template <int Sets>
struct CavityJacobianPoint {
    CavityFlow flow;
    ConstVectorView q;
    double rate;
    MatrixView a;

    static constexpr bool alone = Sets == 1;

    HYPERPLANE_HD int sets() const { return alone ? 1 : flow.sets; }
    HYPERPLANE_HD int scalars() const { return alone ? 0 : flow.scalars; }

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        DiagonalBlocks<Sets> diagonal;
        diagonal.clear(sets());
        for (int set = 0; set < sets(); ++set)
            for (int c = 0; c < 4; ++c) diagonal.set[set][c][c] = rate * flow.slowness(4 * set + c);
        for (int s = 0; s < scalars(); ++s) diagonal.scalar[s] = rate * flow.slowness(4 * sets() + s);
        for_constants<3>([&](auto axis) {
            DiagonalBlocks<Sets> before, after;
            before.clear(sets());
            after.clear(sets());
            for_constants<2>([&](auto last) {
                constexpr int side = 2 * last - 1;
                if (flow.flat(axis)) return;
                // at a wall, the second block belongs to the neighbour on the opposite side
                if (flow.is_wall(p, axis, side) == (side < 0))
                    add_face(p, axis, side, diagonal, after);
                else
                    add_face(p, axis, side, diagonal, before);
            });
            store(before, 2 - axis, slot);
            store(after, 4 + axis, slot);
        });
        store(diagonal, 3, slot);
    }
    HYPERPLANE_HD void add_face(Int3 p, int axis, int side, DiagonalBlocks<Sets>& diagonal,
                                DiagonalBlocks<Sets>& neighbour) const {
        for (int set = 0; set < sets(); ++set) {
            double own[4][4], across[4][4];
            flow.face_blocks(q, set, p, axis, side, own, across);
            for (int row = 0; row < 4; ++row)
                for (int col = 0; col < 4; ++col) {
                    diagonal.set[set][row][col] += own[row][col];
                    neighbour.set[set][row][col] += across[row][col];
                }
        }
        for (int s = 0; s < scalars(); ++s) {
            double own, across;
            flow.scalar_terms(q, s, p, axis, side, own, across);
            diagonal.scalar[s] += own;
            neighbour.scalar[s] += across;
        }
    }
    HYPERPLANE_HD void store(const DiagonalBlocks<Sets>& blocks, int entry, Index slot) const {
        if (entry >= a.stored_entries) return;
        if constexpr (alone) {
            for (int row = 0; row < 4; ++row)
                for (int col = 0; col < 4; ++col) a.at(entry, row, col, slot) = blocks.set[0][row][col];
        } else if (flow.coupled) {
            store_coupled(blocks, entry, slot);
        } else {
            for (int row = 0; row < a.dof; ++row)
                for (int col = 0; col < a.dof; ++col) a.at(entry, row, col, slot) = blocks.at(sets(), row, col);
        }
    }
    /// H A H = A - k w (w^T A) - k (A w) w^T + k^2 (w^T A w) w w^T with k = 2 / w^T w.
    HYPERPLANE_HD void store_coupled(const DiagonalBlocks<Sets>& blocks, int entry, Index slot) const {
        const double k = flow.reflector_scale();
        double left[max_dof], right[max_dof], both = 0.0;
        for (int c = 0; c < a.dof; ++c) {
            const bool scalar = c >= 4 * sets();
            const int first = scalar ? c : c / 4 * 4, last = scalar ? c : first + 3;
            left[c] = right[c] = 0.0;
            for (int other = first; other <= last; ++other) {
                left[c] += CavityFlow::reflector(other) * blocks.at(sets(), other, c);
                right[c] += blocks.at(sets(), c, other) * CavityFlow::reflector(other);
            }
            both += left[c] * CavityFlow::reflector(c);
        }
        for (int row = 0; row < a.dof; ++row)
            for (int col = 0; col < a.dof; ++col) {
                const double w_row = CavityFlow::reflector(row), w_col = CavityFlow::reflector(col);
                a.at(entry, row, col, slot) = blocks.at(sets(), row, col) -
                                              k * (w_row * left[col] + right[row] * w_col) +
                                              k * k * both * (w_row * w_col);
            }
    }
};

struct CavityEnergyPoint {
    ConstVectorView u;
    double volume;
    VectorView energy;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        double square = 0.0;
        for (int c = 0; c < 3; ++c) square += u.at(slot, c) * u.at(slot, c);
        energy.at(slot) = 0.5 * volume * square;
    }
};

}  // namespace

void cavity_combine(const CavityFlow& flow, const double (&factors)[3], const Vector* const (&from)[3],
                    const VectorView& out) {
    CombinePoint body{flow, {}, {}, out};
    for (int v = 0; v < 3; ++v) {
        body.factors[v] = from[v] ? factors[v] : 0.0;
        if (from[v]) body.from[v] = view(*from[v]);
    }
    for_each_point(from[0]->context(), out.layout, "combination of states", body);
}

void cavity_reflect(const CavityFlow& flow, Vector& x) {
    for_each_point(x.context(), x.layout(), "Householder reflection", ReflectPoint{flow, view(x)});
}

void cavity_residual(const CavityFlow& flow, const ConstVectorView& q, Vector& f) {
    for_each_point(f.context(), f.layout(), "cavity's residual", CavityResidualPoint{flow, q, view(f)});
}

void cavity_jacobian(const CavityFlow& flow, const ConstVectorView& q, double rate, StructMatrix& a) {
    if (flow.dof() == 4 && !flow.coupled)
        for_each_point(a.context(), a.layout(), "cavity's matrix", CavityJacobianPoint<1>{flow, q, rate, view(a)});
    else
        for_each_point(a.context(), a.layout(), "cavity's matrix",
                       CavityJacobianPoint<most_sets>{flow, q, rate, view(a)});
}

void cavity_kinetic_energy(const CavityFlow& flow, const Context& context, const ConstVectorView& q,
                           const VectorView& energy) {
    const auto& h = flow.grid.spacing;
    double volume = 1.0;
    for (int axis = 0; axis < 3; ++axis)
        if (!flow.flat(axis)) volume *= h[axis];
    for_each_point(context, q.layout, "kinetic energy", CavityEnergyPoint{q, volume, energy});
}

}  // namespace hyperplane
