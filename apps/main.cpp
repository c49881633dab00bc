// SPDX-License-Identifier: BSD-3-Clause
// hyperplane: the program. Results go to stdout, the log to stderr; exit codes are in core/error.hpp.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "apps/build_info.hpp"
#include "apps/guard.hpp"
#include "apps/log.hpp"
#include "apps/run/launch.hpp"
#include "apps/run/ranks.hpp"
#include "apps/signals.hpp"
#include "apps/verbs.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

/// The verb and the options that a command line asks for.
struct Asked {
    const Verb* verb;
    Invocation invocation;
};

/// Prints once where several processes were started together.
void show(const std::string& text) {
    if (launched_number() == 0) fmt::print("{}", text);
}

/// Returns nothing if the command line asks for no more than a text, which is shown. Throws UsageError.
std::optional<Asked> understand(const std::vector<std::string>& words) {
    if (words.empty()) throw UsageError("a verb is missing\n" + program_usage());
    if (words[0] == "--help" || words[0] == "-h") {
        show(program_usage());
        return std::nullopt;
    }
    if (words[0] == "--version") {
        show(fmt::format("hyperplane {} ({})\n", build_info().version, build_info().git_sha));
        return std::nullopt;
    }
    const Verb& verb = find_verb(words[0]);
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (std::any_of(rest.begin(), rest.end(), [](auto& word) { return word == "--help" || word == "-h"; })) {
        show(usage(verb));
        return std::nullopt;
    }
    return Asked{&verb, parse_invocation(verb, rest)};
}

int dispatch(const std::vector<std::string>& words) {
    std::optional<Asked> asked;
    try {
        asked = understand(words);
    } catch (const UsageError& error) {  // all processes that were started together meet it, and one says so
        return on_launched(ask_for_json(words), [&](const RankOrNone&) -> int { throw UsageError(error); });
    }
    if (!asked) return 0;
    const Verb& verb = *asked->verb;
    const Invocation& invocation = asked->invocation;
    if (invocation.has("quiet")) logging::set_level(logging::Level::warning);
    if (invocation.has("verbose")) logging::set_level(logging::Level::debug);
    if (verb.in_one_process && launched_processes() > 1) return refuse_processes(verb, invocation.prints_json());
    if (!verb.stops_well) release_stop_signals();
    return verb.run(invocation);
}

int run_program(const std::vector<std::string>& words) {
    // A file size limit or a closed pipe must not end the program by a signal, but fail the write, which is reported.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    start_log();
    return guarded(ask_for_json(words), [&] { return dispatch(words); });
}

/// A file that is opened while a standard stream is closed gets that stream's number, and then what is printed goes
/// into the file: lines of the log into a lock. So closed streams are opened such that reading or writing them fails.
void occupy_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Starts the program again, where it is going to compute, with what libraries read from the environment before main:
///
/// - libgomp's threads spin briefly when they wait for each other. By default they do so for milliseconds, which on a
///   shared core delays the very thread they wait for: a solve became up to thirteen times slower beside one other busy
///   program, and ten times with spins of 20 microseconds, but two to three times with spins of less than one
///   (docs/reliability.md).
///   The copies that `check` times are to wait as a run does.
/// - glibc's malloc asks for huge pages, as Context does for large buffers. A first set-up spends most of its time on
///   new pages: multigrid's at 96^3 took 84 ms without this and 36 with it.
void begin_again_to_compute(const std::vector<std::string>& words, char** argv) {
    static const std::vector<std::string> computing = {"run", "check", "compare", "bench", "selftest"};
    if (words.empty() || std::find(computing.begin(), computing.end(), words[0]) == computing.end()) return;
    // If the user has set any of these, nothing is changed. A bound program would be bound to one core when it starts
    // again.
    for (const char* set : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"})
        if (std::getenv(set)) return;
    constexpr int replace = 1, keep = 0;
    setenv("GOMP_SPINCOUNT", "500", replace);
    setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", keep);
    execv("/proc/self/exe", argv);  // returns only if it fails
}

}  // namespace
}  // namespace hyperplane

int main(int argc, char** argv) {
    hyperplane::hold_stop_signals();
    hyperplane::occupy_standard_streams();
    const std::vector<std::string> words(argv + 1, argv + argc);
    hyperplane::begin_again_to_compute(words, argv);
    return hyperplane::run_program(words);
}
