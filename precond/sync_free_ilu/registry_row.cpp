// SPDX-License-Identifier: BSD-3-Clause
// How a deck's keys make sync_free_ilu.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "precond/choice_key.hpp"
#include "precond/ilu/ilu_preconditioner.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {
namespace {

constexpr std::pair<const char*, FactorVariant> variants[] = {
    {"auto", FactorVariant::automatic}, {"search", FactorVariant::search}, {"table", FactorVariant::table},
    {"shared", FactorVariant::shared},  {"vect", FactorVariant::vect},     {"adapt", FactorVariant::adapt},
    {"levs", FactorVariant::levs}};

/// Refuses what a variant cannot do, on a CPU, too, which does not use it: a deck then means the same everywhere.
/// `several_ranks`: whether ranks share the rows. Without a pattern `blocks` is 0.
FactorVariant read_variant(const Parameters& parameters, int dof, Index blocks, bool several_ranks) {
    const std::string name = parameters.text("preconditioner", "variant");
    const auto refuse = [&](const std::string& why, const char* otherwise = "") {
        throw RefusedKey(parameters, "preconditioner", "variant",
                         fmt::format(": {}; set variant = auto or search{}", why, otherwise));
    };
    const FactorVariant variant = std::ranges::find(variants, name, [](const auto& one) { return one.first; })->second;
    const bool table = variant == FactorVariant::table, published = is_published(variant);
    if (!table && !published) return variant;
    if (dof > 1)
        refuse(fmt::format("{} for matrices of one unknown, and this one has blocks of {}",
                           table ? "tables are" : fmt::format("{} is", name), dof));
    if (table && blocks > Index(std::numeric_limits<unsigned>::max())) refuse("tables number up to 4294967295 entries");
    if (several_ranks && parameters.text("preconditioner", "scope") == "global")
        refuse(
            fmt::format("{} is for the rows of one rank, and those of several depend on each other with scope = global",
                        name),
            ", or scope = rank, or take one rank");
    return variant;
}

FactorVariant read_variant(const Parameters& parameters, const MatrixShape& a) {
    if (a.kind() != MatrixKind::general) return read_variant(parameters, a.dof(), 0, false);
    return read_variant(parameters, a.dof(), a.pattern()->blocks(), a.pattern()->slab() != nullptr);
}

SyncFreeOptions read_options(const Parameters& parameters, const PreconditionerSetting& setting) {
    SyncFreeOptions options;
    options.fill_level = int(parameters.integer("preconditioner", "fill_level"));
    options.pivots = pivot_options(parameters);
    options.pivots.rules.indefinite = parameters.boolean("preconditioner", "indefinite");
    options.storage = factor_storage(parameters);
    options.variant = read_variant(parameters, setting.matrix);
    if (setting.matrix.kind() == MatrixKind::general)
        options.way = read_solve_way(parameters, setting.context.backend(), couples_ranks(parameters, setting));
    return options;
}

}  // namespace

PreconditionerRow sync_free_ilu_row() {
    PreconditionerRow row;
    row.name = "sync_free_ilu";
    row.summary = "ILU(k), or IC(k) of a symmetric matrix, of general matrices in the order of their rows";
    row.explanation =
        "Incomplete LU with fill level k on the pattern that the matrix's own graph gives, equal to sequential ILU(k) "
        "to "
        "rounding. The pattern is found once, in a symbolic part; matrices with the same pattern pay the numeric part "
        "alone. On a CPU the rows of one level are shared by the threads. Source: Freire, Dufrechou, Ezzatti, A "
        "synchronization-free incomplete LU factorization for GPUs with level-set analysis; fill by Hysom and Pothen.";
    row.kinds = {MatrixKind::general};
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.regular_splitting = true;
    row.on_general_ranks = true;
    row.parameters = ilu_parameters();
    row.parameters.push_back(scope_key());
    row.parameters.push_back(
        {.section = "preconditioner",
         .key = "indefinite",
         .type = ParameterType::boolean,
         .default_value = "false",
         .description = "whether pivots of a symmetric matrix may have either sign: L D L^T, with the factors "
                        "of ILU, in place of incomplete Cholesky. M is then not positive definite, so cg "
                        "refuses it; use gmres or bicgstab. It changes nothing for other matrices"});
    row.parameters.push_back(choice_key(
        "variant", "auto",
        "how a GPU finds the entries that two rows share; search: by a binary search in every numeric part "
        "(the paper's adapt, vect and levs together); table: once, in the symbolic part, of matrices of one "
        "unknown on one rank; auto: table where short rows have most entries and the tables are not much larger than "
        "the factors, and where no row has more than 15 blocks of 2 to 4 unknowns a search that waits for "
        "values themselves, and on several ranks with scope = global search. shared, vect, adapt and levs are the "
        "paper's variants one by one, for "
        "comparison, of matrices of one unknown on one rank; shared: 32 threads a row compare its columns "
        "with those of each row before it in shared memory; vect: the same, but a binary search where two "
        "rows have more than 128 entries together; adapt: as vect, with 1 to 32 threads a row by the average "
        "row; levs: as vect, with rows in the order of their levels, where the other three take them in "
        "natural order. The factors have the same bits, and on a CPU every variant is the same algorithm",
        {"auto", "search", "table", "shared", "vect", "adapt", "levs"}));
    row.parameters.push_back(solve_key());
    row.variants = {"ordering.name=multicolor"};  // the counterpart of the preconditioner multicolor
    row.variants_after_failure = {"indefinite=true"};
    row.plan_by_counts = [](const Parameters& parameters, const Context& context, const BlockCounts& a) {
        SyncFreeOptions options;
        options.fill_level = int(parameters.integer("preconditioner", "fill_level"));
        options.storage = factor_storage(parameters);
        options.variant = read_variant(parameters, a.dof, a.blocks, false);
        options.way = read_solve_way(parameters, context.backend(), false);
        return by_counts(options, context, a);
    };
    return with_general(std::move(row), read_options);
}

}  // namespace hyperplane
