// SPDX-License-Identifier: BSD-3-Clause
// Times of the kernels of a solve, compared with the fewest bytes that they must move and with cuSPARSE.
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
    double bytes = 0.0;      ///< fewest bytes that the kernel must move
    double own_bytes = 0.0;  ///< fewest bytes with this implementation's factors; D-ILU writes D^-1 alone
    double flops = 0.0;
    double largest_error = 0.0;  ///< relative difference from rows computed by the definition
};

/// cuSPARSE in one of its formats with the same matrix.
struct BaselineResult {
    std::string format;   ///< csr, bsr
    std::string refused;  ///< why it could not be timed; empty if it was
    std::vector<KernelResult> kernels;
    Index analyses = 0;                       ///< of the factorisation and both triangles, all set-ups together
    double analysis = 0.0, conversion = 0.0;  ///< seconds, needed once; conversion to compressed rows
    double vectors = 0.0;                     ///< seconds that an application spends on the conversion of vectors
    Index work_bytes = 0;                     ///< bytes of cuSPARSE's buffers
};

struct VariantResult {
    std::string name, what;
    std::string refused;  ///< why it could not be run; empty if it was
    std::vector<KernelResult> kernels;
    std::string same_as = "";  ///< an earlier variant with the same kernels, in which case this one was not run
};

struct BenchResult {
    BenchCase setting;
    Index unknowns = 0;
    int levels = 0;
    std::vector<KernelResult> kernels;
    std::vector<BaselineResult> baselines;  ///< on a GPU
    std::vector<VariantResult> variants;    ///< with --ablate or --tunings
    std::vector<VariantResult> built_up;    ///< with --build-up

    /// The fastest time of cuSPARSE for a kernel; none without a baseline.
    std::optional<double> best_baseline(const std::string& kernel) const;
};

struct BenchOptions {
    LayoutKind layout = LayoutKind::natural;
    int repeats = 9;
    bool ablate = false;    ///< time without each of the paper's choices, instead of cuSPARSE
    bool build_up = false;  ///< time each of the paper's choices added to those before, instead of cuSPARSE
    std::string tunings;    ///< time these tunings instead of cuSPARSE; empty: none
};

/// The rate of a large copy, read plus written bytes a second, which limits every kernel. Its memory is not in the
/// context's ledger.
double copy_rate(const Context& context, int repeats);

/// Compiles what NVRTC needs for these cases and their variants, in parallel, so that no case waits for the compiler.
/// Does nothing on a CPU.
rtc::Compilation prepare_kernels(const Context& context, const std::vector<BenchCase>& cases,
                                 const BenchOptions& options);

/// Builds the case on the context's backend, compares every kernel with rows computed by the definition
/// (apps/bench/rows.hpp), then times it. cuSPARSE is timed if its product and M^-1 r agree with ours to 1e-10. Throws
/// Error(expectation) if a check fails, so that a wrong kernel gets no time.
BenchResult bench_kernels(const Context& context, const BenchCase& setting, const BenchOptions& options);

/// Seconds of a call, measured by events on a GPU and by the clock on a CPU. On several ranks all make the call
/// together, and the slowest one's time counts.
double time_call(const Context& context, const std::function<void()>& call);

/// Makes two calls, or on a GPU calls for 0.1 s, because an idle GPU takes about 40 ms to reach its full clock.
void warm_up(const Context& context, const std::function<void()>& call);
/// Calls `warm_up`, then times `repeats` calls. `before` is called before each, and is not timed.
Timing time_calls(
    const Context& context, int repeats, const std::function<void()>& call,
    const std::function<void()>& before = [] {});

}  // namespace hyperplane
