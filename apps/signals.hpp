// SPDX-License-Identifier: BSD-3-Clause
// The wish to stop, as the shell or Slurm sends it: SIGINT, SIGTERM, SIGUSR1.
#pragma once

namespace hyperplane {

/// From now on these signals are only noted, but a second SIGINT ends the program: whoever is at the keyboard means it,
/// while schedulers send SIGTERM to the job's shell, which passes it on, and to the program as well.
void catch_stop_signals();
/// The signal that was noted, 0: none.
int stop_signal();

}  // namespace hyperplane
