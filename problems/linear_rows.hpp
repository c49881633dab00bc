// From a point formula to a system: how the rows of a scalar linear problem are assembled.
//
// A formula is a small struct, copied by value, with
//     static constexpr int entries;                          stencil size
//     std::array<Int3, entries> offsets;                     natural order
//     Grid grid;
//     void coefficients(Int3 p, double* c) const;            c[e], zero where offset e leaves the grid
//     double right_hand_side(Int3 p) const;
// and describes A u = b by rows: sum_e c[e] u(p + offset e) = b(p).
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "core/problem.hpp"
#include "problems/domain.hpp"
#include "problems/exact_solution.hpp"

namespace hyperplane {

template <int N>
std::array<Int3, N> offsets_of(const Stencil& stencil) {
    std::array<Int3, N> offsets;
    for (int e = 0; e < N; ++e) offsets[e] = stencil[e];
    return offsets;
}

/// a = A, the entries that `a` stores.
template <class Formula>
void assemble_rows(const Formula& formula, StructMatrix& a) {
    std::array<double*, Formula::entries> values{};
    for (int e = 0; e < a.stored_entries(); ++e) values[e] = a.values(e);
    const int stored = a.stored_entries();
    for_each_point(a.layout(), [&](Int3 p, Index slot) {
        double c[Formula::entries];
        formula.coefficients(p, c);
        for (int e = 0; e < stored; ++e) values[e][slot] = c[e];
    });
}

/// sum_e c[e] of a row: (A 1)(p).
template <class Formula>
HYPERPLANE_HD double row_sum(const Formula& formula, Int3 p) {
    double c[Formula::entries];
    formula.coefficients(p, c);
    double sum = 0.0;
    for (int e = 0; e < Formula::entries; ++e) sum += c[e];
    return sum;
}

/// f = A u - b.
template <class Formula>
void residual_rows(const Formula& formula, const Vector& u, Vector& f) {
    for_each_point(u.layout(), [&](Int3 p, Index slot) {
        double c[Formula::entries];
        formula.coefficients(p, c);
        double sum = -formula.right_hand_side(p);
        for (int e = 0; e < Formula::entries; ++e)
            if (c[e] != 0.0) sum += c[e] * u(formula.grid.wrapped(p + formula.offsets[e]));
        f.data()[slot] = sum;
    });
}

/// u = value(p) at every point.
template <class Value>
void set_points(Vector& u, const Value& value) {
    for_each_point(u.layout(), [&](Int3 p, Index slot) { u.data()[slot] = value(p); });
}

/// "max" and "rms" of u - exact over all points and unknowns; the same bits for any number of threads.
template <class Exact>
std::vector<ErrorNorm> error_norms(const Vector& u, const Grid& grid, const Exact& exact) {
    const Index lines = Index(grid.ny) * grid.nz;
    std::vector<double> largest(lines, 0.0), squares(lines, 0.0);
#pragma omp parallel for schedule(static) num_threads(threads_for(grid.points()))
    for (Index line = 0; line < lines; ++line)
        for (int i = 0; i < grid.nx; ++i) {
            const Int3 p{i, int(line % grid.ny), int(line / grid.ny)};
            for (int c = 0; c < u.dof(); ++c) {
                const double error = u(p, c) - exact(p);
                largest[line] = std::fmax(largest[line], std::abs(error));
                squares[line] += error * error;
            }
        }
    double max = 0.0, sum = 0.0;
    for (Index line = 0; line < lines; ++line) {
        max = std::fmax(max, largest[line]);
        sum += squares[line];
    }
    return {{"max", max}, {"rms", std::sqrt(sum / double(u.size()))}};
}

/// Dirichlet nodes: turns a formula for interior nodes into rows of the whole grid. Rows of boundary
/// nodes are u = g; in other rows a boundary neighbour's term moves to the right-hand side, which
/// keeps a symmetric operator symmetric (Bueler, PETSc for PDEs, chapter 6).
///
/// Interior offers coefficients(p, c) on an unbounded grid (zero along flat axes), source(p) and
/// boundary_value(position).
template <class Interior>
struct DirichletNodes {
    static constexpr int entries = Interior::entries;
    std::array<Int3, entries> offsets;
    Grid grid;
    Domain domain;
    Interior interior;
    bool rhs_is_row_sum = false;  ///< b = A 1, whose solution is 1

    DirichletNodes(const Stencil& stencil, const Domain& on, const Interior& formula, bool row_sums)
        : offsets(offsets_of<entries>(stencil)),
          grid(on.grid),
          domain(on),
          interior(formula),
          rhs_is_row_sum(row_sums) {}

    HYPERPLANE_HD double boundary_value(Int3 p) const {
        return rhs_is_row_sum ? 1.0 : interior.boundary_value(domain.position(grid.wrapped(p)));
    }
    HYPERPLANE_HD void coefficients(Int3 p, double* c) const {
        if (domain.on_boundary(p)) {
            for (int e = 0; e < entries; ++e) c[e] = e == entries / 2 ? 1.0 : 0.0;
            return;
        }
        interior.coefficients(p, c);
        for (int e = 0; e < entries; ++e)
            if (domain.on_boundary(p + offsets[e])) c[e] = 0.0;
    }
    HYPERPLANE_HD double right_hand_side(Int3 p) const {
        if (rhs_is_row_sum) return row_sum(*this, p);
        if (domain.on_boundary(p)) return boundary_value(p);
        double c[entries];
        interior.coefficients(p, c);
        double b = interior.source(p);
        for (int e = 0; e < entries; ++e)
            if (const Int3 q = p + offsets[e]; domain.on_boundary(q)) b -= c[e] * boundary_value(q);
        return b;
    }
};

}  // namespace hyperplane
