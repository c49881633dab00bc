// SPDX-License-Identifier: BSD-3-Clause
// The rows of navier_stokes.hpp: the data that a grid point needs of the 8 elements around it, and boundary and initial
// values.
//
// The elements around a point are numbered by bits like corners, x + 2 y + 4 z; a bit of 1 means that the element lies
// towards larger coordinates. Elements outside the grid have weight 0 and the shape of the nearest element inside.
#pragma once

#include <numbers>

#include "core/matrix/views.hpp"
#include "problems/domain.hpp"
#include "problems/navier_stokes_jacobian.hpp"

namespace hyperplane {

enum class FlowCase { cavity, kovasznay, ethier_steinman };
enum class FaceKind { velocity, symmetry };  ///< all components are prescribed, or the normal one only

/// The coordinates of a tensor grid; the tables lie in the memory of the backend.
struct FlowMesh {
    Grid grid;
    const double* nodes[3];      ///< by axis, the coordinate of each node
    const double* h[3];          ///< by axis, the spacing of each element
    const double* inverse_h[3];  ///< 1 / h

    HYPERPLANE_HD int elements(int axis) const { return (axis == 0 ? grid.nx : axis == 1 ? grid.ny : grid.nz) - 1; }
    HYPERPLANE_HD Position position(Int3 p) const { return {nodes[0][p.x], nodes[1][p.y], nodes[2][p.z]}; }
};

/// The flow of Kovasznay (1948) at Reynolds number 1 / nu, centred at y = 0.2: component c of (u, v, w, p).
HYPERPLANE_HD inline double kovasznay(int c, const Position& x, double viscosity) {
    constexpr double tau = 2 * std::numbers::pi;
    const double half = 0.5 / viscosity, lambda = half - std::sqrt(half * half + tau * tau), y = x[1] - 0.2;
    if (c == 0) return 1.0 - std::exp(lambda * x[0]) * std::cos(tau * y);
    if (c == 1) return lambda / tau * std::exp(lambda * x[0]) * std::sin(tau * y);
    return c == 2 ? 0.0 : -0.5 * std::exp(2 * lambda * x[0]);
}

/// The flow of Ethier and Steinman (1994) with a = pi / 4, d = pi / 2: component c of (u, v, w, p).
HYPERPLANE_HD inline double ethier_steinman(int c, const Position& at, double time, double viscosity) {
    constexpr double a = std::numbers::pi / 4, d = std::numbers::pi / 2;
    const double decay = std::exp(-d * d * viscosity * time);
    if (c < 3) {
        const double x = at[c], y = at[(c + 1) % 3], z = at[(c + 2) % 3];
        return -a * (std::exp(a * x) * std::sin(a * y + d * z) + std::exp(a * z) * std::cos(a * x + d * y)) * decay;
    }
    double sum = 0.0;
    for (int e = 0; e < 3; ++e) {
        const double x = at[e], y = at[(e + 1) % 3], z = at[(e + 2) % 3];
        sum += std::exp(2 * a * x) + 2 * std::sin(a * x + d * y) * std::cos(a * z + d * x) * std::exp(a * (y + z));
    }
    return -0.5 * a * a * sum * decay * decay;
}

/// The flow: equation, mesh and boundary.
struct Flow {
    FlowMesh mesh;
    FlowCase kind = FlowCase::cavity;
    double viscosity = 0.01;
    double compliance = 1.0;  ///< 1 / beta
    bool pseudo = true;       ///< whether steps lead to a steady state, so that tau has no term of the time step
    int lid_axis = 2;         ///< the lid is the last face along this axis
    FaceKind faces[3][2];     ///< the first and the last face of each axis

    HYPERPLANE_HD bool on_face(Int3 p, int axis, int side) const {
        return Domain::component(p, axis) == (side ? mesh.elements(axis) : 0);
    }
    /// True if p lies on a face other than the lid where the velocity is prescribed.
    HYPERPLANE_HD bool on_fixed_wall(Int3 p) const {
        for (int axis = 0; axis < 3; ++axis)
            for (int side = 0; side < 2; ++side)
                if (faces[axis][side] == FaceKind::velocity && on_face(p, axis, side) && !(axis == lid_axis && side))
                    return true;
        return false;
    }
    /// Whether component i is prescribed at p; the pressure (i = 3) never is.
    HYPERPLANE_HD bool fixed(Int3 p, int i) const {
        if (i == 3) return false;
        for (int axis = 0; axis < 3; ++axis)
            for (int side = 0; side < 2; ++side)
                if ((faces[axis][side] == FaceKind::velocity || axis == i) && on_face(p, axis, side)) return true;
        return false;
    }
    HYPERPLANE_HD double exact(int c, Int3 p, double time) const {
        return kind == FlowCase::kovasznay ? kovasznay(c, mesh.position(p), viscosity)
                                           : ethier_steinman(c, mesh.position(p), time, viscosity);
    }
    /// The prescribed velocity at p. On the lid it is 1 along x, except at the edges.
    HYPERPLANE_HD double boundary_value(int i, Int3 p, double time) const {
        if (kind != FlowCase::cavity) return exact(i, p, time);
        return i == 0 && on_face(p, lid_axis, 1) && !on_fixed_wall(p) ? 1.0 : 0.0;
    }
    /// The initial state: the exact one if it depends on time, otherwise at rest except for prescribed velocities.
    HYPERPLANE_HD double initial(int c, Int3 p) const {
        if (kind == FlowCase::ethier_steinman) return exact(c, p, 0.0);
        return c < 3 && fixed(p, c) ? boundary_value(c, p, 0.0) : 0.0;
    }
};

/// The data from which residual and Jacobian are computed: the flow, and the state within a time step.
struct FlowStep {
    Flow flow;
    ConstVectorView u, old, older;  ///< older.values is null if the scheme does not need it
    double rate[3];                 ///< u_t = rate[0] u + rate[1] old + rate[2] older
    double damping;                 ///< 2 theta / dt in tau, 0 for steps towards a steady state
    double time;
};

/// The geometry of an element.
template <class T>
struct FlowBox {
    T inverse_h[3];
    T weight;  ///< weight of a Gauss point
};

/// The neighbourhood of one point; values are read from the vectors when they are needed.
struct PointPatch {
    using Number = double;
    using Place = Index;
    const FlowStep& step;
    Int3 point;

    HYPERPLANE_HD Int3 nearest(Int3 o) const {
        const auto clamp = [](int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; };
        const Grid& grid = step.flow.mesh.grid;
        return {clamp(point.x + o.x, grid.nx), clamp(point.y + o.y, grid.ny), clamp(point.z + o.z, grid.nz)};
    }
    HYPERPLANE_HD Index place(Int3 o) const { return step.u.layout.slot(nearest(o)); }
    HYPERPLANE_HD double value(Index slot, int c) const { return step.u.at(slot, c); }
    HYPERPLANE_HD double old(Index slot, int c) const { return step.old.at(slot, c); }
    /// The time derivative.
    HYPERPLANE_HD double rate(Index slot, int c) const {
        double known = step.old.at(slot, c) * step.rate[1];
        if (step.older.values) known = fused(step.rate[2], step.older.at(slot, c), known);
        return fused(step.rate[0], step.u.at(slot, c), known);
    }
    HYPERPLANE_HD FlowBox<double> box(int element) const {
        FlowBox<double> made;
        bool inside = true;
        double volume = 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            const int at = Domain::component(point, axis) + q1::bit(element, axis) - 1,
                      n = step.flow.mesh.elements(axis);
            inside = inside && at >= 0 && at < n;
            const int nearest = at < 0 ? 0 : at >= n ? n - 1 : at;
            made.inverse_h[axis] = step.flow.mesh.inverse_h[axis][nearest];
            volume *= step.flow.mesh.h[axis][nearest];
        }
        made.weight = inside ? 0.125 * volume : 0.0;
        return made;
    }
    HYPERPLANE_HD bool fixed(int i) const { return step.flow.fixed(point, i); }
    HYPERPLANE_HD double boundary_value(int i) const {
        return fixed(i) ? step.flow.boundary_value(i, point, step.time) : 0.0;
    }
};

/// Element n around the point of a patch, in axes that lead away from the point; its states are read when needed.
/// tau = [damping^2 + 4 sum (u_d / h_d)^2 + (4 nu sum h_d^-2)^2]^-1/2 with the velocity at the element's centre at the
/// beginning of the step.
template <class Patch>
class PatchElement : public q1::ElementTerms<typename Patch::Number> {
public:
    using T = typename Patch::Number;

    HYPERPLANE_HD PatchElement(const Patch& patch, int n) : patch_(patch) {
        const FlowStep& step = patch.step;
        const FlowBox<T> box = patch.box(n);
        const Int3 outwards{2 * q1::bit(n, 0) - 1, 2 * q1::bit(n, 1) - 1, 2 * q1::bit(n, 2) - 1};
        for (int c = 0; c < 8; ++c)
            place_[c] =
                patch.place({outwards.x * q1::bit(c, 0), outwards.y * q1::bit(c, 1), outwards.z * q1::bit(c, 2)});
        T convection = T(0.0), diffusion = T(0.0);
        for (int d = 0; d < 3; ++d) {
            T sum = patch.old(place_[0], d);
            for (int c = 1; c < 8; ++c) sum += patch.old(place_[c], d);
            const T crossing = T(0.125) * sum * box.inverse_h[d];
            convection = fused(crossing, crossing, convection);
            diffusion = fused(box.inverse_h[d], box.inverse_h[d], diffusion);
            this->inverse_h[d] = q1::bit(n, d) ? box.inverse_h[d] : -box.inverse_h[d];
        }
        diffusion = diffusion * T(4.0 * step.flow.viscosity);
        const T rate = root(fused(T(4.0), convection, fused(diffusion, diffusion, T(step.damping * step.damping))));
        this->weight = box.weight;
        this->tau = quotient(T(1.0), rate);
        this->scale = box.weight * (rate + T(step.rate[0]));
        this->mass = step.rate[0];
        this->viscosity = step.flow.viscosity;
        this->compliance = step.flow.compliance;
    }
    HYPERPLANE_HD T value(int k, int c) const { return patch_.value(place_[c], k); }
    HYPERPLANE_HD T rate(int k, int c) const { return patch_.rate(place_[c], k); }

private:
    const Patch& patch_;
    typename Patch::Place place_[8];
};

/// Row c of F at a point: `sum`, the contributions of the elements, or scale (u - g) if the velocity is prescribed.
template <class Patch, class T = typename Patch::Number>
HYPERPLANE_HD T residual_entry(const Patch& patch, int c, const T& scale, const T& sum) {
    const auto here = patch.place({0, 0, 0});
    return chosen(patch.fixed(c), scale * (patch.value(here, c) - patch.boundary_value(c)), sum);
}

/// The sum of the contributions of the elements on one side in z to a coefficient in block x + 3 y, of the layer of
/// neighbours on that side (layer = 1) or of the point's own layer (0). `at(n, b)` is the contribution of element n at
/// its corner b.
template <int block, class At>
HYPERPLANE_HD auto side_sum(int side, int layer, const At& at) {
    constexpr int x = block % 3, y = block / 3, first = x / 2 + 2 * (y / 2);
    constexpr int corner = (x != 1) + 2 * (y != 1);
    const auto part = [&](int n) { return at(n + 4 * side, corner + 4 * layer); };
    if constexpr (x == 1 && y == 1)
        return part(0) + part(1) + part(2) + part(3);
    else if constexpr (x == 1 || y == 1)
        return part(first) + part(first + (x == 1 ? 1 : 2));
    else
        return part(first);
}

/// A coefficient: `value`, or if the row prescribes its unknown, `scale` on the diagonal and 0 elsewhere.
template <class Flags, class T>
HYPERPLANE_HD T flow_entry(const Flags& fixed, bool diagonal, const T& scale, const T& value) {
    return chosen(fixed, diagonal ? scale : T(0.0), value);
}

}  // namespace hyperplane
