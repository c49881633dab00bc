// SPDX-License-Identifier: BSD-3-Clause
#include "precond/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "precond/chebyshev/chebyshev.hpp"
#include "precond/cusparse_ilu/cusparse_ilu.hpp"
#include "precond/fgbilu/fgbilu.hpp"
#include "precond/jacobi/jacobi.hpp"
#include "precond/multicolor/multicolor.hpp"
#include "precond/multigrid/multigrid.hpp"
#include "precond/par_ilu/par_ilu.hpp"
#include "precond/par_ilut/par_ilut.hpp"
#include "precond/scaling/scaled.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"
#include "precond/subdomain/ildu0.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {

const std::vector<PreconditionerRow>& preconditioners() {
    static const std::vector<PreconditionerRow> rows = [] {
        std::vector<PreconditionerRow> made{struct_ilu_row(),
                                            fgbilu_row(make_exact_ilu),
                                            with_general_sweeps(jacobi_sweeps_row()),
                                            with_general_fixed_point(par_ilu_row()),
                                            multicolor_row(),
                                            with_general_parts(subdomain_ildu0_row()),
                                            chebyshev_row(jacobi_row()),
                                            jacobi_row(),
                                            cusparse_ilu_row(),
                                            sync_free_ilu_row(),
                                            par_ilut_row(),
                                            none_row()};
        for (PreconditionerRow& row : made)
            if (!row.storages.empty())
                row.parameters.push_back(factor_storage_parameter(row.storages, row.storage_note));
        made.insert(made.begin() + 1, multigrid_row(made, [](const PreconditionerRow& row, const Parameters& parameters,
                                                             const PreconditionerSetting& setting, const char* key) {
                        check_storage(row, parameters);
                        static const std::vector<PreconditionerRow> rows = smoothers();
                        check_matrix(row, setting, key, rows);
                    }));
        return made;
    }();
    return rows;
}

std::vector<PreconditionerRow> smoothers() {
    std::vector<PreconditionerRow> rows = preconditioners();
    std::erase_if(rows, [](const PreconditionerRow& row) { return !why_no_smoother(row).empty(); });
    return rows;
}

const PreconditionerRow& find_preconditioner(const std::string& name) {
    return find_row(preconditioners(), "preconditioner", name);
}

void check_storage(const PreconditionerRow& row, const Parameters& parameters) {
    const FactorStorage storage = factor_storage(parameters);
    const auto takes = [&](const PreconditionerRow& other) {
        return std::find(other.storages.begin(), other.storages.end(), storage) != other.storages.end();
    };
    if (row.storages.empty() || takes(row)) return;
    const auto shares_a_kind = [&](const PreconditionerRow& other) {
        return std::any_of(row.kinds.begin(), row.kinds.end(), [&](MatrixKind kind) { return other.takes(kind); });
    };
    std::vector<std::string> others;
    for (const PreconditionerRow& other : preconditioners())
        if (takes(other) && shares_a_kind(other)) others.push_back(other.name);
    throw RefusedKey(parameters, "preconditioner", "storage",
                     fmt::format(": {} stores its factors in {} alone, not in {}, which {} support{}{}", row.name,
                                 list_of(row.storages), to_string(storage), fmt::join(others, ", "),
                                 row.storage_note.empty() ? "" : "; ", row.storage_note));
}

std::string name_with_causes(const PreconditionerRow& row, const Parameters& parameters,
                             const PreconditionerTraits& traits) {
    if (!traits.fixed || traits.symmetric) return row.name;
    std::vector<std::string> causes;
    const auto add = [&](const char* section, const char* key) {
        const std::string where = std::string(section) == "preconditioner" ? "" : section + std::string(".");
        causes.push_back(fmt::format("{}{} = {}", where, key, parameters.text(section, key)));
    };
    const auto means = [&](const char* section, const char* key) {
        return parameters.has(section, key) && !parameters.unmet(section, key);
    };
    const auto add_unequal = [&](const char* section, const char* one, const char* other) {
        if (!means(section, one) || !means(section, other)) return;
        if (parameters.integer(section, one) == parameters.integer(section, other)) return;
        add(section, one);
        add(section, other);
    };
    if (parameters.has("scaling", "name") &&
        !find_row(scalings(), "scaling", parameters.text("scaling", "name")).keeps_symmetry())
        add("scaling", "name");
    if (means("preconditioner", "indefinite") && parameters.boolean("preconditioner", "indefinite"))
        add("preconditioner", "indefinite");
    if (row.name == "multigrid" && parameters.text("preconditioner", "cycle") == "f") add("preconditioner", "cycle");
    add_unequal("preconditioner", "pre_smoothing", "post_smoothing");
    for (const char* section : {"preconditioner", "smoother"}) add_unequal(section, "lower_sweeps", "upper_sweeps");
    return causes.empty() ? row.name : fmt::format("{} with {}", row.name, fmt::join(causes, " and "));
}

void check_matrix(const PreconditionerRow& row, const PreconditionerSetting& setting) {
    check_matrix(row, setting, "preconditioner.name", preconditioners());
}

void check_matrix(const PreconditionerRow& row, const PreconditionerSetting& setting, const char* key,
                  const std::vector<PreconditionerRow>& rows) {
    const auto takes_symmetry = [&](const PreconditionerRow& one) {
        return !one.needs_symmetry || setting.matrix.symmetric();
    };
    const bool kind = row.takes(setting.matrix.kind());
    if (kind && takes_symmetry(row)) return;
    const std::string& scaling = setting.unsymmetric_by;
    std::vector<std::string> others;
    const bool on_cpu = setting.context.backend() == Backend::cpu;
    for (const PreconditionerRow& other : rows)
        if (other.takes(setting.matrix.kind()) && takes_symmetry(other) && !(on_cpu && other.baseline))
            others.push_back(other.name);
    const bool general = setting.matrix.kind() == MatrixKind::general;
    const bool has_counterpart = !kind && general && !row.general_counterpart.empty();
    throw UsageError(fmt::format(
        "{} = {} {}; use {}{}", key, row.name,
        kind && !scaling.empty()
            ? fmt::format("needs a symmetric matrix, and with scaling.name = {} this one is not", scaling)
        : kind    ? "needs a symmetric matrix, and this one is not"
        : general ? "takes matrices on a grid alone, and this one is general"
                  : "takes general matrices alone, and this one is on a grid (matrix.format = general makes it one)",
        (kind && !scaling.empty() ? "scaling.name = symmetric, which keeps it symmetric, or another preconditioner: "
                                  : "") +
            fmt::format("{}", fmt::join(others, ", ")),
        has_counterpart ? "; " + row.general_counterpart : ""));
}

CountedPlan plan_by_counts(const Parameters& parameters, const Context& context, const BlockCounts& a) {
    const PreconditionerRow& row = find_preconditioner(parameters.text("preconditioner", "name"));
    if (!row.plan_by_counts)
        throw UsageError(parameters.where("preconditioner", "name") +
                         ": the memory that this takes follows from the pattern of the matrix, which the head of its "
                         "file does not give; leave --header out, so that the file is read");
    CountedPlan plan = row.plan_by_counts(parameters, context, a);
    plan.most_bytes = std::max(plan.most_bytes, plan.bytes);
    plan.most_setup_bytes = std::max(plan.most_setup_bytes, plan.setup_bytes);
    add_scaling(parameters, a, plan);
    return plan;
}

std::string default_preconditioner(MatrixKind kind) {
    return kind == MatrixKind::general ? "sync_free_ilu" : "struct_ilu";
}

ParameterTable common_preconditioner_parameters(MatrixKind kind) {
    ParameterSpec name{"preconditioner", "name", ParameterType::text, default_preconditioner(kind),
                       "the preconditioner (hyperplane list preconditioners); the default is struct_ilu on a grid; "
                       "sync_free_ilu for a general matrix, which is that of problem.name = matrix, or of any problem "
                       "with matrix.format = general"};
    return {name};
}

}  // namespace hyperplane
