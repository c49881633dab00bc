// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/head_prediction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/base/json_text.hpp"
#include "apps/deck/named_deck.hpp"
#include "core/counted.hpp"
#include "core/graph/orderings.hpp"
#include "core/with_place.hpp"
#include "io/matrix_files.hpp"
#include "precond/registry.hpp"
#include "precond/scaling/scaled.hpp"
#include "problems/matrix.hpp"
#include "problems/matrix_input.hpp"
#include "solvers/eisenstat_cg.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

bool is_of_file(const Parameters& parameters) {
    return parameters.text("problem", "name") == "matrix";
}

std::string file_of(const Deck& deck, const Parameters& parameters) {
    return (std::filesystem::path(folder_of(deck)) / parameters.text("problem", "file")).string();
}

bool adds_repeated(const Parameters& parameters) {
    return parameters.text("problem", "repeated_entries") == "add";
}

/// Refuses what the head of a file does not suffice for.
void check_head_suffices(const Parameters& parameters, const Context& context) {
    if (!is_of_file(parameters))
        throw UsageError(
            fmt::format("--header reads the head of a matrix's file, for problem.name = matrix; {}: {} has "
                        "no such file, so leave --header out",
                        parameters.where("problem", "name"), parameters.text("problem", "name")));
    if (context.backend() == Backend::cuda)
        throw UsageError(
            "--header predicts the memory of a run on a CPU; on a GPU it depends on the lengths of the rows. Leave "
            "--header out, so that the file is read, or add --backend cpu");
    if (ranks_of(parameters) > 1)
        throw UsageError(parameters.where("device", "ranks") + ": --header predicts the memory of one rank alone");
    find_row(orderings(), "ordering", parameters.text("ordering", "name"));
}

/// Refuses a solver or a preconditioner that no matrix in such blocks would suit, as the smallest one shows.
void check_components(const Parameters& parameters, const Context& context, const Solver& solver, int dof,
                      bool symmetric) {
    const auto one =
        std::make_shared<const BlockPattern>(context, std::vector<Index>{0, 1}, std::vector<int>{0}, "smallest matrix");
    const PreconditionerSetting setting{context, {one, dof, symmetric}, asks_for_eisenstat(parameters)};
    const PreconditionerRow& row = find_preconditioner(parameters.text("preconditioner", "name"));
    check_storage(row, parameters);
    check_matrix(row, scaled_setting(parameters, setting));
    const PreconditionerPlan plan = plan_scaled(row, parameters, setting);
    solver.check_operator(parameters.text("problem", "name"), symmetric);
    solver.check(name_with_causes(row, parameters, plan.traits), plan.traits);
}

/// Leaves the sizes of blocks that solver and preconditioner take. Throws what is wrong with the first if they take
/// none.
void check_block_sizes(const Parameters& parameters, const Context& context, const Solver& solver, bool symmetric,
                       std::vector<int>& sizes) {
    std::exception_ptr first;
    std::erase_if(sizes, [&](int dof) {
        try {
            check_components(parameters, context, solver, dof, symmetric);
            return false;
        } catch (const UsageError&) {
            if (!first) first = std::current_exception();
            return true;
        }
    });
    if (sizes.empty()) std::rethrow_exception(first);
}

/// Returns the bytes that are held, beside the matrix in the given order and the order itself, while rows are put in
/// another order: a second matrix with its pattern, and where each block comes from, or then a second right-hand side.
Index bytes_of_reordering(const BlockCounts& a) {
    return BlockPattern::bytes(a.rows, a.blocks) + a.value_bytes() +
           std::max(a.blocks * Index(sizeof(Index)), a.rows * a.dof * Index(sizeof(double)));
}

/// The most that is held while the order is found (core/graph): the graph of the pattern and its transpose, with a copy
/// whose numbers have 8 bytes for METIS, and up to four numbers a row besides.
Index most_bytes_of_finding_an_order(const BlockCounts& a) {
    const Index edges = 2 * a.blocks, vertices = a.rows + 1;
    return edges * Index(sizeof(int)) + vertices * Index(sizeof(Index)) + (edges + 5 * vertices) * Index(sizeof(Index));
}

/// The bytes of an order, and the most that is held beside the given matrix while it is found and rows are put in it.
struct OrderBytes {
    Index held = 0, most = 0;
};
/// `finding`: bytes that are held while an order of the rows is found, which may have been matched before.
OrderBytes bytes_of_order(const Parameters& parameters, const BlockCounts& a, Index finding) {
    if (keeps_given_order(parameters)) return {};
    const Index numbers = a.rows * Index(sizeof(int));
    if (!asks_for_matching(parameters)) return {2 * numbers, std::max(2 * numbers + bytes_of_reordering(a), finding)};
    const Index order = 3 * numbers, matching = numbers;
    return {order,
            std::max({bytes_of_matching(a.rows, a.blocks), finding + matching + BlockPattern::bytes(a.rows, a.blocks),
                      order + matching + bytes_of_reordering(a)})};
}

/// The memory of a run as Case::memory_plan predicts it, for a linear steady problem of whose matrix only the counts
/// are known.
MemoryPlan memory_of(const BlockCounts& a, const std::string& preconditioner, Index held, Index setup,
                     const Solver& solver, const OrderBytes& order) {
    const Index vector = a.rows * a.dof * Index(sizeof(double)), krylov = solver.work_vectors() * vector,
                scalars = solver.work_scalars() * Index(sizeof(double));
    MemoryPlan memory;
    memory.by_label["matrix"] = a.value_bytes();
    memory.by_label["preconditioner " + preconditioner] = held;
    memory.by_label["Krylov vectors"] = krylov;
    memory.by_label["Krylov scalars"] = scalars;
    // The set-up takes place before the solver allocates either.
    if (const Index more = setup - krylov - scalars; more > 0)
        memory.by_label["set-up of preconditioner " + preconditioner] = more;
    memory.by_label["state, b, correction"] = 3 * vector;
    const Index data = BlockPattern::bytes(a.rows, a.blocks) + a.value_bytes() + vector;
    memory.by_label["problem data"] = data + order.held;
    if (const Index more = data + order.most - memory.total(); order.most > 0 && more > 0)
        memory.by_label["construction of the problem"] = more;
    return memory;
}

/// The sizes of blocks that the deck or the numbers of rows and entries allow: blocks that are found have no gaps.
std::vector<int> block_sizes(const Parameters& parameters, const MatrixHead& head) {
    if (const auto given = given_block_size(parameters, head.rows, head.block)) return {*given};
    std::vector<int> sizes;
    const Index least = adds_repeated(parameters) ? 0 : head.entries;
    for (Index dof = 1; dof <= max_dof; ++dof)
        if (head.rows % dof == 0 && head.most_entries / (dof * dof) * (dof * dof) >= least) sizes.push_back(int(dof));
    return sizes;
}

/// Leaves those of `sizes` whose blocks make no more block rows than a matrix may have. Throws UsageError if they all
/// do.
void check_block_rows(const Parameters& parameters, const MatrixHead& head, std::vector<int>& sizes) {
    std::erase_if(sizes, [&](int dof) { return head.rows / dof > most_block_rows; });
    if (sizes.empty())
        throw UsageError(
            fmt::format("{}: {} rows make more than {} block rows, the most of a matrix; problem.block = N makes fewer "
                        "of them, of N rows each, where N divides the rows",
                        parameters.where("problem", "file"), head.rows, most_block_rows));
}

/// The conditions under which a run needs more than the least.
std::string conditions(const Parameters& parameters, const HeadPrediction& made) {
    std::vector<std::string> all;
    if (!made.pattern_decides.empty()) all.push_back(made.pattern_decides);
    if (made.head.symmetry_open) all.emplace_back("the file, which has no banner, holds one triangle");
    if (made.block_sizes.size() > 1)
        all.push_back(fmt::format("blocks have another size ({} are possible)", fmt::join(made.block_sizes, ", ")));
    else if (made.block_sizes.front() > 1)
        all.emplace_back("blocks have gaps, which zeros fill");
    if (made.by_level || (made.head.most_entries > made.head.entries && !made.head.symmetry_open))
        all.emplace_back("diagonal entries are missing");
    if (made.by_level) all.emplace_back("levels have so many rows that threads share them");
    if (!keeps_given_order(parameters)) all.emplace_back("to find the order takes more than the run");
    return fmt::format("{}", fmt::join(all, ", or "));
}

void print_text(const AskedDeck& asked, const Parameters& parameters, const HeadPrediction& made, Index left,
                bool fits) {
    const MatrixHead& head = made.head;
    fmt::print("{} is valid as far as the head of {} tells: {} rows, {}{} entries\n", asked.deck.file, made.file,
               head.rows, head.entries,
               head.most_entries > head.entries ? fmt::format(" to {}", head.most_entries) : "");
    fmt::print("{} with {}, on a CPU\n", parameters.text("solver", "name"), parameters.text("preconditioner", "name"));
    const bool sure = made.block_sizes.size() == 1 && !adds_repeated(parameters) && made.pattern_decides.empty();
    fmt::print("memory it will need{}:\n{}{}: {} left\n",
               made.exact() && sure ? ", exactly"
               : sure               ? ", exactly but for the conditions below"
                                    : ", at least",
               made.memory.table(), fits ? "fits" : "does not fit", in_mib(left));
    const Index most = made.memory.total() + made.memory.more;
    if (!made.exact())
        fmt::print("at most {}, if {}{}\n", in_mib(most), made.memory.more_when,
                   most <= left ? "" : "; that would not fit");
    if (adds_repeated(parameters)) fmt::print("less than either, if entries are given more than once\n");
    fmt::print("to read the file takes at least {}, before the run\n", in_mib(head.reading_bytes));
}

}  // namespace

HeadPrediction predict_from_head(const Deck& deck, const Parameters& parameters, const Context& context) {
    check_head_suffices(parameters, context);
    refuse_keys_of_others(parameters);
    const auto solver = find_row(solvers(), "solver", parameters.text("solver", "name")).create(parameters, context);
    HeadPrediction made;
    made.file = file_of(deck, parameters);
    made.head = with_place(parameters.where("problem", "file"),
                           [&] { return read_matrix_head(made.file, file_symmetry(parameters)); });
    check_repeated_entries(parameters, made.head.each_once);
    made.block_sizes = block_sizes(parameters, made.head);
    check_block_rows(parameters, made.head, made.block_sizes);
    check_block_sizes(parameters, context, *solver, !made.head.unsymmetric, made.block_sizes);

    const std::string& name = parameters.text("preconditioner", "name");
    Index most = 0;
    for (const int dof : made.block_sizes) {
        const Index rows = made.head.rows / dof, size = Index(dof) * dof;
        const bool filled = dof == 1 || parameters.text("problem", "block") == "auto";
        const BlockCounts fewest{rows, (made.head.entries + size - 1) / size, dof};
        // Where blocks have gaps, each entry may have a block of its own, up to the number of all blocks.
        const Index apart = rows <= made.head.most_entries / rows ? rows * rows : made.head.most_entries;
        const BlockCounts largest{rows, filled ? made.head.most_entries / size : apart, dof};
        const CountedPlan low = plan_by_counts(parameters, context, fewest);
        const CountedPlan high = plan_by_counts(parameters, context, largest);
        made.pattern_decides = high.most_when;
        made.by_level = high.by_level;
        MemoryPlan least =
            memory_of(fewest, name, low.bytes, low.setup_bytes, *solver, bytes_of_order(parameters, fewest, 0));
        const OrderBytes order = bytes_of_order(parameters, largest, most_bytes_of_finding_an_order(largest));
        most = std::max(most, memory_of(largest, name, high.most_bytes, high.most_setup_bytes, *solver, order).total());
        if (made.memory.by_label.empty() || least.total() < made.memory.total()) made.memory = std::move(least);
    }
    made.memory.more = most - made.memory.total();
    made.memory.more_when = conditions(parameters, made);
    return made;
}

void refuse_larger_than_memory(const Deck& deck, const Parameters& parameters, int readers) {
    if (!is_of_file(parameters)) return;
    MatrixHead head;
    const std::string file = file_of(deck, parameters);
    try {
        head = read_matrix_head(file, file_symmetry(parameters));
    } catch (const FileError&) {
        return;
    }
    if (head.rows > most_block_rows) {
        std::vector<int> sizes = block_sizes(parameters, head);
        check_block_rows(parameters, head, sizes);
    }
    const Index left = available_memory();
    if (readers * head.reading_bytes <= left) return;
    throw OutOfMemory(fmt::format(
        "{}: {}: its head announces {} rows and {} entries; to read them takes at least {}{}, and {} are left on this "
        "machine (hyperplane check --header predicts what the run needs without reading them)",
        parameters.where("problem", "file"), file, head.rows, head.entries, in_mib(head.reading_bytes),
        readers > 1 ? fmt::format(" on each of {} ranks", readers) : "", in_mib(left)));
}

int check_header(const AskedDeck& asked, bool json) {
    const Parameters parameters = resolved(asked);
    const Context context = make_context(parameters, nullptr, WithoutGpu::plan);
    const HeadPrediction made = predict_from_head(asked.deck, parameters, context);
    const Index left = available_memory(parameters), total = made.memory.total();
    const bool fits = total <= left && made.head.reading_bytes <= available_memory();
    if (json) {
        fmt::print("{}", to_text({{"problem", "matrix"},
                                  {"solver", parameters.text("solver", "name")},
                                  {"preconditioner", parameters.text("preconditioner", "name")},
                                  {"device", describe(context)},
                                  {"from_header", true},
                                  {"unknowns", made.head.rows},
                                  {"entries", {made.head.entries, made.head.most_entries}},
                                  {"block_sizes", made.block_sizes},
                                  {"exact", made.exact() && !adds_repeated(parameters)},
                                  {"memory",
                                   {{"predicted", total},
                                    {"most", total + made.memory.more},
                                    {"most_if", made.exact() ? "" : made.memory.more_when},
                                    {"by_label", made.memory.by_label},
                                    {"reading", made.head.reading_bytes}}},
                                  {"memory_left", left},
                                  {"fits", fits}}));
    } else {
        print_text(asked, parameters, made, left, fits);
    }
    return int(fits ? ExitCode::ok : ExitCode::out_of_memory);
}

}  // namespace hyperplane
