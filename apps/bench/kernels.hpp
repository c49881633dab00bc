// SPDX-License-Identifier: BSD-3-Clause
// Times of the kernels under a solve, beside the fewest bytes they must move and beside cuSPARSE's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/variants.hpp"
#include "core/device/context.hpp"
#include "core/grid/layout.hpp"
#include "core/timer.hpp"

namespace hyperplane {

struct KernelResult {
    std::string kernel;  ///< spmv, lower, upper, factorise
    Timing seconds;
    double bytes = 0.0;      ///< fewest it must move
    double own_bytes = 0.0;  ///< fewest this implementation's factors leave, e.g. D-ILU writes D^-1 alone
    double flops = 0.0;
    double largest_error = 0.0;  ///< against rows recomputed from the definition, relative
};

/// One of cuSPARSE's formats on the same matrix.
struct BaselineResult {
    std::string format;   ///< csr, bsr
    std::string refused;  ///< why it could not be timed; empty: it was
    std::vector<KernelResult> kernels;
    double analysis = 0.0, conversion = 0.0;  ///< seconds, once: analysis, and making the compressed rows
    double vectors = 0.0;                     ///< seconds of an apply's conversions of vectors
    Index work_bytes = 0;                     ///< cuSPARSE's buffers
};

struct VariantResult {
    std::string name, what;
    std::string refused;  ///< why it could not be run; empty: it was
    std::vector<KernelResult> kernels;
};

struct BenchResult {
    BenchCase setting;
    Index unknowns = 0;
    int levels = 0;
    std::vector<KernelResult> kernels;
    std::vector<BaselineResult> baselines;  ///< on a GPU
    std::vector<VariantResult> variants;    ///< with --ablate or --tunings

    /// The fastest cuSPARSE time of a kernel; none without a baseline.
    std::optional<double> best_baseline(const std::string& kernel) const;
};

struct BenchOptions {
    LayoutKind layout = LayoutKind::natural;
    int repeats = 9;
    bool ablate = false;  ///< the pieces, in place of cuSPARSE
    std::string tunings;  ///< likewise those tunings; empty: none
};

/// Read plus write rate of a large copy, bytes a second: the ceiling of everything here. Its memory is in no ledger of
/// the context.
double copy_rate(const Context& context, int repeats);

/// Builds the case where the context is, checks every kernel on rows recomputed from the definition
/// (apps/bench/rows.hpp), then times it. cuSPARSE's product and M^-1 r must agree with ours to 1e-10 before theirs are.
/// Throws Error(expectation) where a check fails: a wrong kernel gets no time.
BenchResult bench_kernels(const Context& context, const BenchCase& setting, const BenchOptions& options);

/// Seconds of a call: by events on a GPU, by the clock on a CPU.
double time_call(const Context& context, const std::function<void()>& call);

/// Two calls; on a GPU as many as take 0.1 s: one that had little to do takes some 40 ms to reach its pace.
void warm_up(const Context& context, const std::function<void()>& call);
/// `warm_up`, then `repeats` calls. `before` precedes each, untimed.
Timing time_calls(
    const Context& context, int repeats, const std::function<void()>& call,
    const std::function<void()>& before = [] {});

}  // namespace hyperplane
