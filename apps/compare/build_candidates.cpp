// SPDX-License-Identifier: BSD-3-Clause
// How a comparison builds its candidates: what each needs, whether all fit together, and their kernels.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/base/log.hpp"
#include "apps/compare/compare.hpp"
#include "apps/run/dropped_couplings.hpp"
#include "apps/run/kernels.hpp"
#include "apps/run/memory_demand.hpp"
#include "apps/run/shared_memory.hpp"
#include "core/counted.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {

namespace {

/// What the candidates of a comparison hold together, if all stay set up: each system once.
class HeldTogether {
public:
    explicit HeldTogether(Index before) : bytes_(before) {}

    void add(const Case& a_case, const MemoryPlan& plan, bool after_failure) {
        const std::pair system(a_case.problem.get(), a_case.space);
        const bool shared = std::find(systems_.begin(), systems_.end(), system) != systems_.end();
        if (!shared) systems_.push_back(system);
        // A candidate that is for failures takes the place of the one that has failed, and holds as much.
        if (!after_failure) most_of_setups_ = std::max(most_of_setups_, a_case.plan.setup_bytes);
        for (const auto& [label, bytes] : plan.by_label) {
            if (label.starts_with("set-up of ")) continue;
            const bool own = label == "preconditioner " + a_case.name("preconditioner") || label == "Krylov vectors";
            if (own ? !after_failure : !shared && label != "problem data") bytes_ += bytes;
        }
    }
    /// What all hold, and the largest set-up in addition, since one candidate is set up at a time.
    Index bytes() const { return bytes_ + most_of_setups_; }

private:
    std::vector<std::pair<const Problem*, IndexSpace>> systems_;
    Index bytes_, most_of_setups_ = 0;
};

}  // namespace

Case Comparison::build(std::size_t at) const {
    const Candidate& candidate = candidates_[at];
    return build_case(deck_, candidate.overrides, candidate.parameters, foundation_);
}

/// All ranks must leave out the same candidates, though each of them asks at another moment.
Index Comparison::available() const {
    return -Index(largest_of_ranks(context(), -double(memory_of_case(context()).bytes)));
}

void Comparison::build_one(std::size_t at, Index available) {
    Trial& trial = trials_[at];
    attempt(at, [&] {
        const Index limit = memory_limit(candidates_.front().parameters);
        const MemoryLedger& ledger = foundation_.context.ledger();
        const Bytes before = ledger.by_label();
        Case a_case = build(at);
        a_case.plan.kept.reset();  // all candidates are planned before the first is set up
        const Bytes& form =
            form_memory_.try_emplace(a_case.problem.get(), beyond(ledger.by_label(), before)).first->second;
        const Index other_forms = ledger.held() - total(problem_memory_) - total(form);
        describe_built(at, a_case);
        if (!a_case.plan.warning.empty() && warned_of_.insert(trial.preconditioner).second) warn_of(trial, a_case);
        const MemoryPlan plan = a_case.memory_plan(Moments::after_first_solve);
        trial.predicted = a_case.memory_plan(Moments::after_construction).total() - other_forms;
        const Index more = plan.total() - held_for(a_case);
        const Index needed = in_one_memory(more), of_rank = most_of_a_rank(more);
        if (needed > available || of_rank > limit)
            return fail(at, ExitCode::out_of_memory,
                        fmt::format("it needs {}, and there are {} for it", in_mib(of_rank > limit ? of_rank : needed),
                                    in_mib(of_rank > limit ? limit : available)));
        built_[at].a_case.emplace(std::move(a_case));
    });
}

/// Builds all candidates but last resorts. Before any memory is allocated, it is known what each needs, and whether all
/// fit together.
void Comparison::build_all() {
    built_.resize(candidates_.size());
    trials_.resize(candidates_.size());
    const Index room = available();
    HeldTogether together(foundation_.context.ledger().held());
    std::vector<std::size_t> needed;
    for (std::size_t at = 0; at < candidates_.size(); ++at) {
        const Candidate& candidate = candidates_[at];
        trials_[at].name = candidate.name;
        trials_[at].solver = candidate.solver.text;
        trials_[at].preconditioner = candidate.preconditioner.text;
        if (candidate.preconditioner.last_resort) continue;
        build_one(at, room);
        const bool after_failure = candidate.preconditioner.after_failure;
        if (const auto& a_case = built_[at].a_case)
            together.add(*a_case, a_case->memory_plan(Moments::after_first_solve), after_failure);
        if (!after_failure) needed.push_back(at);
    }
    const Index all = together.bytes();
    one_at_a_time_ = in_one_memory(all) > room || most_of_a_rank(all) > memory_limit(candidates_.front().parameters);
    compile_kernels(needed);
}

void Comparison::decide_last_resort(std::size_t at) {
    const Choice& resort = candidates_[at].preconditioner;
    if (!resort.last_resort || !trials_[at].converged()) return;
    const bool needed = std::none_of(trials_.begin(), trials_.begin() + std::ptrdiff_t(at), [&](const Trial& trial) {
        return trial.preconditioner != resort.text && trial.converged();
    });
    if (needed)
        build_last_resort(at);
    else
        fail(at, ExitCode::usage, "it is for systems for which nothing that is tried before it converges");
}

void Comparison::build_last_resort(std::size_t at) {
    // Candidates that are still built have converged with the same preconditioner. The systems of all others only take
    // the memory that this one needs.
    std::erase_if(systems_, [&](const auto& made) {
        return std::none_of(built_.begin(), built_.end(), [&](const BuiltCandidate& one) {
            return one.a_case && one.a_case->problem == made->problem && one.a_case->space == made->space;
        });
    });
    build_one(at, available());
    const bool others_are_set_up =
        std::any_of(built_.begin(), built_.end(), [](const BuiltCandidate& one) { return one.warm; });
    if (trials_[at].code == ExitCode::out_of_memory && others_are_set_up) {
        one_at_a_time_ = true;
        systems_.clear();
        for (std::size_t other = 0; other < at; ++other) release(other);
        trials_[at].code = ExitCode::ok;
        trials_[at].outcome = Trial().outcome;
        trials_[at].reason.clear();
        build_one(at, available());
    }
    compile_kernels({at});
}

bool Comparison::last_resorts_fit() const {
    HeldTogether together(foundation_.context.ledger().held());
    for (std::size_t at = 0; at < built_.size(); ++at)
        if (const auto& a_case = built_[at].a_case; a_case && candidates_[at].preconditioner.last_resort)
            together.add(*a_case, a_case->memory_plan(Moments::after_first_solve), false);
    const Index all = together.bytes();
    const Index of_rank = most_of_a_rank(all), together_in_one = in_one_memory(all);
    return together_in_one <= available() && of_rank <= memory_limit(candidates_.front().parameters);
}

Index Comparison::held_for(const Case& a_case) const {
    for (const auto& made : systems_)
        if (made->problem == a_case.problem && made->space == a_case.space) return total(made->memory);
    return 0;
}

void Comparison::describe_built(std::size_t at, const Case& a_case) {
    Trial& trial = trials_[at];
    trial.layout = a_case.space.name();
    trial.varies = a_case.plan.traits.varies;
    if (is_first_rank(context())) trial.dropped = dropped_couplings(a_case);
    trial.preparation = a_case.problem->preparation();
    trial.pattern = a_case.shape().statistics();
    trial.given_pattern = a_case.shape().given_statistics();
    trial.symmetric = a_case.shape().symmetric;
}

void Comparison::warn_of(const Trial& trial, const Case& a_case) {
    if (!is_first_rank(context())) return;
    progress_.clear();
    logging::warn("{}: {}", trial.preconditioner, a_case.plan.warning);
}

Index Comparison::most_of_a_rank(Index mine) const {
    return Index(largest_of_ranks(context(), double(mine)));
}

Index Comparison::in_one_memory(Index mine) const {
    return Index(largest_of_ranks(context(), double(together_in_one_memory(context(), mine))));
}

void Comparison::compile_kernels(const std::vector<std::size_t>& of) {
    std::vector<const Case*> cases;
    for (const std::size_t at : of)
        if (built_[at].a_case) cases.push_back(&*built_[at].a_case);
    if (cases.empty()) return;
    progress_.show("compiling kernels");
    if (const rtc::Compilation done = KernelPreparation(cases).wait(); done.compiled > 0)
        progress_.note(
            fmt::format("{} compiled in {:.2g} s, and kept", counted(done.compiled, "kernel"), done.seconds));
}

double Comparison::compile_seconds() const {
    return compiled_earlier_ + hyperplane::compile_seconds();
}

}  // namespace hyperplane
