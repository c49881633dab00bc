// SPDX-License-Identifier: BSD-3-Clause
// The wish to stop, as the shell or Slurm sends it: SIGINT, SIGTERM, SIGUSR1, SIGHUP.
//
// The program holds these signals from its first instruction on, and who starts it for a study or a job holds them
// before that, so that one that comes early is not lost: it arrives when the verb has said what it does about it.
//
// A test stops the program at a place that does not depend on the clock: with HYPERPLANE_STOP_AT=LOOKS in the
// environment the program sends itself SIGTERM, with LOOKS:SIGNAL that signal, when it asks for the LOOKS-th time
// whether one has come. `run` asks before each time step, after each Newton step and once an iteration.
#pragma once

namespace hyperplane {

/// Holds the signals back until one of the next two is called; also for programs that are started from here.
void hold_stop_signals();
/// From now on these signals are only noted, but a second SIGINT ends the program: whoever is at the keyboard means it,
/// while schedulers send SIGTERM to the job's shell, which passes it on, and to the program as well. SIGHUP and SIGINT
/// stay ignored where they were, as nohup and shells want it of what they leave behind.
void catch_stop_signals();
/// From now on these signals end the program.
void release_stop_signals();
/// The signal that was noted, 0: none. For the main thread.
int stop_signal();

}  // namespace hyperplane
