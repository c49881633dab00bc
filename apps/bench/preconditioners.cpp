// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/preconditioners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "apps/bench/kernels.hpp"
#include "apps/bench/rows.hpp"
#include "apps/run/kernels.hpp"
#include "core/error.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"
#include "precond/checks/applications.hpp"

namespace hyperplane {
namespace {

bool is_baseline(const Candidate& candidate) {
    return find_preconditioner(candidate.preconditioner.name).baseline;
}

MatrixShape shape_of(const SystemMatrix& a) {
    if (!a.space().has_grid()) return {general(a).pattern(), a.dof(), a.symmetric()};
    return {structured(a).grid(), structured(a).stencil(), a.dof(), a.symmetric()};
}

/// Compiles and loads the kernels of a candidate, so that no time has them in it.
void prepare_candidate(const Context& context, const Parameters& parameters, const SystemMatrix& a) {
    if (context.backend() != Backend::cuda) return;
    PreconditionerSetting setting{context, shape_of(a)};
    if (a.space().has_grid()) setting.chosen_layout = a.space().layout().kind();
    prepare_now(context, preconditioner_programs(parameters, setting));
}

/// A preconditioner that has been set up for its matrix.
struct Ready {
    PreconditionedSystem::Made made;
    const SystemMatrix* a;
    SetupReport report;
    double seconds;  ///< of the set-up
    Index held;      ///< bytes that the set-up allocated

    Ready(PreconditionedSystem& system, const Candidate& candidate, const Parameters& parameters,
          const NamedTuning* tuning = nullptr)
        : made(system.make(candidate, parameters)), a(&system.matrix(made.space)) {
        if (tuning)
            tuning->apply(*made.m);
        else
            prepare_candidate(system.context(), parameters, *a);
        made.m->suggest_shift(system.suggested_shift());
        const MemoryLedger& ledger = system.context().ledger();
        const Index before = ledger.held();
        seconds = time_call(system.context(), [&] { report = made.m->setup(*a); });
        held = ledger.held() - before;
    }
};

/// Seconds of one sweep of the set-up: the difference in time between a set-up with twice as many sweeps and this one,
/// divided by their number. The two are timed in turn, because a GPU lowers its clock under load, which would make the
/// later of two series seem slower.
double seconds_of_setup_sweep(const Context& context, int repeats, Preconditioner& m, const SystemMatrix& a) {
    const int sweeps = m.sweeps().setup;
    const auto seconds_with = [&](int count) {
        m.set_setup_sweeps(count);
        return time_call(context, [&] { m.setup(a); });
    };
    const auto longer = [&] {
        const double once = seconds_with(sweeps);
        return seconds_with(2 * sweeps) - once;
    };
    warm_up(context, longer);
    std::vector<double> found;
    for (int at = 0; at < repeats; ++at) found.push_back(longer());
    seconds_with(sweeps);
    return std::max(0.0, timing_of(std::move(found)).median) / sweeps;
}

/// Times set-ups with everything, each by a preconditioner that is made anew, and what a library's analyses take in
/// them: in the first set-up of all, its kernels are loaded, too. The preconditioner that was set up is released.
void time_whole_setups(PreconditionedSystem& system, Ready& ready, PreconditionerResult& result) {
    constexpr int setups = 3;
    std::unique_ptr<Preconditioner>& m = ready.made.m;
    std::vector<double> whole, analysis, symbolic, numeric;
    for (int at = 0; at < setups; ++at) {
        m.reset();
        m = system.make_again();
        m->suggest_shift(system.suggested_shift());
        SetupReport report;
        whole.push_back(time_call(system.context(), [&] { report = m->setup(*ready.a); }));
        symbolic.push_back(report.symbolic_seconds);
        numeric.push_back(report.numeric_seconds);
        analysis.push_back(m->numeric_setup(*ready.a).analysis);
    }
    result.whole_setup = timing_of(std::move(whole));
    result.symbolic = timing_of(std::move(symbolic)).median;
    result.numeric = timing_of(std::move(numeric)).median;
    result.setup.analysis = timing_of(std::move(analysis)).median;
}

/// Makes a preconditioner with the candidate's factors in double precision: the candidate's own or the one that its row
/// names, with the keys that both have.
std::unique_ptr<Preconditioner> make_in_double(PreconditionedSystem& system, const Candidate& candidate,
                                               const SystemMatrix& a) {
    const MatrixShape shape = shape_of(a);
    const PreconditionerRow& row = find_preconditioner(candidate.preconditioner.name);
    const std::string& name = shape.kind() == MatrixKind::general ? row.same_general_factors : row.same_factors;
    const PreconditionerRow& same = name.empty() ? row : find_preconditioner(name);
    Parameters parameters(common_preconditioner_parameters());
    parameters.add(same.parameters);
    const std::string section = "preconditioner";
    for (const ParameterSpec& spec : same.parameters)
        if (candidate.parameters.has(section, spec.key))
            parameters.set(section, spec.key, candidate.parameters.value(section, spec.key).text);
    if (parameters.has(section, "storage")) parameters.set(section, "storage", "double");
    auto m = same.create(parameters, {system.context(), shape});
    m->suggest_shift(system.suggested_shift());
    return m;
}

/// The difference of z from what one rank computes, which the first of several ranks finds out.
ApplicationCheck check_with_one_rank(const PreconditionedSystem& system, const Candidate& candidate, const Ready& mine,
                                     const Vector& z) {
    if (mine.made.drops_couplings)
        return {.unchecked = "with scope = rank, the preconditioner on several ranks differs from that on one"};
    const std::vector<double> found = to_natural(z);
    if (!is_first_rank(system.context())) return {};
    const std::unique_ptr<PreconditionedSystem> whole = system.on_one_rank();
    const Ready ready(*whole, candidate, candidate.parameters);
    const Context& context = whole->context();
    Vector r(context, ready.a->space(), ready.a->dof(), "bench"), expected(context, r.space(), r.dof(), "bench"),
        theirs(context, r.space(), r.dof(), "bench");
    fill_random(r, 7);
    ready.made.m->apply(r, expected);
    from_natural(found, theirs);
    const bool same_bits = context.backend() == Backend::cpu;
    return {largest_difference(context, theirs, expected), same_bits ? 0.0 : bound_of_double(), ""};
}

/// Throws Error(expectation) if z is not M^-1 r, so that a wrong kernel gets no time.
void check(PreconditionedSystem& system, const Candidate& candidate, const Ready& ready, const Vector& r,
           const Vector& z, PreconditionerResult& result) {
    try {
        result.check = system.context().ranks() ? check_with_one_rank(system, candidate, ready, z)
                                                : ready.made.m->check_application(*ready.a, r, z, [&] {
                                                      return make_in_double(system, candidate, *ready.a);
                                                  });
    } catch (const OutOfMemory&) {
        result.check.unchecked = "there is no memory for the factors that it is compared with";
    }
    const bool compared = result.check.unchecked.empty();
    if (compared ? result.check.passed() : all_finite(z)) return;
    const std::string why =
        compared ? fmt::format("has an error of {:.1e}, more than {:.0e}", result.check.error, result.check.bound)
                 : "is not finite";
    throw Error(ExitCode::expectation,
                fmt::format("bench {}: M^-1 r of {} {}; not timed", system.name(), candidate.preconditioner.text, why));
}

void time_one(PreconditionedSystem& system, const Candidate& candidate, const NamedTuning* tuning, int repeats,
              PreconditionersResult& all, PreconditionerResult& result) {
    const Context& context = system.context();
    {
        Ready ready(system, candidate, candidate.parameters, tuning);
        result.held = ready.held;
        result.first_setup = ready.seconds;
        result.report = ready.report;
        result.layout = ready.made.space.name();
        all.unknowns = system.unknowns();
        all.dof = ready.a->dof();
        if (!all.general) all.general = system.general_facts();

        Vector r(context, ready.a->space(), ready.a->dof(), "bench"), z(context, r.space(), r.dof(), "bench");
        fill_random(r, 7);
        ready.made.m->apply(r, z);
        check(system, candidate, ready, r, z, result);
        for (const double of_rank : gathered(context, {double(ready.made.m->bytes_per_apply())}))
            result.bytes += of_rank;
        result.sweeps = ready.made.m->sweeps();
        result.apply = time_apply(context, repeats, *ready.made.m, r, z);
        result.lower = time_lower_solve(context, repeats, *ready.made.m, r, z);
        result.setup = time_setup(context, repeats, *ready.made.m, *ready.a);
        if (result.sweeps.setup > 0)
            result.setup_sweep = seconds_of_setup_sweep(context, repeats, *ready.made.m, *ready.a);
        if (!ready.a->space().has_grid()) time_whole_setups(system, ready, result);
    }
}

}  // namespace

std::optional<double> PreconditionersResult::best_baseline() const {
    std::optional<double> best;
    for (const PreconditionerResult& row : rows)
        if (row.baseline && row.refused.empty()) best = std::min(best.value_or(row.apply.median), row.apply.median);
    return best;
}

rtc::Programs programs_of_cases(const Context& context, const std::vector<BenchCase>& cases,
                                const std::function<std::vector<Candidate>(int dof)>& candidates) {
    rtc::Programs programs;
    for (const BenchCase& setting : cases) {
        Grid grid;
        grid.nx = grid.ny = grid.nz = setting.n;
        const PreconditionerSetting system{context, {grid, setting.stencil, setting.dof, setting.symmetric}};
        for (const Candidate& candidate : candidates(setting.dof)) {
            if (!find_preconditioner(candidate.preconditioner.name).takes(MatrixKind::structured)) continue;
            try {
                std::ranges::move(preconditioner_programs(candidate.parameters, system), std::back_inserter(programs));
            } catch (const Error&) {  // its row will say why it does not fit
            }
        }
    }
    return programs;
}

void prepare_kernels([[maybe_unused]] const Context& context, [[maybe_unused]] const std::vector<BenchCase>& cases,
                     [[maybe_unused]] const std::function<std::vector<Candidate>(int dof)>& candidates) {
    if constexpr (cuda_built) {
        if (context.backend() == Backend::cpu) return;
        rtc::prepare(programs_of_cases(context, cases, candidates), rtc::architecture_of(context.stream().properties()),
                     context.threads());
    }
}

std::vector<NamedTuning> chosen_tunings(const PreconditionerRow& row, const std::string& words) {
    std::vector<NamedTuning> list;
    for (const NamedTuning& tuning : row.tunings)
        if (words == "all" || (!words.empty() && tuning.name.find(words) != words.npos)) list.push_back(tuning);
    return list;
}

void bench_preconditioners(PreconditionedSystem& system, const std::vector<Candidate>& candidates,
                           const std::string& tunings, int repeats,
                           const std::function<void(const PreconditionersResult&)>& done) {
    PreconditionersResult all;
    all.system = system.name();
    const auto time = [&](const Candidate& candidate, bool baseline, const NamedTuning* tuning = nullptr) {
        PreconditionerResult result;
        result.name = candidate.preconditioner.text + (tuning ? ", " + tuning->name : "");
        result.baseline = baseline;
        try {
            time_one(system, candidate, tuning, repeats, all, result);
        } catch (const RanksAborted&) {
            throw;
        } catch (const Error& error) {
            // A rank that runs out of memory may be alone with that, and others would wait for it.
            const bool alone = system.context().ranks() && error.code() == ExitCode::out_of_memory;
            if (alone || error.code() == ExitCode::internal || error.code() == ExitCode::expectation) throw;
            result.refused = error.what();
        } catch (const std::bad_alloc&) {
            if (system.context().ranks()) throw;
            result.refused = "out of memory";
        }
        all.rows.push_back(std::move(result));
        done(all);
    };
    for (const bool baseline : {true, false})
        for (const Candidate& candidate : candidates) {
            if (is_baseline(candidate) != baseline) continue;
            time(candidate, baseline);
            const PreconditionerRow& row = find_preconditioner(candidate.preconditioner.name);
            for (const NamedTuning& tuning : chosen_tunings(row, tunings)) time(candidate, baseline, &tuning);
        }
}

}  // namespace hyperplane
