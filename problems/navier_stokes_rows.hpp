// The rows of navier_stokes.hpp: what a grid point gathers from the 8 elements around it, boundary and initial values.
//
// An element around a point is numbered by bits as corners are, x + 2 y + 4 z; bit 1 means that it lies towards larger
// coordinates, so element n has the point for its corner 7 - n. Elements outside the grid have weight 0 and the shape
// of the nearest one inside.
#pragma once

#include <numbers>
#include <type_traits>

#include "core/views.hpp"
#include "problems/domain.hpp"
#include "problems/navier_stokes_jacobian.hpp"

namespace hyperplane {

enum class FlowCase { cavity, kovasznay, ethier_steinman };
enum class FaceKind { velocity, symmetry };  ///< all components prescribed, or the normal one

/// Coordinates of the nodes of a tensor grid; tables in the memory of the backend.
struct FlowMesh {
    Grid grid;
    const double* nodes[3];      ///< coordinate by node
    const double* inverse_h[3];  ///< 1 / h by element

    HYPERPLANE_HD int elements(int axis) const { return (axis == 0 ? grid.nx : axis == 1 ? grid.ny : grid.nz) - 1; }
    HYPERPLANE_HD Position position(Int3 p) const { return {nodes[0][p.x], nodes[1][p.y], nodes[2][p.z]}; }
};

/// Kovasznay (1948) at Reynolds number 1 / nu, centred on y = 0.2; component c of (u, v, w, p).
HYPERPLANE_HD inline double kovasznay(int c, const Position& x, double viscosity) {
    constexpr double tau = 2 * std::numbers::pi;
    const double half = 0.5 / viscosity, lambda = half - std::sqrt(half * half + tau * tau), y = x[1] - 0.2;
    if (c == 0) return 1.0 - std::exp(lambda * x[0]) * std::cos(tau * y);
    if (c == 1) return lambda / tau * std::exp(lambda * x[0]) * std::sin(tau * y);
    return c == 2 ? 0.0 : -0.5 * std::exp(2 * lambda * x[0]);
}

/// Ethier and Steinman (1994), a = pi / 4, d = pi / 2; component c of (u, v, w, p).
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
    bool pseudo = true;       ///< towards a steady state: tau without the time step
    int lid_axis = 2;         ///< the lid is the last face along it
    FaceKind faces[3][2];     ///< of each axis, first and last

    HYPERPLANE_HD bool on_face(Int3 p, int axis, int side) const {
        return Domain::component(p, axis) == (side ? mesh.elements(axis) : 0);
    }
    /// True on a face, other than the lid, where the velocity is prescribed.
    HYPERPLANE_HD bool on_fixed_wall(Int3 p) const {
        for (int axis = 0; axis < 3; ++axis)
            for (int side = 0; side < 2; ++side)
                if (faces[axis][side] == FaceKind::velocity && on_face(p, axis, side) && !(axis == lid_axis && side))
                    return true;
        return false;
    }
    /// Whether component i of the velocity is prescribed at p.
    HYPERPLANE_HD bool fixed(Int3 p, int i) const {
        for (int axis = 0; axis < 3; ++axis)
            for (int side = 0; side < 2; ++side)
                if ((faces[axis][side] == FaceKind::velocity || axis == i) && on_face(p, axis, side)) return true;
        return false;
    }
    HYPERPLANE_HD double exact(int c, Int3 p, double time) const {
        return kind == FlowCase::kovasznay ? kovasznay(c, mesh.position(p), viscosity)
                                           : ethier_steinman(c, mesh.position(p), time, viscosity);
    }
    /// The velocity prescribed at p: on the lid 1 along x, without its edges.
    HYPERPLANE_HD double boundary_value(int i, Int3 p, double time) const {
        if (kind != FlowCase::cavity) return exact(i, p, time);
        return i == 0 && on_face(p, lid_axis, 1) && !on_fixed_wall(p) ? 1.0 : 0.0;
    }
    /// State to begin with: at rest inside, or the exact one where it depends on time.
    HYPERPLANE_HD double initial(int c, Int3 p) const {
        if (kind == FlowCase::ethier_steinman) return exact(c, p, 0.0);
        return c < 3 && fixed(p, c) ? boundary_value(c, p, 0.0) : 0.0;
    }
};

/// A state of the flow within a step: what residual and Jacobian are computed from.
struct FlowStep {
    Flow flow;
    ConstVectorView u, old, older;  ///< older.values null where the scheme takes none
    double rate[3];                 ///< u_t = rate[0] u + rate[1] old + rate[2] older
    double damping;                 ///< 2 / dt in tau, 0 in pseudo-time
    double time;
};

/// The neighbourhood of one point, read as needed.
struct PointPatch {
    using Number = double;
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
    HYPERPLANE_HD double older(Index slot, int c) const { return step.older.at(slot, c); }
    HYPERPLANE_HD q1::Box<double> box(int element) const {
        q1::Box<double> made;
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis) {
            const int at = Domain::component(point, axis) + q1::bit(element, axis) - 1,
                      n = step.flow.mesh.elements(axis);
            inside = inside && at >= 0 && at < n;
            made.inverse_h[axis] = step.flow.mesh.inverse_h[axis][at < 0 ? 0 : at >= n ? n - 1 : at];
        }
        made.weight = inside ? 0.125 / (made.inverse_h[0] * made.inverse_h[1] * made.inverse_h[2]) : 0.0;
        return made;
    }
    HYPERPLANE_HD bool fixed(int i) const { return step.flow.fixed(point, i); }
    HYPERPLANE_HD double boundary_value(int i) const { return step.flow.boundary_value(i, point, step.time); }
};

/// Element n around the point of a patch. tau = [damping^2 + 4 sum (u_d / h_d)^2 + (4 nu sum h_d^-2)^2]^-1/2 with the
/// velocity at the element's centre at the beginning of the step.
template <class Patch, class T = typename Patch::Number>
HYPERPLANE_HD q1::Element<T, T> element_of(const Patch& patch, int n) {
    const FlowStep& step = patch.step;
    q1::Element<T, T> element;
    const q1::Box<T> box = patch.box(n);
    T centre[3] = {T(0.0), T(0.0), T(0.0)};
    for (int c = 0; c < 8; ++c) {
        const auto at = patch.place(
            {q1::bit(n, 0) - 1 + q1::bit(c, 0), q1::bit(n, 1) - 1 + q1::bit(c, 1), q1::bit(n, 2) - 1 + q1::bit(c, 2)});
        for (int k = 0; k < 4; ++k) {
            const T before = patch.old(at, k);
            element.value[k][c] = patch.value(at, k);
            element.known[k][c] = before * T(step.rate[1]);
            if (step.older.values)
                element.known[k][c] = fused(T(step.rate[2]), patch.older(at, k), element.known[k][c]);
            if (k < 3) centre[k] += before;
        }
    }
    T convection = T(0.0), diffusion = T(0.0);
    for (int d = 0; d < 3; ++d) {
        const T crossing = T(0.125) * centre[d] * box.inverse_h[d];
        convection = fused(crossing, crossing, convection);
        diffusion = fused(box.inverse_h[d], box.inverse_h[d], diffusion);
        element.inverse_h[d] = box.inverse_h[d];
    }
    diffusion = diffusion * T(4.0 * step.flow.viscosity);
    const T rate = root(fused(T(4.0), convection, fused(diffusion, diffusion, T(step.damping * step.damping))));
    element.weight = box.weight;
    element.tau = T(1.0) / rate;
    element.mass = step.rate[0];
    element.scale = box.weight * (rate + T(step.rate[0]));
    element.viscosity = step.flow.viscosity;
    element.compliance = step.flow.compliance;
    return element;
}

/// The four rows of F at a point; where a velocity is prescribed, scale (u - g).
template <class Patch, class T = typename Patch::Number>
HYPERPLANE_HD void residual_row(const Patch& patch, T (&f)[4]) {
    T scale = T(0.0);
    for (T& value : f) value = T(0.0);
    for (int n = 0; n < 8; ++n) {
        const q1::Element<T, T> element = element_of(patch, n);
        q1::add_residual(element, 7 - n, f);
        scale += element.scale;
    }
    const auto here = patch.place({0, 0, 0});
    for (int i = 0; i < 3; ++i)
        f[i] = chosen(patch.fixed(i), scale * (patch.value(here, i) - patch.boundary_value(i)), f[i]);
}

/// Parts of a point's rows that are computed apart: three momentum rows, two halves of the pressure's row, each in
/// three layers.
inline constexpr int jacobian_parts = 15;

/// body(n, bz, first) for the elements n that reach layer z = layer - 1, ascending: bz is the layer among the element's
/// corners, `first`, known when compiled, the block in x and y of its first corner. Sums by block stay in registers.
template <class Body>
HYPERPLANE_HD void for_elements_of_layer(int layer, const Body& body) {
    for (int nz = layer == 2 ? 1 : 0; nz <= (layer == 0 ? 0 : 1); ++nz) {
        body(4 * nz, layer - nz, std::integral_constant<int, 0>{});
        body(4 * nz + 1, layer - nz, std::integral_constant<int, 1>{});
        body(4 * nz + 2, layer - nz, std::integral_constant<int, 3>{});
        body(4 * nz + 3, layer - nz, std::integral_constant<int, 4>{});
    }
}

/// Block of corner b = x + 2 y of an element whose first corner is block `first`.
HYPERPLANE_HD constexpr int block_of(int first, int b) {
    return first + (b & 1) + 3 * (b >> 1);
}

/// Row i of momentum in a layer: sink(block, row, column, value), blocks 0..8 of the layer. `terms(n)` are the
/// CornerTerms of element n.
template <class Patch, class Terms, class Sink, class T = typename Patch::Number>
HYPERPLANE_HD void momentum_part(const Patch& patch, const Terms& terms, int i, int layer, const Sink& sink) {
    T sums[9][4], scale = T(0.0);
    for (auto& block : sums)
        for (T& value : block) value = T(0.0);
    for_elements_of_layer(layer, [&](int n, int bz, auto first) {
        T part[4][4];
        for (auto& block : part)
            for (T& value : block) value = T(0.0);
        q1::add_momentum(patch.box(n), terms(n), i, 7 - n, bz, part);
        for (int b = 0; b < 4; ++b)
            for (int column = 0; column < 4; ++column) sums[block_of(first, b)][column] += part[b][column];
        scale += terms(n).scale();
    });
    const auto fixed = patch.fixed(i);
    for (int block = 0; block < 9; ++block)
        for (int column = 0; column < 4; ++column) {
            const bool diagonal = layer == 1 && block == 4 && column == i;
            sink(block, i, column, chosen(fixed, diagonal ? scale : T(0.0), sums[block][column]));
        }
}

/// Columns 2 half and 2 half + 1 of the pressure's row in a layer, as momentum_part.
template <class Patch, class Terms, class Sink, class T = typename Patch::Number>
HYPERPLANE_HD void continuity_part(const Patch& patch, const Terms& terms, int half, int layer, const Sink& sink) {
    const FlowStep& step = patch.step;
    T sums[2][9];
    for (auto& column : sums)
        for (T& value : column) value = T(0.0);
    for_elements_of_layer(layer, [&](int n, int bz, auto first) {
        const q1::Box<T> box = patch.box(n);
        for (int column = 0; column < 2; ++column) {
            T part[4] = {T(0.0), T(0.0), T(0.0), T(0.0)};
            if (half == 1 && column == 1)
                q1::add_pressure(box, terms(n), step.rate[0] * step.flow.compliance, 7 - n, bz, part);
            else
                q1::add_continuity(box, terms(n), step.rate[0], 2 * half + column, 7 - n, bz, part);
            for (int b = 0; b < 4; ++b) sums[column][block_of(first, b)] += part[b];
        }
    });
    for (int block = 0; block < 9; ++block)
        for (int column = 0; column < 2; ++column) sink(block, 3, 2 * half + column, sums[column][block]);
}

/// Part 0 .. jacobian_parts - 1 of a point's rows: sink(entry of the stencil, row, column, value).
template <class Patch, class Terms, class Sink>
HYPERPLANE_HD void jacobian_part(const Patch& patch, const Terms& terms, int part, const Sink& sink) {
    const int layer = part < 9 ? part / 3 : (part - 9) / 2;
    const auto into_layer = [&](int block, int row, int column, const auto& value) {
        sink(9 * layer + block, row, column, value);
    };
    if (part < 9)
        momentum_part(patch, terms, part % 3, layer, into_layer);
    else
        continuity_part(patch, terms, (part - 9) % 2, layer, into_layer);
}

}  // namespace hyperplane
