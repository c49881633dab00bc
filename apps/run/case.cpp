// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "apps/run/expectations.hpp"
#include "apps/run/fields.hpp"
#include "core/ranks/links_cuda.hpp"
#include "io/checkpoint.hpp"
#include "io/companions.hpp"

namespace hyperplane {

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

bool Case::solution_belongs() const {
    return solution_belongs_to_run(parameters, shape().regime);
}

MemoryPlan Case::memory_plan(Moments moments) const {
    const Index vector = space.slots_in_memory() * shape().dof * Index(sizeof(double));
    const Index matrix = bytes_of(shape().matrix(), space, context.backend());
    MemoryPlan memory;
    memory.by_label["matrix"] = matrix;
    if (shape().separate_preconditioner_matrix) memory.by_label["preconditioner matrix"] = matrix;
    memory.by_label["preconditioner " + name("preconditioner")] = plan.bytes;
    memory.more = std::max<Index>(0, plan.most_bytes - plan.bytes);
    memory.more_when = plan.most_when;
    memory.host = plan.host_bytes;
    memory.host_use = plan.host_use;
    const Index krylov = solver->work_vectors() * vector;
    memory.by_label["Krylov vectors"] = krylov;
    const Index scalars = solver->work_scalars() * Index(sizeof(double));
    memory.by_label["Krylov scalars"] = scalars;
    // The first set-up takes place before the solver allocates either.
    const bool set_up_once = moments != Moments::after_first_solve && shape().linear && steps() == 1;
    // A and M have such sums each, in SolverOperators.
    if (shape().constant_null_space) memory.by_label["sums of components"] = 2 * shape().dof * Index(sizeof(double));
    if (const Index more = plan.setup_bytes - (set_up_once ? krylov + scalars : 0); more > 0)
        memory.by_label["set-up of preconditioner " + name("preconditioner")] = more;
    memory.by_label["state, b, correction"] = 3 * vector;
    const Newton::Vectors held = Newton::vectors(shape(), newton);
    if (held.trial > 0) memory.by_label["trial state"] = held.trial * vector;
    if (held.setup > 0) memory.by_label["state of the set-up"] = held.setup * vector;
    if (time.vectors() > 0) memory.by_label["states before"] = time.vectors() * vector;
    // The set-up takes over or releases what the plan keeps. For a GPU, the plan keeps it in the host's memory, not
    // here.
    const Index kept = plan.kept && context.backend() == Backend::cpu ? plan.kept->bytes() : 0;
    if (const Index data = context.ledger().held() - kept; data > 0) memory.by_label["problem data"] = data;
    if (const Communicator* ranks = context.ranks();
        ranks && context.backend() == Backend::cuda && !are_on_several_hosts(*ranks))
        memory.by_label["exchange between ranks"] = RankLinks::bytes(ranks->size());
    if (parameters.integer("output", "fields_every") > 0 && context.backend() == Backend::cpu)
        memory.by_label["fields"] = fields_on_disk(*this).memory;
    // Reading, ordering and copying a general matrix may hold more than the run.
    const bool constructs = moments == Moments::all && shape().pattern;
    if (const Index more = constructs ? context.ledger().peak() - memory.total() : 0; more > 0)
        memory.by_label["construction of the problem"] = more;
    return memory;
}

std::string Case::record_path() const {
    if (parameters.is_set("output", "file")) return parameters.text("output", "file");
    return std::filesystem::path(deck.file).stem().string() + (deck.of_record ? "_again.h5" : ".h5");
}

std::string Case::record_key() const {
    return parameters.is_set("output", "file") ? parameters.where("output", "file") : "output.file";
}

std::string Case::fields_path() const {
    return stem_of(record_path()) + ".vtkhdf";
}

std::string Case::profile_path() const {
    return stem_of(record_path()) + ".profile.json";
}

std::string Case::series_path() const {
    return stem_of(record_path()) + "_series.vtkhdf";
}

std::string Case::series_folder() const {
    return stem_of(record_path()) + "_series";
}

std::vector<std::string> Case::output_paths() const {
    std::vector<std::string> paths{record_path(), record_path() + ".part"};
    if (parameters.boolean("output", "fields")) paths.push_back(fields_path());
    if (parameters.boolean("output", "profile")) paths.push_back(profile_path());
    if (parameters.integer("output", "fields_every") > 0) paths.push_back(series_path());
    const CheckpointSlots slots(record_path());
    paths.insert(paths.end(), slots.paths().begin(), slots.paths().end());
    return paths;
}

void Case::guard_outputs() const {
    guard_output(record_path(), FileKind::record, overwrite);
    refuse_one_file_of_two(output_paths(), "a run", "remove the link, or set output.file to another name");
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

}  // namespace hyperplane
