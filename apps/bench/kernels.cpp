// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/kernels.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <iterator>

#include "apps/bench/rows.hpp"
#include "core/error.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"
#include "precond/checks/applications.hpp"
#include "precond/cusparse_ilu/cusparse_ilu.hpp"
#include "precond/factors/eliminations.hpp"

namespace hyperplane {
namespace {

/// Flops of one point's elimination; a multiply-add counts as two.
double factor_flops(const Stencil& stencil, int m, bool symmetric) {
    const double products = stencil.lower_size() + Eliminations(stencil, false, symmetric).count();
    return 2.0 * (products + 1.0) * m * m * m;
}

/// The fewest bytes and the flops of each kernel. Every stored value counts once, also the zeros of entries that lead
/// out of the grid. The lower solve counts the unit triangle E, r and y; the upper one F, D^-1, y and z, so that both
/// together read the factors once. A factorisation reads the matrix and writes factors of the same size; with D-ILU it
/// writes D^-1 alone.
std::vector<KernelResult> work_of(const StructMatrix& a) {
    const Stencil& stencil = a.stencil();
    const double m = a.dof(), points = double(a.layout().slots()), vectors = 2 * points * m * 8.0;
    const double block = points * m * m * 8.0, half = stencil.lower_size();
    const double stored = a.stored_entries(), written = stencil.eliminates_off_diagonal() ? stored : 1.0;
    const double inside = double(a.nonzeros()), triangle = (inside + points * m * m) / 2.0;
    const double lower = half * block + vectors, upper = (half + 1) * block + vectors;
    return {{"spmv", {}, stored * block + vectors, stored * block + vectors, 2 * inside},
            {"lower", {}, lower, lower + block, 2 * triangle},
            {"upper", {}, upper, upper, 2 * triangle},
            {"factorise",
             {},
             2 * stored * block,
             (stored + written) * block,
             factor_flops(stencil, a.dof(), a.symmetric()) * points}};
}

const KernelResult& named(const std::vector<KernelResult>& kernels, const std::string& name) {
    return *std::find_if(kernels.begin(), kernels.end(), [&](auto& k) { return k.kernel == name; });
}

/// Times calls if their errors are small enough; a kernel with wrong results gets no time.
class Stopwatch {
public:
    Stopwatch(const Context& context, const BenchCase& setting, const StructMatrix& a, int repeats)
        : context_(context), setting_(setting), work_(work_of(a)), repeats_(repeats) {}

    /// Counts the bytes of factors in reduced precision for the solves.
    void read_reduced(FactorStorage storage, const StructMatrix& a) {
        const double rows = double(a.unknowns()), scales = storage == FactorStorage::half_scaled ? rows : 0.0;
        const double block = rows * a.dof() * double(bytes_of(storage)), half = a.stencil().lower_size();
        for (KernelResult& kernel : work_) {
            if (kernel.kernel == "lower") kernel.bytes = kernel.own_bytes = half * block + scales + 16.0 * rows;
            if (kernel.kernel == "upper")
                kernel.bytes = kernel.own_bytes = (half + 1) * block + 2.0 * scales + 16.0 * rows;
        }
    }
    /// With unit triangular factors only the upper solve reads D^-1.
    void lower_reads_no_pivots() {
        for (KernelResult& kernel : work_)
            if (kernel.kernel == "lower") kernel.own_bytes = kernel.bytes;
    }
    void require(const std::string& what, double error, double bound) const {
        if (!(error <= bound))
            throw Error(ExitCode::expectation, fmt::format("bench {}: {} is wrong by {:.2e} (relative; at most {:g}); "
                                                           "not timed",
                                                           setting_.name(), what, error, bound));
    }
    KernelResult time(
        const std::string& kernel, double error, const std::function<void()>& call,
        const std::function<void()>& before = [] {}) const {
        KernelResult result = named(work_, kernel);
        result.largest_error = error;
        result.seconds = time_calls(context_, repeats_, call, before);
        return result;
    }

private:
    const Context& context_;
    const BenchCase& setting_;
    std::vector<KernelResult> work_;
    int repeats_;
};

constexpr double definition_bound = 1e-11, agreement_bound = 1e-10;

/// The vectors of all kernels: y = A x, z = M^-1 x.
struct Vectors {
    Vector x, y, z;
    Vectors(const Context& context, const Layout& layout, int dof)
        : x(context, layout, dof, "bench"), y(context, layout, dof, "bench"), z(context, layout, dof, "bench") {
        fill_random(x, 7);
    }
};

/// Checks SpMV and struct_ilu and times the kernels in `wanted`; afterwards z = M^-1 x and y = A x.
std::vector<KernelResult> time_struct_ilu(const Context& context, const BenchCase& setting, const StructMatrix& a,
                                          const IluChoice& choice, const std::vector<std::string>& wanted, int repeats,
                                          Vectors& v) {
    Stopwatch watch(context, setting, a, repeats);
    std::vector<KernelResult> kernels;
    const auto add = [&](const std::string& kernel, double error, const std::function<void()>& call) {
        watch.require(kernel, error, definition_bound);
        if (std::find(wanted.begin(), wanted.end(), kernel) != wanted.end())
            kernels.push_back(watch.time(kernel, error, call));
    };
    a.apply(v.x, v.y);
    add("spmv", spmv_error(a, v.x, v.y), [&] { a.apply(v.x, v.y); });

    const std::unique_ptr<IluPreconditioner> made = choice.make(context, FactorStorage::double_precision);
    IluPreconditioner& ilu = *made;
    ilu.setup(a);
    const Buffer<Int3> offsets = copied_to(context, "bench", ilu.factors().stencil().offsets());
    const FactorView factors = ilu.factors().view(offsets.data());
    if (ilu.factors().unit()) watch.lower_reads_no_pivots();
    const double factor = factor_error(a, factors);
    ilu.lower_solve(v.x, v.y);
    add("lower", lower_error(factors, v.x, v.y), [&] { ilu.lower_solve(v.x, v.y); });
    transfer(v.y, v.z);
    ilu.upper_solve(v.z);
    add("upper", upper_error(factors, v.y, v.z), [&] { ilu.upper_solve(v.z); });
    add("factorise", factor, [&] { ilu.setup(a); });
    ilu.apply(v.x, v.z);
    a.apply(v.x, v.y);
    context.synchronize();
    return kernels;
}

#if HYPERPLANE_CUSPARSE_BUILT
/// Times cuSPARSE, whose results must agree with v.y = A x and v.z = M^-1 x.
void time_cusparse(const Context& context, const BenchCase& setting, const StructMatrix& a, RowFormat format,
                   int repeats, const Vectors& v, BaselineResult& result) {
    const Stopwatch watch(context, setting, a, repeats);
    Vector found(context, a.layout(), a.dof(), "bench");
    {
        const CusparseProduct product(context, a, format);
        product.apply(v.x, found);
        const double error = largest_difference(context, found, v.y);
        watch.require("our SpMV compared with cuSPARSE's " + result.format, error, agreement_bound);
        result.kernels.push_back(watch.time("spmv", error, [&] { product.multiply(); }));
    }
    CusparseIlu ilu(context, {format});
    ilu.setup(a);
    ilu.apply(v.x, found);
    const double error = largest_difference(context, found, v.z);
    watch.require("our M^-1 r compared with cuSPARSE's " + result.format, error, agreement_bound);
    result.kernels.push_back(watch.time("lower", error, [&] { ilu.lower_solve(); }));
    result.kernels.push_back(watch.time("upper", error, [&] { ilu.upper_solve(); }));
    result.vectors = time_calls(context, repeats, [&] {
                         ilu.load(v.x);
                         ilu.store(found);
                     }).median;
    result.kernels.push_back(watch.time(
        "factorise", error, [&] { ilu.factorise(); }, [&] { ilu.restore(a); }));
    result.analyses = ilu.costs().analyses;
    result.analysis = ilu.costs().analysis;
    result.conversion = ilu.costs().conversion;
    result.work_bytes = ilu.costs().work_bytes;
}

BaselineResult time_baseline(const Context& context, const BenchCase& setting, const StructMatrix& a, RowFormat format,
                             int repeats, const Vectors& v) {
    BaselineResult result;
    result.format = format == RowFormat::csr ? "csr" : "bsr";
    try {
        time_cusparse(context, setting, a, format, repeats, v, result);
    } catch (const Error& error) {
        if (error.code() == ExitCode::expectation) throw;
        result.refused = error.what();
    }
    return result;
}
#endif

/// Times solves with factors in reduced precision. Except for the rounding of factors, M^-1 x must agree with that in
/// double precision.
std::vector<KernelResult> time_reduced(const Context& context, const BenchCase& setting, const StructMatrix& a,
                                       const Variant& variant, int repeats, Vectors& v) {
    Stopwatch watch(context, setting, a, repeats);
    watch.read_reduced(variant.factors, a);
    {
        const std::unique_ptr<IluPreconditioner> exact = make_struct_ilu(context);
        exact->setup(a);
        exact->apply(v.x, v.z);
    }
    const std::unique_ptr<IluPreconditioner> made = variant.choice.make(context, variant.factors);
    IluPreconditioner& ilu = *made;
    ilu.setup(a);
    ilu.apply(v.x, v.y);
    const double error = largest_difference(context, v.y, v.z);
    watch.require("M^-1 x", error, variant.factors == FactorStorage::single_precision ? 1e-6 : 1e-2);
    std::vector<KernelResult> kernels;
    kernels.push_back(watch.time("lower", error, [&] { ilu.lower_solve(v.x, v.y); }));
    transfer(v.x, v.z);
    kernels.push_back(watch.time("upper", error, [&] { ilu.upper_solve(v.z); }));
    return kernels;
}

VariantResult time_variant(const Context& context, const BenchCase& setting, const StructMatrix& a,
                           const Variant& variant, int repeats, Vectors& v) {
    VariantResult result{variant.name, variant.what, "", {}};
    try {
        if (is_reduced(variant.factors)) {
            result.kernels = time_reduced(context, setting, a, variant, repeats, v);
            return result;
        }
        if (variant.storage == Variant::Storage::own) {
            result.kernels = time_struct_ilu(context, setting, a, variant.choice, variant.kernels, repeats, v);
            return result;
        }
        const bool moves = variant.storage == Variant::Storage::other_layout;
        const Layout layout(layout_of(variant, a.layout().kind()), a.grid(), a.layout().levels());
        StructMatrix changed(context, layout, a.stencil(), a.dof(), moves ? a.storage() : MatrixStorage::full);
        fill_random(changed);
        Vectors vectors(context, layout, a.dof());
        result.kernels = time_struct_ilu(context, setting, changed, variant.choice, variant.kernels, repeats, vectors);
    } catch (const Error& error) {
        if (error.code() == ExitCode::expectation) throw;
        result.refused = error.what();
    }
    return result;
}

}  // namespace

std::optional<double> BenchResult::best_baseline(const std::string& kernel) const {
    std::optional<double> best;
    for (const BaselineResult& baseline : baselines)
        for (const KernelResult& one : baseline.kernels)
            if (one.kernel == kernel) best = std::min(best.value_or(one.seconds.median), one.seconds.median);
    return best;
}

double time_call(const Context& context, const std::function<void()>& call) {
    const auto mine = [&] {
        if (context.backend() == Backend::cuda) return context.stream().seconds_of(call);
        const double begin = omp_get_wtime();
        call();
        return omp_get_wtime() - begin;
    };
    if (!context.ranks()) return mine();
    of_first_rank(context, 0.0);  // all begin together, and what a graph waits for is queued, too
    return largest_of_ranks(context, mine());
}

void warm_up(const Context& context, const std::function<void()>& call) {
    const auto begin = std::chrono::steady_clock::now();
    const bool cuda = context.backend() == Backend::cuda;
    const auto is_cold = [&] { return of_first_rank(context, seconds_since(begin) < 0.1 ? 1.0 : 0.0) > 0.0; };
    for (int calls = 0; calls < 2 || (cuda && is_cold()); ++calls) call();
}

Timing time_calls(const Context& context, int repeats, const std::function<void()>& call,
                  const std::function<void()>& before) {
    const auto once = [&] {
        before();
        return time_call(context, call);
    };
    warm_up(context, once);
    std::vector<double> seconds;
    for (int at = 0; at < repeats; ++at) seconds.push_back(once());
    return timing_of(std::move(seconds));
}

double copy_rate(const Context& context, int repeats) {
    const bool cuda = context.backend() == Backend::cuda;
    const Context own = cuda ? Context::cuda(context.stream().properties().ordinal, context.threads())
                             : Context::cpu(context.threads());
    Grid grid;
    grid.nx = grid.ny = grid.nz = cuda ? 640 : 288;  // 2 x 2.0 GiB, 2 x 182 MiB: larger than any cache
    const Layout layout(LayoutKind::natural, grid, {});
    Vector from(own, layout, 1, "bench"), to(own, layout, 1, "bench");
    fill_random(from, 1);
    const Index bytes = from.size() * Index(sizeof(double));
    const Timing seconds = time_calls(own, repeats, [&] {
        if (cuda)
            own.stream().copy(from.data(), to.data(), bytes);
        else
            copy(from, to);
    });
    return 2.0 * double(bytes) / seconds.median;
}

rtc::Compilation prepare_kernels([[maybe_unused]] const Context& context,
                                 [[maybe_unused]] const std::vector<BenchCase>& cases,
                                 [[maybe_unused]] const BenchOptions& options) {
    if constexpr (cuda_built) {
        if (context.backend() == Backend::cpu) return {};
        rtc::Programs programs;
        for (const BenchCase& setting : cases) {
            std::vector<Variant> variants{{}};
            const auto add = [&](std::vector<Variant> more) { std::ranges::move(more, std::back_inserter(variants)); };
            if (options.ablate) add(pieces(context.backend(), setting));
            if (options.build_up) add(built_up(setting));
            if (!options.tunings.empty()) add(tunings(options.tunings));
            for (const Variant& variant : variants)
                std::ranges::move(programs_of(context, setting, options.layout, variant), std::back_inserter(programs));
        }
        return rtc::prepare(programs, rtc::architecture_of(context.stream().properties()), context.threads());
    }
    return {};
}

BenchResult bench_kernels(const Context& context, const BenchCase& setting, const BenchOptions& options) {
    Grid grid;
    grid.nx = grid.ny = grid.nz = setting.n;
    const Layout layout(options.layout, grid, setting.stencil.level_map());
    StructMatrix a(context, layout, setting.stencil, setting.dof,
                   setting.symmetric ? MatrixStorage::lower : MatrixStorage::full);
    fill_random(a);
    Vectors v(context, layout, setting.dof);
    BenchResult result{setting, a.unknowns(), layout.level_count(), {}, {}, {}, {}};
    result.kernels = time_struct_ilu(context, setting, a, {}, all_kernels(), options.repeats, v);
#if HYPERPLANE_CUSPARSE_BUILT
    if (context.backend() == Backend::cuda && !options.ablate && !options.build_up && options.tunings.empty()) {
        result.baselines.push_back(time_baseline(context, setting, a, RowFormat::csr, options.repeats, v));
        if (setting.dof > 1)
            result.baselines.push_back(time_baseline(context, setting, a, RowFormat::bsr, options.repeats, v));
    }
#endif
    if (options.ablate)
        for (const Variant& piece : pieces(context.backend(), setting))
            result.variants.push_back(time_variant(context, setting, a, piece, options.repeats, v));
    if (!options.tunings.empty()) {
        const std::vector<Variant> tuned = tunings(options.tunings);
        const std::vector<std::string> same = same_kernels(context, setting, options.layout, tuned);
        for (std::size_t at = 0; at < tuned.size(); ++at)
            result.variants.push_back(same[at].empty()
                                          ? time_variant(context, setting, a, tuned[at], options.repeats, v)
                                          : VariantResult{tuned[at].name, tuned[at].what, "", {}, same[at]});
    }
    if (options.build_up)
        for (const Variant& variant : built_up(setting))
            result.built_up.push_back(time_variant(context, setting, a, variant, options.repeats, v));
    return result;
}

}  // namespace hyperplane
