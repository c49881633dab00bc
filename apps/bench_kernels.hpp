// Times of the kernels under a solve, beside the fewest bytes they must move.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/context.hpp"
#include "core/layout.hpp"
#include "core/stencil.hpp"
#include "core/timer.hpp"

namespace hyperplane {

/// One matrix to time kernels on: n^3 points, random entries, diagonally dominant.
struct BenchCase {
    Stencil stencil = Stencil::star7();
    int dof = 1;
    int n = 64;
    bool symmetric = false;  ///< one triangle stored, incomplete Cholesky

    std::string name() const;  ///< "star7:1:512", ":sym" appended
};

/// "star7:1:96:sym, box27:4:32": stencil, dof, n; throws UsageError. "table3" are the 25 cases of the
/// StructILU paper's Table 3 (RTX 3090 sizes), "quick" the same with a fifth of the points a side.
std::vector<BenchCase> parse_bench_cases(const std::string& text);

struct KernelResult {
    std::string kernel;  ///< spmv, lower, upper, factorise
    Timing seconds;
    double bytes = 0.0;  ///< fewest it must move
    double flops = 0.0;
    double largest_error = 0.0;  ///< against the reference rows, relative
};

struct BenchResult {
    BenchCase setting;
    Index unknowns = 0;
    int levels = 0;
    std::vector<KernelResult> kernels;
};

/// Read plus write rate of a large copy, bytes a second: the ceiling of everything here.
double copy_rate(const Context& context, int repeats);

/// Builds the case, checks every kernel on rows recomputed from the matrix's definition, then times it.
/// Throws Error(expectation) where a check fails: a wrong kernel gets no time.
BenchResult bench_kernels(const Context& context, const BenchCase& setting, LayoutKind layout, int repeats);

/// A warm-up, then `repeats` calls.
Timing time_calls(int repeats, const std::function<void()>& call);

}  // namespace hyperplane
