// SPDX-License-Identifier: BSD-3-Clause
// hyperplane: the program. Results go to stdout, the log to stderr; exit codes are in core/error.hpp.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/base/signals.hpp"
#include "apps/command/dispatch.hpp"

namespace hyperplane {
namespace {

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
    return hyperplane::run_command_line(words);
}
