// SPDX-License-Identifier: BSD-3-Clause
// The signals by which a shell or Slurm asks the program to stop: SIGINT, SIGTERM, SIGUSR1, SIGHUP.
//
// The program blocks these signals from its first instruction on, and the process that starts it for a study or a job
// blocks them even before, so that an early signal is not lost: it is delivered when the verb has chosen how to handle
// it.
//
// Tests stop the program at a place that does not depend on the clock: with HYPERPLANE_STOP_AT=LOOKS in the environment
// the program sends itself SIGTERM when it checks for the LOOKS-th time whether a signal has come; LOOKS:SIGNAL chooses
// another signal, by number. `run` checks before each time step, after each Newton step, in each iteration and, on one
// rank on a CPU without output.profile, where a part of a set-up begins that may take long.
#pragma once

#include <string>

#include "core/device/context.hpp"

namespace hyperplane {

/// Blocks the signals until one of the next two functions is called, also in programs that are started from here.
void hold_stop_signals();
/// From now on these signals are only noted, but a second SIGINT ends the program. (A second SIGTERM does not, because
/// schedulers may send it both to the program and to the job's shell, which passes it on.) If SIGHUP or SIGINT was
/// ignored, as nohup and shells do for background programs, it stays ignored. SIGTERM stays blocked, in all threads
/// that are started later, too, and is noted by stop_signal.
void catch_stop_signals();
/// From now on these signals end the program. SIGTERM stays blocked in all threads but one, which waits for it.
void release_stop_signals();
/// "SIGTERM" for 15; "signal N" for a number without a name.
std::string signal_name(int signal);
/// The signal that was noted, or 0. For the main thread.
int stop_signal();
/// The signal that the first rank has noted, on all ranks, which must ask at the same time.
int stop_signal(const Context& context);

}  // namespace hyperplane
