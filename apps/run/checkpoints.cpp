// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/checkpoints.hpp"

#include <ratio>

#include "apps/base/log.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {

void Checkpoints::begin(Index step) {
    step_ = step;
    time_ = Clock::now();
}

bool Checkpoints::due_after(Index step) const {
    const Index every = case_.parameters.integer("output", "checkpoint_every");
    return (every > 0 && step - step_ >= every) || due_by_clock();
}

bool Checkpoints::due_by_clock() const {
    using Minutes = std::chrono::duration<double, std::ratio<60>>;
    return case_.parameters.is_set("output", "checkpoint_minutes") &&
           of_first_rank(case_.context,
                         Clock::now() - time_ >= Minutes(case_.parameters.real("output", "checkpoint_minutes"))) != 0.0;
}

void Checkpoints::write(const RunState& state) {
    SavedValues::read_on_first_rank(state.arrays(), [&] {
        if (!is_first_rank(case_.context)) return;
        slots_.write(record_, state);
        logging::debug("checkpoint in step {}, Newton step {}, iteration {}", state.step + 1, state.newton,
                       state.iterations);
    });
    begin(state.step);
}

}  // namespace hyperplane
