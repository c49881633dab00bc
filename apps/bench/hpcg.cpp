// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/hpcg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/base/backend.hpp"
#include "apps/bench/heading.hpp"
#include "apps/bench/hpcg_reference.hpp"
#include "apps/bench/kernels.hpp"
#include "apps/bench/rows.hpp"
#include "apps/run/verdict.hpp"
#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "precond/registry.hpp"
#include "precond/reproductions/hpcg_cycle.hpp"
#include "solvers/cg.hpp"

namespace hyperplane {
namespace {

/// |x^T O y - y^T O x| over HPCG's allowance for its rounding.
double asymmetry(const LinearOperator& o, const Vector& x, const Vector& y, Vector& work) {
    o.apply(y, work);
    const double x_o_y = dot(x, work);
    o.apply(x, work);
    const double y_o_x = dot(y, work), norm_of_a = 2 * 26.0;
    return std::abs(x_o_y - y_o_x) / (2.0 * norm2(x) * norm_of_a * norm2(y) * std::numeric_limits<double>::epsilon());
}

/// The residuals of `iterations` iterations from x = 0, by the recurrence.
std::vector<HistoryEntry> solve(const LinearOperator& a, const Preconditioner& m, const Vector& b, Vector& x,
                                Index iterations) {
    Cg cg(b.context(), {.rtol = 0.0, .max_iterations = iterations});
    History history;
    set_zero(x);
    cg.solve(a, m, b, x, history, {});
    return history.entries();
}

std::array<int, 3> read_extents(const Invocation& invocation) {
    std::array<int, 3> extents{104, 104, 104};
    const std::size_t given = invocation.arguments.size() - 1;
    if (given != 0 && given != 3) throw UsageError("bench hpcg: give three extents, as in `bench hpcg 104 104 104`");
    for (std::size_t axis = 0; axis < given; ++axis)
        extents[axis] = parse_integer(fmt::format("bench hpcg: N{}", "XYZ"[axis]), invocation.arguments[axis + 1], 16);
    return extents;
}

/// Throws OutOfMemory where the reference's vectors on the finest grid, or the matrix with b and x, do not fit.
void require_room_for_hpcg(const Context& context, std::array<int, 3> n) {
    const std::string what = fmt::format("bench hpcg: {} x {} x {} points", n[0], n[1], n[2]);
    const double vector = double(n[0]) * n[1] * n[2] * sizeof(double);
    constexpr int of_reference = 6, of_matrix = 14, b_and_x = 2;
    require_memory(context.host(), what, of_reference * vector, "give smaller extents");
    require_memory(context, what, (of_matrix + b_and_x) * vector, "give smaller extents");
}

}  // namespace

std::unique_ptr<Preconditioner> gauss_seidel_by_colour(const StructMatrix& a) {
    const PreconditionerRow& row = find_preconditioner("multicolor");
    Parameters parameters(row.parameters);
    parameters.add(common_preconditioner_parameters());
    parameters.set("preconditioner", "factors", "gauss_seidel");
    return row.create(parameters, {a.context(), {a.grid(), a.stencil(), 1, true}});
}

double hpcg_operations(std::array<Index, 3> n, Index iterations) {
    const auto rows = [&] { return double(n[0]) * double(n[1]) * double(n[2]); };
    const auto nonzeros = [&] { return double(3 * n[0] - 2) * double(3 * n[1] - 2) * double(3 * n[2] - 2); };
    const double count = double(iterations);
    double sum = 2 * (3 * count + 1) * 2 * rows();  // dots, and as many updates of vectors
    sum += (count + 1) * 2 * nonzeros();
    for (int grid = 0; grid < HpcgCycle::grids; ++grid) {
        const bool last = grid + 1 == HpcgCycle::grids;
        sum += count * (last ? 4 : 4 + 2 + 4) * nonzeros();  // a pass, and on finer grids a residual and a pass
        for (Index& extent : n) extent /= 2;
    }
    return sum;
}

HpcgBench bench_hpcg(const Context& context, std::array<int, 3> extents, int repeats) {
    for (const int n : extents)
        if (n % 8 != 0 || n < 16)
            throw UsageError(fmt::format("bench hpcg: extents are multiples of eight from 16 on, and one is {}", n));
    require_room_for_hpcg(context, extents);
    HpcgBench bench;
    constexpr int given = HpcgBench::reference_iterations;
    bench.goal = HpcgReference(extents, context.host().threads()).residuals(given).back();

    const Grid grid{extents[0], extents[1], extents[2]};
    const Stencil stencil = Stencil::box27();
    const Layout layout(LayoutKind::natural, grid, stencil.level_map());
    StructMatrix a(context, layout, stencil, 1, MatrixStorage::lower, "HPCG: matrix");
    fill_hpcg(a);
    HpcgCycle m(gauss_seidel_by_colour);
    m.setup(a);  // compiles
    context.synchronize();
    bench.setup = time_call(context, [&] { m.setup(a); });
    Vector b(context, layout, 1, "HPCG: b"), x(context, layout, 1, "HPCG: x");
    {
        Vector y(context, layout, 1, "HPCG: y");
        fill_random(x, 1), fill_random(b, 2);
        bench.asymmetry_of_a = asymmetry(a, x, b, y);
        bench.asymmetry_of_m = asymmetry(m, x, b, y);
    }
    fill(x, 1.0);
    a.apply(x, b);
    for (const HistoryEntry& entry : solve(a, m, b, x, 10 * given))
        if (entry.recurrence <= bench.goal) {
            bench.iterations = int(entry.iteration);
            bench.reached = entry.recurrence;
            break;
        }
    if (bench.iterations == 0)
        throw Error(
            ExitCode::expectation,
            fmt::format("bench hpcg: {} iterations do not reach the residual {:.3e} that {} of the reference do",
                        10 * given, bench.goal, given));
    std::vector<double> ends;
    bench.solve =
        time_calls(context, repeats, [&] { ends.push_back(solve(a, m, b, x, bench.iterations).back().recurrence); });
    bench.same_bits = std::all_of(ends.begin(), ends.end(), [&](double end) { return end == bench.reached; });
    bench.operations =
        hpcg_operations({extents[0], extents[1], extents[2]}, bench.iterations) * given / bench.iterations;
    return bench;
}

int bench_hpcg_verb(const Invocation& invocation, int repeats) {
    const std::array<int, 3> n = read_extents(invocation);
    const Context context = read_device(invocation);
    const HpcgBench bench = bench_hpcg(context, n, repeats);
    const bool passed = bench.same_bits && bench.asymmetry_of_a <= 1.0 && bench.asymmetry_of_m <= 1.0;
    nlohmann::json json = heading("hpcg", context);
    add_clocks(json, context);
    json["unofficial"] = true;
    json["extents"] = n;
    json["reference"] = {{"iterations", HpcgBench::reference_iterations}, {"residual", bench.goal}};
    json["iterations"] = bench.iterations;
    json["residual"] = bench.reached;
    json["asymmetry"] = {{"matrix", bench.asymmetry_of_a}, {"preconditioner", bench.asymmetry_of_m}};
    json["same_bits"] = bench.same_bits;
    json["passed"] = passed;
    json["setup"] = bench.setup;
    json["solve"] = to_json(bench.solve);
    json["operations"] = bench.operations;
    json["gigaflops"] = bench.rate() * 1e-9;
    if (invocation.value("json") != "-") {
        fmt::print(
            "HPCG's problem, unofficial: no indices are stored, and sweeps are by colour; {}\n"
            "points        {} x {} x {}\n"
            "reference     {} iterations in natural order reach {:.3e} of ||b||\n"
            "iterations    {} reach {:.3e}; the figure counts the operations of {}\n"
            "asymmetry     {:.2g} of A, {:.2g} of M^-1, of what rounding may cause\n"
            "repeats       {} with {} bits\n"
            "time          {:.4f} s (spread {:.0f} %): {:.3f} ms an iteration; set-up {:.3f} s\n"
            "figure        {:.1f} GFLOP/s\n"
            "verdict       {}\n",
            describe(context), n[0], n[1], n[2], HpcgBench::reference_iterations, bench.goal, bench.iterations,
            bench.reached, HpcgBench::reference_iterations, bench.asymmetry_of_a, bench.asymmetry_of_m, repeats,
            bench.same_bits ? "the same" : "DIFFERENT", bench.solve.median, 100 * bench.solve.spread(),
            1e3 * bench.solve.median / bench.iterations, bench.setup, 1e-9 * bench.rate(),
            passed ? "passed" : "FAILED");
    }
    write_bench_json(invocation, json);
    return int(passed ? ExitCode::ok : ExitCode::expectation);
}

}  // namespace hyperplane
