// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/assembly.hpp"

#include "apps/bench/kernels.hpp"
#include "apps/bench/rows.hpp"
#include "apps/run/initial_state.hpp"
#include "apps/run/linear_system.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {
namespace {

double stored_bytes(const StructMatrix& a) {
    return double(a.stored_entries()) * a.dof() * double(a.unknowns()) * sizeof(double);
}

/// The residual reads u and, with a time derivative, the earlier states.
double residual_bytes(const TimeLevel& level, Index unknowns) {
    int vectors = 2;
    for (int state : {1, 2}) vectors += level.rate[state] != 0.0;
    return double(vectors) * double(unknowns) * sizeof(double);
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
    add("residual", residual_bytes(level, u.size()), [&] { problem.residual(u, level, f); });
    add("matrix", stored_bytes(structured(*system.a)), [&] { problem.jacobian(u, level, *system.a); });
    if (system.p)
        add("preconditioner matrix", stored_bytes(structured(*system.p)),
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
