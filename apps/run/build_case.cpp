// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/build_case.hpp"

#include <fmt/format.h>

#include <numeric>

#include "apps/base/quoting.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/deck/schema.hpp"
#include "apps/run/announcements.hpp"
#include "apps/run/contradictions.hpp"
#include "apps/run/expectations.hpp"
#include "apps/run/head_prediction.hpp"
#include "apps/run/initial_state.hpp"
#include "apps/run/input_files.hpp"
#include "apps/run/long_work.hpp"
#include "apps/run/ranks.hpp"
#include "core/graph/orderings.hpp"
#include "core/ranks/aligned.hpp"
#include "core/ranks/all_cuts.hpp"
#include "io/companions.hpp"
#include "precond/scaling/scaled.hpp"
#include "problems/general_form.hpp"
#include "problems/on_ranks.hpp"
#include "problems/registry.hpp"
#include "problems/rows_of_rank.hpp"
#include "solvers/eisenstat_cg.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

IndexSpace choose_space(const Parameters& parameters, const PreconditionerPlan& plan) {
    const std::string& asked = parameters.text("device", "layout");
    if (asked == "auto" || asked == plan.space.name()) return plan.space;
    if (asks_for_eisenstat(parameters))
        throw RefusedKey(parameters, "device", "layout",
                         ": solver.eisenstat = true needs the layout that struct_ilu prefers; leave the key out");
    if (!plan.space.has_grid())
        throw RefusedKey(parameters, "device", "layout",
                         ": a general matrix has plain rows and no layout; leave the key out");
    const Layout& layout = plan.space.layout();
    if (layout.is_part())
        throw RefusedKey(parameters, "device", "layout", ": several ranks need the natural layout; leave the key out");
    return Layout(asked == "natural" ? LayoutKind::natural : LayoutKind::hyperplane, layout.grid(), layout.levels());
}

void check_expectations(const Parameters& p, Contradictions& found) {
    const auto given = [&](const char* key) { return p.is_set("expect", key); };
    if (given("min_iterations") && given("max_iterations") &&
        p.integer("expect", "min_iterations") > p.integer("expect", "max_iterations"))
        found.add(p.where("expect", "min_iterations") + ": is above expect.max_iterations; no run can meet both");
    if (given("iterations") && (given("min_iterations") || given("max_iterations")))
        found.add(p.where("expect", "iterations") + ": give it, or expect.min_iterations and max_iterations, not both");
    if (given("min_error") && given("max_error") && p.real("expect", "min_error") > p.real("expect", "max_error"))
        found.add(p.where("expect", "min_error") + ": is above expect.max_error; no run can meet both");
}

/// Refuses keys that say something of another key that is not there.
void check_keys_of_pairs(const Parameters& p, Contradictions& found) {
    const auto needs = [&](const char* section, const char* key, std::initializer_list<const char*> others) {
        if (!p.is_given(section, key)) return;
        std::string names;
        for (const char* other : others) {
            if (p.is_set(section, other)) return;
            names += fmt::format("{}{}.{}", names.empty() ? "" : " or ", section, other);
        }
        found.add(
            fmt::format("{}: means nothing without {}; leave it out, or give that", p.where(section, key), names));
    };
    if (p.is_given("device", "gpu") && p.text("device", "backend") == "cpu")
        found.add(
            fmt::format("{} means nothing with device.backend = cpu; leave it out, or give it as a default that "
                        "only a GPU takes (gpu ?= {})",
                        p.where("device", "gpu"), p.text("device", "gpu")));
    needs("initial", "interpolate", {"file"});
    needs("expect", "error_norm", {"min_error", "max_error"});
    needs("expect", "diagnostic", {"min_diagnostic", "max_diagnostic"});
    needs("expect", "min_diagnostic", {"diagnostic"});
    needs("expect", "max_diagnostic", {"diagnostic"});
}

/// Refuses keys that count time steps where there are none.
void check_counts_of_steps(const Parameters& p, const Problem& problem, Contradictions& found) {
    if (problem.shape().regime != Regime::steady) return;
    for (const auto& [key, instead] :
         {std::pair("checkpoint_every", "checkpoint_minutes makes checkpoints within a solve"),
          std::pair("fields_every", "fields = true writes the solution")})
        if (p.is_given("output", key))
            found.add(fmt::format("{}: {} is steady, so there are no time steps to count; output.{}",
                                  p.where("output", key), p.text("problem", "name"), instead));
    for (const char* key : {"steps", "max_steps", "max_newton_iterations", "max_steady_residual"})
        if (p.is_given("expect", key))
            found.add(
                fmt::format("{}: {} is steady, so it takes no time steps of which this could hold; remove "
                            "the key",
                            p.where("expect", key), p.text("problem", "name")));
}

/// Constructs a deck's problem. A general matrix is not cut before it is ordered, so each rank constructs all of it.
Foundation make_foundation(const Deck& deck, const Parameters& parameters, const Context& context) {
    const bool whole = context.ranks() && has_general_matrix(parameters);
    refuse_larger_than_memory(deck, parameters, whole ? context.ranks()->ranks_on_host() : 1);
    InputFiles files = files_of(deck, context);
    auto problem = find_row(problems(), "problem", parameters.text("problem", "name"))
                       .create(parameters, whole ? context.alone() : context, files);
    return {context, std::move(problem), std::move(files), whole};
}

/// The planes that no cut between ranks may divide, for the preconditioner of a case.
int planes_together(const Parameters& parameters, const PreconditionerSetting& setting) {
    const auto& row = find_preconditioner(parameters.text("preconditioner", "name"));
    return row.planes_together ? row.planes_together(parameters, setting) : 1;
}

/// Makes context and problem again if the preconditioners of some cases do not allow every cut between ranks. Which
/// cuts they allow depends on the problem's shape. One of several cases is left out, and refused later, if a rank would
/// have no planes with it.
void align_cuts(Foundation& foundation, const Deck& deck, const std::vector<const Parameters*>& cases,
                const std::shared_ptr<Communicator>& ranks, WithoutGpu without = WithoutGpu::refuse) {
    if (foundation.whole) return;
    const MatrixShape matrix = foundation.problem->shape().matrix();
    int planes = 1;
    for (const Parameters* parameters : cases) {
        const int with_case = std::lcm(planes, planes_together(*parameters, {foundation.context, matrix}));
        if (cases.size() == 1 || (matrix.grid().nz - 1) / with_case + 1 >= ranks->size()) planes = with_case;
    }
    if (planes == 1) return;
    const Context context = make_context(*cases.front(), std::make_shared<AlignedRanks>(ranks, planes), without);
    foundation = make_foundation(deck, *cases.front(), context);
}

/// Refuses a preconditioner that does not allow the cuts between the ranks of a foundation.
void check_cuts(const Foundation& foundation, const Parameters& parameters) {
    const Context& context = foundation.context;
    if (!context.ranks() || foundation.whole) return;
    const MatrixShape matrix = foundation.problem->shape().matrix();
    const int together = planes_together(parameters, {context, matrix});
    if (planes_between_cuts(context) % together == 0) return;
    throw UsageError(fmt::format(
        "{}: {} planes along z must stay together, and the {} planes of this grid cannot be divided between {} ranks "
        "without cutting such a group; take fewer ranks, or thinner subdomains ({}.subdomain)",
        parameters.where("preconditioner", "name"), together, matrix.grid().nz, context.ranks()->size(),
        parameters.has("smoother", "subdomain") ? "smoother" : "preconditioner"));
}

/// The problem in the form that matrix.format asks for.
std::shared_ptr<const Problem> in_format(const std::shared_ptr<const Problem>& problem, const Parameters& parameters,
                                         const Context& context) {
    const std::string& format = parameters.text("matrix", "format");
    const bool general = problem->shape().matrix().kind() == MatrixKind::general;
    if (format == "structured" && general)
        throw RefusedKey(parameters, "matrix", "format",
                         fmt::format(": {} has no grid, so its matrix is general; leave the key out",
                                     parameters.text("problem", "name")));
    if (format != "general" || general) return problem;
    return general_form(problem, context);
}

/// The problem in the order that [ordering] asks for.
std::shared_ptr<const Problem> in_order(const std::shared_ptr<const Problem>& problem, const Parameters& parameters,
                                        const Context& context, const InputFiles& files) {
    if (keeps_given_order(parameters)) return problem;
    if (asks_for_matching(parameters) && parameters.text("problem", "name") != "matrix")
        throw RefusedKey(
            parameters, "ordering", "rows",
            ": rows are matched by the values of a matrix from a file; set problem.name = matrix, or leave "
            "the key out");
    if (!problem->shape().pattern)
        throw RefusedKey(parameters, "ordering", "name",
                         ": rows on a grid have the order of the grid; set matrix.format = general, or "
                         "leave the key out");
    const BlockPattern& pattern = *problem->shape().pattern;
    announce_order(context, order_text(parameters), pattern.rows());
    std::shared_ptr<const RowMatching> matching;
    if (asks_for_matching(parameters)) {
        matching = problem->row_matching();
        require_all_matched(*matching, problem->shape().dof, parameters.where("problem", "file"));
    }
    return problem->in_order(make_order(pattern, parameters, files, matching.get()));
}

/// The keys of a deck that decide about form and order, with their values.
std::string form_key(const Parameters& parameters) {
    std::string key;
    for (const Parameters::Value& value : parameters.all())
        if (value.spec.section == "matrix" || value.spec.section == "ordering")
            key += value.spec.name() + '=' + value.text + '\n';
    return key;
}

/// The problem in the form and order that the deck asks for, made once for all cases that agree about them.
std::shared_ptr<const Problem> in_form(const Foundation& foundation, const Parameters& parameters) {
    std::shared_ptr<const Problem>& made = (*foundation.forms)[form_key(parameters)];
    if (made) return made;
    const Context& context = foundation.context;
    if (!context.ranks())
        return made =
                   in_order(in_format(foundation.problem, parameters, context), parameters, context, foundation.files);
    if (foundation.whole != has_general_matrix(parameters))
        throw UsageError(parameters.where("matrix", "format") +
                         ": on several ranks all that are compared have the same matrix.format; set it for all of "
                         "them, or take one rank");
    made = in_order(in_format(foundation.problem, parameters, foundation.whole ? context.alone() : context), parameters,
                    context, foundation.files);
    if (foundation.whole) made = rows_of_rank(made, context);
    return made = on_ranks(made);
}

/// Refuses what conjugate gradients in Eisenstat's form cannot do, although the preconditioner could.
void check_eisenstat(const Parameters& parameters, const SystemShape& shape) {
    if (!asks_for_eisenstat(parameters)) return;
    const std::string& name = parameters.text("problem", "name");
    if (shape.constant_null_space)
        throw UsageError(no_eisenstat("constants are in the null space of the matrix of " + name));
    if (shape.separate_preconditioner_matrix)
        throw UsageError(no_eisenstat(name + " builds the preconditioner from another matrix than the system's"));
}

/// Makes solver and preconditioner; the preconditioner only if there is a problem. Throws the contradictions found.
Case build_on(const Foundation& foundation, Deck deck, const std::vector<std::string>& overrides, Parameters parameters,
              Contradictions& found) {
    const Context& context = foundation.context;
    std::shared_ptr<const Problem> problem;
    if (foundation.problem) found.collect(parameters, [&] { problem = in_form(foundation, parameters); });
    if (problem) set_regime_defaults(parameters, problem->shape());
    std::unique_ptr<Solver> solver;
    std::unique_ptr<Preconditioner> preconditioner;
    PreconditionerPlan plan;
    NewtonOptions newton;
    TimeOptions time;
    const auto& row = find_preconditioner(parameters.text("preconditioner", "name"));
    found.collect(parameters, [&] {
        solver = find_row(solvers(), "solver", parameters.text("solver", "name")).create(parameters, context);
    });
    if (!problem) found.collect(parameters, [&] { check_storage(row, parameters); });
    if (problem) {
        found.collect(parameters, [&] { newton = newton_options(parameters, problem->shape()); });
        found.collect(parameters, [&] { time = time_options(parameters, problem->shape()); });
        found.collect(parameters, [&] {
            const PreconditionerSetting setting{context, problem->shape().matrix(), asks_for_eisenstat(parameters)};
            check_storage(row, parameters);
            check_matrix(row, scaled_setting(parameters, setting));
            plan = plan_scaled(row, parameters, setting);
            preconditioner = create_scaled(row, parameters, setting);
        });
    }
    if (problem) found.collect([&] { check_eisenstat(parameters, problem->shape()); });
    if (solver && preconditioner)
        found.collect(parameters, [&] {
            const std::string& entry = problem->shape().unsymmetric_entry;
            solver->check_operator(parameters.text("problem", "name") + (entry.empty() ? "" : " (" + entry + ")"),
                                   problem->shape().symmetric);
            solver->check(name_with_causes(row, parameters, plan.traits), plan.traits);
        });
    IndexSpace space = plan.space;
    // Where Eisenstat's form is refused, nobody needs to know which layout it would take.
    if (preconditioner && (found.none() || !asks_for_eisenstat(parameters)))
        found.collect(parameters, [&] { space = choose_space(parameters, plan); });
    found.report();

    const StopCriteria criteria = stop_criteria(parameters);
    return {std::move(deck),
            overrides,
            std::move(parameters),
            context,
            describe(context),
            problem,
            space,
            plan,
            std::move(preconditioner),
            std::move(solver),
            criteria,
            newton,
            time};
}

/// What is done with a general matrix before a run, and may take long.
std::string planning_text(const Parameters& parameters) {
    const bool ordered = !keeps_given_order(parameters);
    return fmt::format("{}planning {}, with the symbolic part of the set-up", ordered ? "ordering rows and " : "",
                       parameters.text("preconditioner", "name"));
}

/// Throws UsageError if the deck is a study.
Deck read_deck_of_case(const Invocation& invocation) {
    Deck deck = read_deck_or_record(invocation.arguments.at(0));
    for (const DeckLine& section : deck.sections)
        if (section.text == "sweep")
            throw UsageError(fmt::format(
                "{0}:{1}: with a section [sweep] this is a study: hyperplane study plan {2} checks its cases, "
                "hyperplane study run {2} runs them, hyperplane run {2} --case NAME one of them",
                deck.file, section.line, shown_argument(deck.file)));
    return deck;
}

}  // namespace

AskedDeck read_asked(const Invocation& invocation) {
    std::vector<std::string> overrides = deck_overrides(invocation);
    return {read_deck_of_case(invocation), std::move(overrides)};
}

Parameters resolved(const AskedDeck& asked) {
    std::vector<DeckEntry> entries;
    for (const std::string& text : asked.overrides) entries.push_back(parse_override(text));
    return resolve(asked.deck, entries, deck_schema());
}

int ranks_of(const Parameters& parameters) {
    return int(parameters.integer("device", "ranks"));
}

Case read_case_without_run(const Invocation& invocation, const std::string& verb) {
    AskedDeck asked = read_asked(invocation);
    leave_out_keys_of_runs(asked.deck, asked.overrides, verb);
    Case made = build_case(std::move(asked.deck), asked.overrides);
    made.overwrite = invocation.overwrite();
    return made;
}

Case build_case(Deck deck, const std::vector<std::string>& overrides, const std::shared_ptr<Communicator>& ranks) {
    AskedDeck asked{std::move(deck), overrides};
    Parameters parameters = resolved(asked);
    return build_case(std::move(asked), std::move(parameters), ranks);
}

Case build_case(AskedDeck asked, Parameters parameters, const std::shared_ptr<Communicator>& ranks,
                WithoutGpu without) {
    Deck& deck = asked.deck;
    Contradictions found;
    check_expectations(parameters, found);
    check_keys_of_pairs(parameters, found);
    if (parameters.is_set("output", "file"))
        found.collect([&] {
            check_record_name(parameters.text("output", "file"), parameters.where("output", "file"),
                              parameters.boolean("output", "fields"));
        });
    Foundation foundation{make_context(parameters, ranks, without), nullptr};
    if (ranks) found.collect([&] { check_ranks(parameters); });
    if (ranks && has_general_matrix(parameters)) found.report();  // no file may be read for what is not cut
    found.collect(parameters, [&] { foundation = make_foundation(deck, parameters, foundation.context); });
    if (ranks && foundation.problem)
        found.collect([&] { align_cuts(foundation, deck, {&parameters}, ranks, without); });
    if (foundation.problem) {
        check_counts_of_steps(parameters, *foundation.problem, found);
        found.collect([&] { check_diagnostics(parameters, foundation.problem->diagnostic_names()); });
        found.collect([&] {
            check_error_norm(parameters, foundation.problem->error_names(), foundation.problem->shape().regime);
        });
    }
    std::optional<LongWork> planning;
    if (has_general_matrix(parameters) && is_first_rank(foundation.context))
        planning.emplace(planning_text(parameters));
    Case built = build_on(foundation, std::move(deck), asked.overrides, std::move(parameters), found);
    planning.reset();
    if (!asked.may_go_on || !initial_file_is_missing(built)) check_initial_file(built);
    return built;
}

Foundation build_foundation(const Deck& deck, const Parameters& parameters, const std::shared_ptr<Communicator>& ranks,
                            const std::vector<const Parameters*>& cases) {
    const Context context = make_context(parameters, ranks);
    Foundation made = make_foundation(deck, parameters, context);
    if (ranks) align_cuts(made, deck, cases, ranks);
    return made;
}

Foundation foundation_of(const Case& a_case) {
    Foundation foundation{a_case.context, a_case.problem, files_of(a_case.deck, a_case.context),
                          a_case.context.ranks() && has_general_matrix(a_case.parameters)};
    (*foundation.forms)[form_key(a_case.parameters)] = a_case.problem;
    return foundation;
}

Case build_case(Deck deck, const std::vector<std::string>& overrides, Parameters parameters,
                const Foundation& foundation) {
    Contradictions found;
    if (foundation.context.ranks()) {
        found.collect([&] { check_ranks(parameters); });
        found.collect([&] { check_cuts(foundation, parameters); });
        found.report();  // nothing may be planned on cuts that are not allowed
    }
    return build_on(foundation, std::move(deck), overrides, std::move(parameters), found);
}

}  // namespace hyperplane
