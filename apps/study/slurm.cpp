// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "apps/base/quoting.hpp"
#include "apps/study/study.hpp"
#include "core/error.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {
namespace {

ParameterSpec key(std::string name, ParameterType type, std::string description, std::string default_value = "") {
    return {.section = "slurm",
            .key = std::move(name),
            .type = type,
            .default_value = std::move(default_value),
            .description = std::move(description)};
}

/// The predicted memory and a quarter more, for what is not in the ledger, and the memory of the program itself.
Index with_room(Index bytes) {
    return bytes + bytes / 4 + (Index(256) << 20);
}

/// Whether sbatch does not replace patterns in the log's name, because of a backslash anywhere in it.
bool takes_no_pattern(const Study& study) {
    return std::filesystem::absolute(study.folder).string().find('\\') != std::string::npos;
}

/// The value of --output for logs in the study's folder; '%' begins a pattern in it.
std::string log_pattern(const Study& study) {
    if (takes_no_pattern(study)) return "/dev/null";
    std::string pattern;
    for (char c : std::filesystem::absolute(study.folder).string()) pattern += c == '%' ? "%%" : std::string(1, c);
    return pattern + "/slurm-%A_%a.log";
}

Index ranks_of(const StudyCase& a_case) {
    return a_case.parameters.integer("device", "ranks");
}

std::string directives(const Study& study, const std::vector<const StudyCase*>& cases, std::optional<Index> memory) {
    const Parameters& p = study.slurm;
    const bool processes = p.boolean("slurm", "processes");
    Index most_ranks = 1;
    for (const StudyCase* a_case : cases) most_ranks = std::max(most_ranks, ranks_of(*a_case));
    std::string text;
    const auto add = [&](const std::string& option) { text += "#SBATCH --" + option + "\n"; };
    const auto add_word = [&](const std::string& option, const std::string& word, const std::string& what) {
        add(option + "=" + sbatch_word(word, what));
    };
    const auto pass_on = [&](const char* name, const std::string& option) {
        if (p.is_set("slurm", name)) add_word(option, p.text("slurm", name), p.where("slurm", name));
    };
    add_word("job-name", one_line(study.name), study.file);
    add(fmt::format("array=0-{}", cases.size() - 1) +
        (p.is_set("slurm", "max_running") ? "%" + p.text("slurm", "max_running") : ""));
    for (const char* name : {"partition", "account", "qos", "time", "gpus", "nodes"}) pass_on(name, name);
    if (processes) add(fmt::format("ntasks={}", most_ranks));
    add(fmt::format("cpus-per-task={}", p.integer("slurm", "cpus") * (processes ? 1 : most_ranks)));
    if (p.is_set("slurm", "memory"))
        add_word("mem", p.text("slurm", "memory"), p.where("slurm", "memory"));
    else if (memory)
        add(fmt::format("mem={}M", (with_room(*memory) >> 20) + 1));
    add(fmt::format("signal=B:USR1@{}", p.text("slurm", "seconds_to_stop")));
    add("requeue");
    add("open-mode=append");
    add_word("chdir", std::filesystem::current_path().string(), "the current folder");
    add_word("output", log_pattern(study), "sweep.folder, the folder of the records");
    if (p.is_set("slurm", "options")) text += "#SBATCH " + p.text("slurm", "options") + "\n";
    return text;
}

// The program runs in the background, so that the shell can pass on Slurm's signal. A signal that arrives before the
// program can keep its state is delayed: by the shell until the process exists, then blocked by env (coreutils 8.31)
// until the program handles signals. A case that a signal ends is queued again and continues from the state that it has
// kept.
// The shell asks for the program's state only when it has ended: bash 5.2 can lose the state of a process that ends
// while a trap interrupts `wait`, and a job that was finished would end with 255.
// srun passes signals on to the processes. One that reaches them before they can keep their state ends them.
constexpr const char* launch_processes =
    "srun --mpi=pmix --ntasks=${ranks[$SLURM_ARRAY_TASK_ID]} --cpus-per-task=$OMP_NUM_THREADS --kill-on-bad-exit=1";
constexpr const char* body = R"(
hold=(env --block-signal=USR1 --block-signal=TERM --block-signal=HUP)
"${{hold[@]}}" true 2>/dev/null || hold=()
cd {folder} || exit 7
# Before the time is over Slurm sends USR1: the run keeps its state and ends with 75, then the task goes on later.
run= signal= requeue=no
pass_on() {{ signal=$1; [ -z "$run" ] || kill -"$1" "$run" 2>/dev/null; }}
trap 'requeue=yes; pass_on USR1' USR1
trap 'pass_on TERM' TERM
trap 'pass_on HUP' HUP
{launch} {program} run {study} --case "${{cases[$SLURM_ARRAY_TASK_ID]}}" &
run=$!
[ -z "$signal" ] || kill -"$signal" "$run" 2>/dev/null
while kill -0 $run 2>/dev/null; do sleep 0.5; done
wait $run
status=$?
if [ $requeue = yes ] && {{ [ $status -eq 75 ] || [ $status -gt 128 ]; }}; then
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID"
fi
exit $status
)";

}  // namespace

ParameterTable slurm_parameters() {
    using T = ParameterType;
    ParameterTable table = {
        key("partition", T::text, "partition to submit to; unset: the cluster's default"),
        key("account", T::text, "account to charge"),
        key("qos", T::text, "quality of service"),
        key("time", T::text,
            "time limit of a case, as Slurm writes it (HH:MM:SS); a case that needs more is stopped, "
            "keeps its state and is queued again"),
        key("gpus", T::integer, "GPUs of a case"),
        key("cpus", T::integer, "processors of a rank of a case (device.ranks), and its OpenMP threads", "1"),
        key("processes", T::boolean,
            "whether the ranks of a case are processes, started by srun --mpi=pmix, which may be on several nodes; "
            "otherwise they are threads of one process",
            "false"),
        key("nodes", T::integer, "nodes of a case; more than one only with processes; unset: Slurm's choice"),
        key("memory", T::text,
            "memory of a host for a case, as Slurm writes it (4G); unset: what the largest case is predicted to "
            "need and a quarter more, or, where cases run on GPUs, what Slurm gives by itself"),
        key("max_running", T::integer,
            "largest number of cases that run at the same time; unset: as many as the cluster allows"),
        key("seconds_to_stop", T::integer,
            "seconds before its time limit at which a case is signalled to keep its state", "120"),
        key("setup", T::text, "shell command before each case, such as module load cuda"),
        key("options", T::text, "further options of sbatch, on one line"),
    };
    for (ParameterSpec& spec : table)
        if (spec.type == T::integer) spec.minimum = Bound{double(spec.key != "gpus")};
    return table;
}

std::string slurm_script(const Study& study, const std::vector<const StudyCase*>& cases, std::optional<Index> memory) {
    const bool processes = study.slurm.boolean("slurm", "processes");
    if (study.slurm.is_set("slurm", "nodes") && study.slurm.integer("slurm", "nodes") > 1 && !processes)
        throw UsageError(study.slurm.where("slurm", "nodes") +
                         ": ranks that are threads of one process are on one node; set slurm.processes = true");
    std::string text = fmt::format("#!/bin/bash\n# {} study submit\n", made_by_mark) + directives(study, cases, memory);
    text += fmt::format("\n# Cases of {} by the hashes of their decks.\ncases=(\n", one_line(study.file));
    for (const StudyCase* a_case : cases) text += fmt::format("    {}  # {}\n", a_case->hash, one_line(a_case->name));
    text += ")\n# The ranks of each.\nranks=(";
    for (const StudyCase* a_case : cases) text += fmt::format(" {}", ranks_of(*a_case));
    text += " )\n";
    if (takes_no_pattern(study))  // bash can open the log all the same
        text +=
            fmt::format("mkdir -p {0}\nexec >>{0}/\"slurm-${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID.log\" 2>&1\n",
                        shell_word(std::filesystem::absolute(study.folder).string()));
    text += fmt::format(
        "export OMP_NUM_THREADS={}\n",
        processes ? study.slurm.text("slurm", "cpus")
                  : fmt::format("$(({} * ${{ranks[$SLURM_ARRAY_TASK_ID]}}))", study.slurm.text("slurm", "cpus")));
    if (study.slurm.is_set("slurm", "setup")) text += study.slurm.text("slurm", "setup") + "\n";
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    return text + fmt::format(body, fmt::arg("folder", shell_word(std::filesystem::current_path().string())),
                              fmt::arg("program", shell_word(program)),
                              fmt::arg("launch", processes ? launch_processes : "\"${hold[@]}\""),
                              fmt::arg("study", shell_word(as_argument(study.file))));
}

}  // namespace hyperplane
