// SPDX-License-Identifier: BSD-3-Clause
// The state of a simulation that its record keeps, and with which another run goes on (Simulation::resume).
#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/base/signals.hpp"
#include "apps/run/beginning.hpp"
#include "apps/run/simulation.hpp"
#include "core/counted.hpp"

namespace hyperplane {

void Simulation::keep_state() {
    record_.set_state(state(false, 0, {}));
    if (outcome_.code != ExitCode::ok) outcome_.kept_steps = stepper_->steps_done();
}

RunState Simulation::state(bool within, Index iterations, const SolverItems& krylov) const {
    SolverState store;
    stepper_->save(store);
    newton_->save(store);
    store.put("run/within", std::vector<double>{within ? 1.0 : 0.0});
    if (const RowOrder* order = case_.shape().order()) store.put(order_item, order_mark(*order));
    store.put("run/seconds", std::vector<double>{solves_.setup_so_far(), solves_.solve_so_far()});
    RunState state{.step = stepper_->steps_done(),
                   .time = stepper_->time(),
                   .newton = within ? newton_->taken() : 0,
                   .iterations = iterations,
                   .u = SavedValues::of(u_, case_.shape().order()),
                   .solver = store.items()};
    state.solver.insert(krylov.begin(), krylov.end());
    return state;
}

void Simulation::preempt(bool within) {
    outcome_.code = ExitCode::checkpointed;
    outcome_.end = to_string(EndReason::interrupted);
    outcome_.message = fmt::format("stopped by {} in step {} after {}; run the same deck again to go on",
                                   signal_name(stop_signal(case_.context)), stepper_->steps_done() + 1,
                                   counted(solves_.iterations(), "iteration"));
    record_.set_state(state(within, solves_.iterations(), solves_.state()));
}

}  // namespace hyperplane
