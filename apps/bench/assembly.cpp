// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/assembly.hpp"

#include "apps/bench/kernels.hpp"
#include "apps/bench/rows.hpp"
#include "apps/run/initial_state.hpp"
#include "apps/run/linear_system.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {
namespace {

/// The matrix of a file is a copy of that which the problem holds, and the assembly of any other computes its values.
double stored_bytes(const Case& a_case, const SystemMatrix& a) {
    if (a_case.shape().grid.plain_rows) return 2.0 * double(a.stored()) * sizeof(double);
    if (a_case.shape().pattern) return double(a.stored()) * sizeof(double);
    const StructMatrix& on_grid = structured(a);  // whose lines are padded
    return double(on_grid.stored_entries()) * a.dof() * double(a.unknowns()) * sizeof(double);
}

/// The residual reads u and, with a time derivative, the earlier states; that of a matrix of a file reads matrix and b.
double residual_bytes(const Case& a_case, const SystemMatrix& a, const TimeLevel& level) {
    const double vector = double(a.unknowns()) * sizeof(double);
    if (a_case.shape().grid.plain_rows) return double(a.bytes_per_apply()) + vector;
    int vectors = 2;
    for (int state : {1, 2}) vectors += level.rate[state] != 0.0;
    return vectors * vector;
}

}  // namespace

AssemblyBench bench_assembly(const Case& a_case, int repeats) {
    const Problem& problem = *a_case.problem;
    LinearSystem system = make_system(a_case);
    Vector u = a_case.make_vector("bench"), old = a_case.make_vector("bench"), v = a_case.make_vector("bench"),
           f = a_case.make_vector("bench");
    set_initial_state(a_case, u);
    copy(u, old);
    const TimeLevel level = first_level(a_case, old);

    AssemblyBench bench;
    const auto add = [&](const char* name, double bytes, const auto& call) {
        bench.parts.push_back({name, time_calls(a_case.context, repeats, call), bytes});
    };
    add("residual", residual_bytes(a_case, *system.a, level), [&] { problem.residual(u, level, f); });
    add("matrix", stored_bytes(a_case, *system.a), [&] { problem.jacobian(u, level, *system.a); });
    if (system.p)
        add("preconditioner matrix", stored_bytes(a_case, *system.p),
            [&] { problem.preconditioner_jacobian(u, level, *system.p); });

    constexpr double e = 1e-6;
    fill_random(v, 5);
    axpy(e, v, u);
    problem.residual(u, level, f);
    axpy(-2.0 * e, v, u);
    problem.residual(u, level, system.b);
    axpy(-1.0, system.b, f);
    system.a->apply(v, system.b);
    axpy(-2.0 * e, system.b, f);
    bench.against_differences = norm2(f) / (2.0 * e * norm2(system.b));
    return bench;
}

}  // namespace hyperplane
