// [expect]: what makes a deck a test.
#pragma once

#include <string>
#include <vector>

#include "apps/simulation.hpp"

namespace hyperplane {

struct Judgement {
    ExitCode code;                   ///< the run's final one
    int checked = 0;                 ///< expectations that applied
    std::vector<std::string> unmet;  ///< a sentence each
};

/// Compares an outcome with [expect]. Unmet expectations give ExitCode::expectation; a failure that
/// expect.exit_code or expect.stop_reason asks for gives ok; a preempted run is not judged.
Judgement judge(const Parameters& parameters, const Outcome& outcome);

}  // namespace hyperplane
