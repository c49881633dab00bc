// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string_view>

#include "apps/deck/schema.hpp"
#include "apps/run/fields.hpp"
#include "apps/run/initial_state.hpp"
#include "apps/run/ranks.hpp"
#include "core/graph/orderings.hpp"
#include "core/ranks/aligned.hpp"
#include "core/ranks/links_cuda.hpp"
#include "io/checkpoint.hpp"
#include "io/matrix_files.hpp"
#include "io/record.hpp"
#include "io/rival_names.hpp"
#include "precond/scaling/scaled.hpp"
#include "problems/general_form.hpp"
#include "problems/on_ranks.hpp"
#include "problems/registry.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

/// Runs several steps and combines the UsageErrors of all of them into one.
class Contradictions {
public:
    template <class Step>
    void collect(const Step& step) {
        try {
            step();
        } catch (const UsageError& error) {
            add(error.what());
        }
    }
    /// Several parts of a case may find the same contradiction.
    void add(const std::string& message) {
        if (text_.find(message) == text_.npos) text_ += (text_.empty() ? "" : "\n") + message;
    }
    void report() const {
        if (!text_.empty()) throw UsageError(text_);
    }

private:
    std::string text_;
};

/// The files of a deck, whose names are relative to the deck's folder.
InputFiles files_of(const Deck& deck, int threads) {
    const std::filesystem::path folder = folder_of(deck);
    const auto resolve = [folder](const std::string& path) { return (folder / path).string(); };
    return {
        .matrix = [resolve, threads](const std::string& path,
                                     FileSymmetry symmetry) { return read_matrix(resolve(path), symmetry, threads); },
        .vector = [resolve](const std::string& path) { return read_vector(resolve(path)); },
        .doubles = [resolve](const std::string& path, Index count) { return read_doubles(resolve(path), count); },
    };
}

IndexSpace choose_space(const Parameters& parameters, const PreconditionerPlan& plan) {
    const std::string& asked = parameters.text("device", "layout");
    if (asked == "auto" || asked == plan.space.name()) return plan.space;
    if (!plan.space.has_grid())
        throw UsageError(parameters.where("device", "layout") +
                         ": a general matrix has plain rows and no layout; leave the key out");
    const Layout& layout = plan.space.layout();
    if (layout.is_part())
        throw UsageError(parameters.where("device", "layout") +
                         ": several ranks need the natural layout; leave the key out");
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

/// Refuses keys that count time steps where there are none.
void check_counts_of_steps(const Parameters& p, const Problem& problem) {
    if (problem.shape().regime != Regime::steady) return;
    for (const auto& [key, instead] :
         {std::pair("checkpoint_every", "checkpoint_minutes makes checkpoints within a solve"),
          std::pair("fields_every", "fields = true writes the solution")})
        if (p.is_given("output", key))
            throw UsageError(fmt::format("{}: {} is steady, so there are no time steps to count; output.{}",
                                         p.where("output", key), p.text("problem", "name"), instead));
}

std::shared_ptr<const Problem> make_problem(const Deck& deck, const Parameters& parameters, const Context& context) {
    return find_row(problems(), "problem", parameters.text("problem", "name"))
        .create(parameters, context, files_of(deck, context.threads()));
}

/// Makes context and problem again if the preconditioners of some cases do not allow every cut between ranks. Which
/// cuts they allow depends on the problem's shape.
void align_cuts(Foundation& foundation, const Deck& deck, const std::vector<const Parameters*>& cases,
                const std::shared_ptr<Communicator>& ranks) {
    const MatrixShape matrix = foundation.problem->shape().matrix();
    if (matrix.kind() != MatrixKind::structured) return;
    int planes = 1;
    for (const Parameters* parameters : cases)
        if (const auto& row = find_preconditioner(parameters->text("preconditioner", "name")); row.planes_together)
            planes = std::lcm(planes, row.planes_together(*parameters, {foundation.context, matrix}));
    if (planes == 1) return;
    foundation = {make_context(*cases.front(), std::make_shared<AlignedRanks>(ranks, planes)), nullptr};
    foundation.problem = make_problem(deck, *cases.front(), foundation.context);
}

/// The problem in the form that matrix.format asks for.
std::shared_ptr<const Problem> in_format(const std::shared_ptr<const Problem>& problem, const Parameters& parameters,
                                         const Context& context) {
    const std::string& format = parameters.text("matrix", "format");
    const bool general = problem->shape().matrix().kind() == MatrixKind::general;
    if (format == "structured" && general)
        throw UsageError(fmt::format("{}: {} has no grid, so its matrix is general; leave the key out",
                                     parameters.where("matrix", "format"), parameters.text("problem", "name")));
    if (format != "general" || general) return problem;
    return general_form(problem, context);
}

/// The problem in the order that [ordering] asks for.
std::shared_ptr<const Problem> in_order(const std::shared_ptr<const Problem>& problem, const Parameters& parameters) {
    if (parameters.text("ordering", "name") == orderings().front().name) return problem;
    if (!problem->shape().pattern)
        throw UsageError(
            fmt::format("{}: rows on a grid have the order of the grid; set matrix.format = general, or "
                        "leave the key out",
                        parameters.where("ordering", "name")));
    return problem->in_order(make_order(*problem->shape().pattern, parameters));
}

/// The problem in the form and order that the deck asks for, made once for all cases that agree about them.
std::shared_ptr<const Problem> in_form(const Foundation& foundation, const Parameters& parameters) {
    std::string key;
    for (const Parameters::Value& value : parameters.all())
        if (value.spec.section == "matrix" || value.spec.section == "ordering")
            key += value.spec.name() + '=' + value.text + '\n';
    std::shared_ptr<const Problem>& made = (*foundation.forms)[key];
    if (made) return made;
    made = in_order(in_format(foundation.problem, parameters, foundation.context), parameters);
    if (foundation.context.ranks()) made = on_ranks(made);
    return made;
}

/// Makes solver and preconditioner; the preconditioner only if there is a problem. Throws the contradictions found.
Case build_on(const Foundation& foundation, Deck deck, const std::vector<std::string>& overrides, Parameters parameters,
              Contradictions& found) {
    const Context& context = foundation.context;
    std::shared_ptr<const Problem> problem;
    if (foundation.problem) found.collect([&] { problem = in_form(foundation, parameters); });
    if (problem) set_regime_defaults(parameters, problem->shape());
    std::unique_ptr<Solver> solver;
    std::unique_ptr<Preconditioner> preconditioner;
    PreconditionerPlan plan;
    NewtonOptions newton;
    TimeOptions time;
    const auto& row = find_preconditioner(parameters.text("preconditioner", "name"));
    found.collect(
        [&] { solver = find_row(solvers(), "solver", parameters.text("solver", "name")).create(parameters, context); });
    if (problem) {
        found.collect([&] { newton = newton_options(parameters, problem->shape()); });
        found.collect([&] { time = time_options(parameters, problem->shape()); });
        found.collect([&] {
            const PreconditionerSetting setting{context, problem->shape().matrix()};
            check_storage(row, parameters);
            check_matrix(row, scaled_setting(parameters, setting));
            plan = plan_scaled(row, parameters, setting);
            preconditioner = create_scaled(row, parameters, setting);
        });
    }
    if (solver && preconditioner)
        found.collect([&] {
            solver->check_operator(parameters.text("problem", "name"), problem->shape().symmetric);
            solver->check(row.name, plan.traits);
        });
    found.report();

    IndexSpace space = choose_space(parameters, plan);
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

/// Throws a UsageError that names the section if --set has a key without one, or a section without a key.
void check_section(const std::string& text) {
    const std::string word = text.substr(0, text.find('=')), rest = text.substr(word.size());
    if (word.empty() || word.find('.') != word.npos) return;
    std::vector<std::string> meant;
    const auto look_at = [&](const ParameterSpec& spec) {
        if (spec.key == word || (spec.section == word && spec.key == "name"))
            if (std::find(meant.begin(), meant.end(), spec.name()) == meant.end()) meant.push_back(spec.name());
    };
    const DeckSchema schema = deck_schema();
    for (const ParameterSpec& spec : schema.common) look_at(spec);
    for (const auto& component : schema.components)
        for (const ParameterSpec& spec : component.parameters) look_at(spec);
    if (const std::string rival = rival_name(word); meant.empty() && !rival.empty()) meant = {rival};
    if (meant.empty()) return;
    for (std::string& name : meant) name += rest;
    throw UsageError(
        fmt::format("--set '{}': expected section.key=value; did you mean {}?", text, fmt::join(meant, " or ")));
}

/// Turns the lines `key = value  ; default` in records of version 0.1 into lines `key ?= value`.
std::string with_defaults_marked(const std::string& resolved) {
    constexpr std::string_view mark = "  ; default";
    std::string text;
    std::istringstream lines(resolved);
    for (std::string line; std::getline(lines, line); text += line + '\n')
        if (const std::size_t equals = line.find(" = "); equals != line.npos && line.ends_with(mark))
            line.replace(equals, 3, " ?= ");
    return text;
}

}  // namespace

Index MemoryPlan::total() const {
    Index sum = 0;
    for (const auto& [label, bytes] : by_label) sum += bytes;
    return sum;
}

std::string MemoryPlan::table() const {
    MemoryLedger ledger;
    for (const auto& [label, bytes] : by_label) ledger.add(label, bytes);
    return ledger.table();
}

std::optional<Index> Case::steps() const {
    if (shape().regime == Regime::steady) return 1;
    return time.steps > 0 ? std::optional(time.steps) : std::nullopt;
}

MemoryPlan Case::memory_plan(bool solved_before) const {
    const Index vector = space.slots_in_memory() * shape().dof * Index(sizeof(double));
    const Index matrix = bytes_of(shape().matrix(), space, context.backend());
    MemoryPlan memory;
    memory.by_label["matrix"] = matrix;
    if (shape().separate_preconditioner_matrix) memory.by_label["preconditioner matrix"] = matrix;
    memory.by_label["preconditioner " + name("preconditioner")] = plan.bytes;
    memory.more = std::max<Index>(0, plan.most_bytes - plan.bytes);
    memory.more_when = plan.most_when;
    const Index krylov = solver->work_vectors() * vector;
    memory.by_label["Krylov vectors"] = krylov;
    // The first set-up takes place before the solver allocates its vectors.
    const bool set_up_once = !solved_before && shape().linear && steps() == 1;
    if (const Index more = plan.setup_bytes - (set_up_once ? krylov : 0); more > 0)
        memory.by_label["set-up of preconditioner " + name("preconditioner")] = more;
    memory.by_label["state, b, correction"] = 3 * vector;
    const Newton::Vectors held = Newton::vectors(shape(), newton);
    if (held.trial > 0) memory.by_label["trial state"] = held.trial * vector;
    if (held.setup > 0) memory.by_label["state of the set-up"] = held.setup * vector;
    if (time.vectors() > 0) memory.by_label["states before"] = time.vectors() * vector;
    if (const Index held = context.ledger().held()) memory.by_label["problem data"] = held;
    if (const Communicator* ranks = context.ranks(); ranks && context.backend() == Backend::cuda)
        memory.by_label["exchange between ranks"] = RankLinks::bytes(ranks->size());
    if (parameters.integer("output", "fields_every") > 0 && context.backend() == Backend::cpu)
        memory.by_label["fields"] = fields_on_disk(*this).memory;
    // Reading, ordering and copying a general matrix may hold more than the run.
    if (const Index more = solved_before ? 0 : context.ledger().peak() - memory.total(); more > 0 && shape().pattern)
        memory.by_label["construction of the problem"] = more;
    return memory;
}

std::string Case::record_path() const {
    if (parameters.is_set("output", "file")) return parameters.text("output", "file");
    return std::filesystem::path(deck.file).stem().string() + (deck.of_record ? "_again.h5" : ".h5");
}

std::string Case::fields_path() const {
    return std::filesystem::path(record_path()).replace_extension(".vtkhdf").string();
}

std::string Case::profile_path() const {
    return std::filesystem::path(record_path()).replace_extension(".profile.json").string();
}

std::string Case::series_path() const {
    return std::filesystem::path(record_path()).replace_extension().string() + "_series.vtkhdf";
}

std::string Case::series_folder() const {
    return std::filesystem::path(record_path()).replace_extension().string() + "_series";
}

void Case::guard_outputs() const {
    guard_output(record_path(), FileKind::record, overwrite);
    guard_output(record_path() + ".part", FileKind::record, overwrite);
    if (parameters.boolean("output", "fields")) guard_output(fields_path(), FileKind::fields, overwrite);
    if (parameters.boolean("output", "profile")) guard_output(profile_path(), FileKind::json, overwrite);
    if (parameters.integer("output", "fields_every") > 0) {
        guard_output(series_path(), FileKind::fields, overwrite);
        if (std::filesystem::exists(series_folder()) && !std::filesystem::is_directory(series_folder()))
            throw FileError(
                fmt::format("{} exists and is no folder, and output.fields_every keeps its files in a folder of that "
                            "name; set output.file to another name",
                            series_folder()));
    }
    if (parameters.integer("output", "checkpoint_every") > 0 || parameters.is_set("output", "checkpoint_minutes"))
        CheckpointSlots(record_path(), overwrite).guard();
}

std::vector<std::string> deck_overrides(const Invocation& invocation) {
    std::vector<std::string> overrides = invocation.values("set");
    for (const std::string& text : overrides) check_section(text);
    if (invocation.has("threads"))
        overrides.push_back(fmt::format("device.threads={}", parse_count("threads", invocation.value("threads"), 1)));
    if (invocation.has("backend")) overrides.push_back("device.backend=" + invocation.value("backend"));
    return overrides;
}

std::string folder_of(const Deck& deck) {
    return deck.folder.empty() ? std::filesystem::path(deck.file).parent_path().string() : deck.folder;
}

std::string absolute_folder_of(const Deck& deck) {
    const std::string folder = folder_of(deck);  // of a.ini alone: none, which std::filesystem::absolute refuses
    return (folder.empty() ? std::filesystem::current_path() : std::filesystem::absolute(folder)).string();
}

/// Whether a file begins as files of results do, behind a seal (io/sealed_file.hpp) or as HDF5; a deck never does.
bool holds_results(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) return false;  // a FIFO can be read once
    std::array<char, 11> bytes{};
    std::ifstream(path, std::ios::binary).read(bytes.data(), bytes.size());
    const std::string_view head(bytes.data(), bytes.size());
    return head == "hyperplane " || head.substr(0, 4) == "\x89HDF";
}

Deck read_deck_or_record(const std::string& path) {
    if (!holds_results(path)) return read_deck(path);
    const RecordData record = read_record(path);
    Deck deck = parse_deck(with_defaults_marked(record.deck_resolved), path);
    std::erase_if(deck.entries, [](const DeckEntry& entry) { return entry.name() == "output.file"; });
    deck.folder = record.deck_folder.empty() ? std::filesystem::path(record.deck_file).parent_path().string()
                                             : record.deck_folder;
    deck.of_record = true;
    return deck;
}

/// Throws UsageError if the deck is a study.
Deck read_deck_of_case(const Invocation& invocation) {
    Deck deck = read_deck_or_record(invocation.arguments.at(0));
    for (const DeckLine& section : deck.sections)
        if (section.text == "sweep")
            throw UsageError(
                fmt::format("{0}:{1}: with a section [sweep] this is a study: hyperplane study run {0} runs "
                            "its cases, hyperplane run {0} --case NAME one of them",
                            deck.file, section.line));
    return deck;
}

Case read_case(const Invocation& invocation, const std::shared_ptr<Communicator>& ranks) {
    const std::vector<std::string> overrides = deck_overrides(invocation);
    Case made = build_case(read_deck_of_case(invocation), overrides, ranks);
    made.overwrite = invocation.overwrite();
    return made;
}

Case build_case(Deck deck, const std::vector<std::string>& overrides, const std::shared_ptr<Communicator>& ranks) {
    std::vector<DeckEntry> entries;
    for (const std::string& text : overrides) entries.push_back(parse_override(text));
    Parameters parameters = resolve(deck, entries, deck_schema());
    Contradictions found;
    check_expectations(parameters, found);
    Foundation foundation{make_context(parameters, ranks), nullptr};
    if (ranks) found.collect([&] { check_ranks(parameters, foundation.context.backend()); });
    found.collect([&] { foundation.problem = make_problem(deck, parameters, foundation.context); });
    if (ranks && foundation.problem) found.collect([&] { align_cuts(foundation, deck, {&parameters}, ranks); });
    if (foundation.problem) found.collect([&] { check_counts_of_steps(parameters, *foundation.problem); });
    Case built = build_on(foundation, std::move(deck), overrides, std::move(parameters), found);
    check_initial_file(built);
    return built;
}

Foundation build_foundation(const Deck& deck, const Parameters& parameters, const std::shared_ptr<Communicator>& ranks,
                            const std::vector<const Parameters*>& cases) {
    const Context context = make_context(parameters, ranks);
    Foundation made{context, make_problem(deck, parameters, context)};
    if (ranks) align_cuts(made, deck, cases, ranks);
    return made;
}

Case build_case(Deck deck, const std::vector<std::string>& overrides, Parameters parameters,
                const Foundation& foundation) {
    Contradictions found;
    if (foundation.context.ranks()) found.collect([&] { check_ranks(parameters, foundation.context.backend()); });
    return build_on(foundation, std::move(deck), overrides, std::move(parameters), found);
}

}  // namespace hyperplane
