// The wish to stop, as the shell or Slurm sends it: SIGINT, SIGTERM, SIGUSR1.
#pragma once

namespace hyperplane {

/// From now on the first of these signals is only noted; the second ends the program.
void catch_stop_signals();
/// The signal that was noted, 0: none.
int stop_signal();

}  // namespace hyperplane
