// SPDX-License-Identifier: BSD-3-Clause
#include "apps/command/verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "apps/base/quoting.hpp"
#include "apps/bench/cases.hpp"
#include "core/error.hpp"
#include "io/deck.hpp"

namespace hyperplane {
namespace {

const Option set{"set", "KEY=VALUE", "override a key of the deck, as section.key=value; section.key= leaves it out",
                 's', true};
const Option threads{"threads", "N", "OpenMP threads, short for --set device.threads=N", 't'};
const Option backend{"backend", "NAME", "auto, cpu or cuda, short for --set device.backend=NAME", 'b'};
const Option force{"force", "", "write over files that this program did not write, too"};
const Option wait{"wait", "", "if another process is at work on the same output, wait until it has ended"};
const Option json{"json", "", "print one JSON object instead of text"};
const Option quiet{"quiet", "", "no progress: the result, warnings and errors only", 'q'};
const Option verbose{"verbose", "", "say more", 'v'};

constexpr bool stops_well = true, in_one_process = true;  // as in Verb

}  // namespace

const std::vector<Verb>& verbs() {
    static const std::vector<Verb> table = {
        {"run",
         "DECK",
         1,
         1,
         "Solve the case of a deck, or of a record again, and record how it converged",
         {set,
          threads,
          backend,
          {"fresh", "", "start over even if a preempted record of this deck exists"},
          {"case", "CASE", "run this case of a study, by name, number or hash; one that has ended is left alone"},
          {"ranks", "N",
           "cut the grid along z into the parts of N ranks, threads of this process, on CPUs or a GPU each; the same "
           "bits; short for --set device.ranks=N"},
          {"restart", "", "go on from a checkpoint or a failure, or extend a run: --restart --set time.steps=200"},
          wait,
          force,
          json,
          quiet,
          verbose},
         run_verb,
         stops_well},
        {"check",
         "DECK",
         1,
         1,
         "Validate a deck; predict the memory its run needs and estimate its time",
         {set,
          threads,
          backend,
          {"ranks", "N",
           "predict the memory of each of N ranks; what they take together is compared with what is left"},
          {"header", "", "of a matrix in a file, read the head alone: rows, entries and symmetry; for a CPU"},
          json,
          quiet,
          verbose},
         check_verb,
         !stops_well,
         in_one_process},
        {"warm",
         "DECK...",
         1,
         -1,
         "Compile the GPU kernels of decks and studies in advance; no GPU is needed",
         {{"arch", "LIST", "compute capabilities of the GPUs, such as 80,90,100 (default: that of the GPU here)"},
          quiet,
          verbose},
         warm_verb,
         !stops_well,
         in_one_process},
        {"compare",
         "DECK",
         1,
         1,
         "Solve a deck's first linear system with several preconditioners and solvers, in turns",
         {{"preconditioners", "LIST",
           "NAME[:KEY=VALUE]...,...: struct_ilu,struct_ilu:fill_level=1 (default: the deck's)"},
          {"solvers", "LIST", "the same for solvers; each is tried with each preconditioner (default: the deck's)"},
          {"auto", "", "try every pair that can work together, or those of the lists, and recommend one"},
          {"ranks", "N",
           "cut the grid along z into the parts of N ranks, threads of this process, on CPUs or a GPU each"},
          {"reps", "N", "timed turns after a warm-up; the median counts (default 5)"},
          {"fresh", "", "start over even if an unfinished comparison of this kind exists"},
          {"baseline", "NAME", "candidate that ratios refer to (default: the deck's own pair, else the first)"},
          {"output", "FILE.h5", "the file of all records (default: the deck's name with _compare.h5)", 'o'},
          {"json", "FILE", "also write the table as JSON; - for standard output, alone"},
          wait,
          force,
          set,
          threads,
          backend,
          quiet,
          verbose},
         compare_verb,
         stops_well},
        {"study",
         "plan|run|submit|status|resume|collect STUDY",
         1,
         2,
         "Run the cases of a deck with a section [sweep], here or as a Slurm job array",
         {{"jobs", "N", "run, resume: cases at a time, each a process with its share of the processors (default 1)",
           'j'},
          {"failed", "", "run, resume, submit: compute failed cases again"},
          {"edited", "", "run, resume, submit: compute again the cases that ran before the study was edited"},
          {"print", "", "submit: only show the job script"},
          {"wait", "", "run, resume, submit: if another process runs or submits the study, wait until it has ended"},
          {"watch", "", "run, resume, status: redraw one table on the terminal until no case is left to compute"},
          {"output", "NAME",
           "collect: write NAME.h5 and NAME.csv; NAME may be given with either ending (default: the study's folder)",
           'o'},
          {"fom", "", "collect: also print figures of merit, a line each: fom CASE FIGURE = VALUE UNIT"},
          {"force", "", "run, resume, submit, collect: write over files that this program did not write, too"},
          {"json", "", "plan, status: print one JSON object instead of text"},
          quiet,
          verbose},
         study_verb,
         stops_well,
         in_one_process},
        {"new",
         "PROBLEM",
         0,
         1,
         "Print a deck to start from: each key with its default and its meaning",
         {},
         new_verb,
         !stops_well,
         in_one_process},
        {"list",
         "[problems|solvers|preconditioners|orderings|scalings|stencils|devices]",
         0,
         1,
         "List what a deck can name",
         {json},
         list_verb,
         !stops_well,
         in_one_process},
        {"help",
         "[VERB|SECTION|SECTION.KEY|COMPONENT|STENCIL|exit-codes]",
         0,
         1,
         "Explain a verb, a deck's section or key, a component, a stencil, or the exit codes",
         {{"markdown", "", "print the whole deck reference (docs/deck.md)"},
          {"schema", "", "print a JSON Schema of decks, for editors and for programs that write decks"},
          {"man", "", "print the manual page, for man(1)"},
          {"completion", "bash", "print a script that completes verbs, options, files, keys and values"}},
         help_verb,
         !stops_well,
         in_one_process},
        {"info",
         "build|device|FILE.h5",
         1,
         1,
         "Show how the program was built, what it runs on, or what a record, comparison, study or checkpoint holds",
         {{"all", "",
           "also each solve, timer and part of a run, each case of a study, or each candidate of a comparison"},
          json},
         info_verb,
         !stops_well,
         in_one_process},
        {"diff",
         "A.h5 B.h5",
         2,
         2,
         "Compare two records; exit 8 if they differ in more than timings",
         {{"tolerance", "T", "relative difference of residuals and errors that counts as equal (default 1e-6)"}, json},
         diff_verb,
         !stops_well,
         in_one_process},
        {"plot",
         "FILE.h5 [NAME...]",
         1,
         -1,
         "Draw what a record holds: slices and profiles of its fields, and histories; of a study, results over sizes",
         {{"list", "", "only list the names of what can be drawn"},
          {"slice", "AXIS=VALUE",
           "the plane of slices, for instance z=0.5: that of the nearest points, which are at most half a spacing away "
           "(default: through the middle, across the shortest axis)"},
          {"profile", "AXIS[,AXIS=VALUE]...",
           "values along a line in place of slices, for instance x,y=0.5: that of the nearest points, as with --slice "
           "(the other axes default to the middle)"},
          {"time", "LIST",
           "times of a series of fields, comma-separated, or all; the nearest states are drawn (default: "
           "the final state)"},
          {"over", "NAME", "the varied number over which results of a study are drawn (default: the size of the grid)"},
          {"output", "OUT.png", "the picture to write: .png, .pdf or .svg (default plot.png)", 'o'},
          force},
         plot_verb,
         !stops_well,
         in_one_process},
        {"report",
         "FILE.h5...",
         1,
         -1,
         "Draw records, comparisons and collected studies as one self-contained HTML page",
         {{"output", "OUT.html", "the page to write (default report.html); - for standard output", 'o'},
          {"png", "OUT.png", "also write the convergence plot for papers: .png, .pdf or .svg"},
          force},
         report_verb,
         !stops_well,
         in_one_process},
        {"export",
         "DECK",
         1,
         1,
         "Write the first linear system as files A.mtx, b.mtx and x.mtx; with --factors also a preconditioner's "
         "factors",
         {set,
          threads,
          backend,
          {"output", "DIR", "folder to write to (default: the current one)", 'o'},
          {"format", "mtx|mtx.gz|petsc",
           "Matrix Market (default), the same compressed by gzip, A.mtx.gz and so on, or PETSc binary, A.petsc and so "
           "on, which only --force writes over"},
          {"factors", "", "also write L, D and U of a general matrix's preconditioner, M = L D U"},
          force,
          quiet,
          verbose},
         export_verb,
         !stops_well,
         in_one_process},
        {"bench",
         "[kernels|preconditioners [DECK...]|solve DECK...|assembly DECK...|products DECK...|multigrid DECK...|"
         "sweeps DECK...|vectors|hpcg [NX NY NZ]]",
         0,
         -1,
         "Time kernels, preconditioners, assembly, products or vectors against the memory's limit, whole solves, or "
         "HPCG's "
         "problem; or record how Jacobi sweeps come near to triangular solves",
         {{"cases", "LIST",
           "STENCIL:DOF:N[:sym],..., a file with such cases, or lists of them: " + names_of_case_lists()},
          {"device", "cpu|cuda", "where cases run (default cpu); on a GPU they are compared with cuSPARSE"},
          {"preconditioners", "LIST", "preconditioners: NAME[:KEY=VALUE]... separated by commas (default: all)"},
          {"layout", "natural|hyperplane",
           "kernels: layout of matrix and vectors (default natural; hyperplane on a GPU)"},
          {"ablate", "", "kernels: also time struct_ilu without each technique of its paper, in place of cuSPARSE"},
          {"build-up", "",
           "kernels on a GPU: also time struct_ilu with each technique of its paper added to those before, in place of "
           "cuSPARSE"},
          {"tunings", "WORDS",
           "kernels: also time struct_ilu on a GPU with tunings that have one of these words, separated by commas, in "
           "their names (tiles, stages, blocks, ...), or with all; preconditioners: subdomain_ildu0 (workers, rings)"},
          {"unknowns", "LIST", "vectors: their sizes (default 262144,2097152,16777216); on a GPU beside cuBLAS"},
          {"ranks", "N",
           "solve, preconditioners: cut the grid along z into the parts of N ranks, threads of this process, on CPUs "
           "or a GPU each"},
          {"sweeps", "N",
           "sweeps: the most that are recorded (default 20), of each triangle of the deck's preconditioner"},
          {"repeats", "N", "timed calls after a warm-up; the median counts (default 9)"},
          {"json", "FILE", "also write what was measured; - for standard output, alone"},
          force,
          set,
          threads,
          backend},
         bench_verb},
        {"selftest",
         "[DECK]",
         0,
         1,
         "Check symmetry, an easy convergence and repeatability on this machine",
         {set,
          threads,
          backend,
          {"ranks", "N",
           "cut the grid along z into the parts of N ranks, threads of this process, on CPUs or a GPU each, which must "
           "have the bits of one"},
          json,
          quiet,
          verbose},
         selftest_verb},
    };
    return table;
}

const Verb& find_verb(const std::string& name) {
    std::vector<std::string> known;
    for (const Verb& verb : verbs()) {
        if (verb.name == name) return verb;
        known.push_back(verb.name);
    }
    std::error_code ignored;
    if (std::filesystem::is_regular_file(name, ignored))
        throw UsageError(
            fmt::format("'{}' is a file, not a verb; did you mean hyperplane run {}?", name, shown_argument(name)));
    if (name.starts_with("-"))
        throw UsageError(
            fmt::format("'{0}' is no verb; options stand behind one: hyperplane VERB {0} "
                        "(hyperplane --help)",
                        name));
    const std::string near = nearest(name, known);
    throw UsageError(fmt::format("no verb is called '{}'{} (hyperplane --help)", name,
                                 near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

bool ask_for_json(const std::vector<std::string>& words) {
    const auto at = std::find(words.begin(), words.end(), "--json");
    if (at == words.end()) return std::find(words.begin(), words.end(), "--json=-") != words.end();
    const auto verb = std::find_if(verbs().begin(), verbs().end(), [&](const Verb& v) { return v.name == words[0]; });
    if (verb == verbs().end()) return true;
    const auto option = std::find_if(verb->options.begin(), verb->options.end(),
                                     [](const Option& known) { return known.name == "json"; });
    const bool takes_file = option != verb->options.end() && !option->value.empty();
    return !takes_file || at + 1 == words.end() || at[1].starts_with("-");
}

std::string program_usage() {
    std::string text =
        "usage: hyperplane VERB [OPTIONS] [ARGUMENTS]\n"
        "Preconditioned Krylov solves of PDEs on structured grids, measured and recorded.\n\n";
    for (const Verb& verb : verbs()) text += fmt::format("  {:<9} {}\n", verb.name, verb.summary);
    return text +
           "\n  --help     this text; hyperplane VERB --help shows a verb's options\n"
           "  --version  the version and the commit it was built from\n\n"
           "Begin with: hyperplane run inputs/poisson.ini\n";
}

}  // namespace hyperplane
