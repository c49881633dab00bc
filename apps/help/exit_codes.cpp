// SPDX-License-Identifier: BSD-3-Clause
#include "apps/help/exit_codes.hpp"

namespace hyperplane {

const std::vector<ExitCodeRow>& exit_codes() {
    static const std::vector<ExitCodeRow> rows = {
        {ExitCode::ok, "valid and converged", ""},
        {ExitCode::internal, "an internal error", "a bug: please report it with the deck"},
        {ExitCode::usage, "a wrong command line or deck", "the message names file, line and key, and the nearest word"},
        {ExitCode::not_converged, "not converged in the iterations allowed",
         "raise solver.max_iterations, or try a stronger preconditioner"},
        {ExitCode::diverged, "diverged, not finite, breakdown or false convergence",
         "another solver, or another preconditioner; the record has the curve"},
        {ExitCode::preconditioner, "the preconditioner could not be set up",
         "the message names the cell of the pivot; try preconditioner.pivot_policy or another preconditioner"},
        {ExitCode::out_of_memory, "out of memory, host or GPU", "hyperplane check shows what a run needs, by label"},
        {ExitCode::file, "an input or output file cannot be read or written", "the message names it"},
        {ExitCode::expectation, "an [expect] or a verification failed",
         "the message says what was expected and what was found"},
        {ExitCode::no_device, "no suitable device", "set device.backend = cpu, or auto"},
        {ExitCode::locked, "another process is at work on the same output",
         "the message says which; --wait waits for it"},
        {ExitCode::checkpointed, "stopped by a signal with everything saved", "run the same command again to go on"},
    };
    return rows;
}

}  // namespace hyperplane
