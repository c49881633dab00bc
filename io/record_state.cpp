// SPDX-License-Identifier: BSD-3-Clause
#include "io/record_state.hpp"

#include <algorithm>

namespace hyperplane {
namespace {

using hdf5::Group;

/// Writes arrays behind one another as one dataset, or leaves room for them.
void write_arrays(const Group& g, const std::string& name, hdf5::Label label, const std::vector<SavedValues>& arrays,
                  Places* places) {
    Index count = 0;
    for (const SavedValues& values : arrays) count += values.size();
    if (places) {
        Index offset = g.reserve(name, label, count);
        for (const SavedValues& values : arrays) {
            if (values.size() > 0) places->push_back({offset, values});
            offset += values.size() * Index(sizeof(double));
        }
        return;
    }
    std::vector<double> all;
    all.reserve(std::size_t(count));
    for (const SavedValues& values : arrays) {
        const std::vector<double> some = values.all();
        all.insert(all.end(), some.begin(), some.end());
    }
    g.dataset(name, label, all);
}

void transfer_solver_state(const Group& g, SolverItems& items, const FileIdentity& file, Places* places) {
    std::vector<std::string> names;
    std::vector<Index> offset{0};
    std::vector<SavedValues> arrays;
    for (const auto& [name, values] : items) {
        names.push_back(name);
        arrays.push_back(values);
        offset.push_back(offset.back() + values.size());
    }
    g.dataset("name", {"1", "item of the state of time stepping, Newton's and the Krylov method"}, names);
    g.dataset("offset", {"1", "item i has the values offset[i] to offset[i + 1] - 1"}, offset);
    if (g.writing())
        return write_arrays(g, "value", {"1", "vectors in natural order, dof fastest; scalars; the history so far"},
                            arrays, places);
    const bool fits = offset.size() == names.size() + 1 && offset.front() == 0 && offset.back() == g.length("value") &&
                      std::is_sorted(offset.begin(), offset.end());
    if (!fits) g.wrong("offset", "does not cut the values into the items named");
    for (std::size_t i = 0; i < names.size(); ++i)
        items[names[i]] = values_in_file(file, g, "value", offset[i], offset[i + 1] - offset[i]);
}

}  // namespace

void transfer_state(const Group& g, RunState& state, const FileIdentity& file, Places* places) {
    g.scalar("step", {"1", "time steps completed"}, state.step);
    g.scalar("time", {"1", "at the end of the last completed step"}, state.time);
    if (g.transfers("newton"))
        g.scalar("newton", {"1", "Newton steps completed within the step under way"}, state.newton);
    g.scalar("iterations", {"1", "of the linear solve under way"}, state.iterations);
    if (g.writing())
        write_arrays(g, "u", {"1", "newest Newton iterate of the step under way; natural order, dof fastest"},
                     {state.u}, places);
    else
        state.u = values_in_file(file, g, "u", 0, g.length("u"));
    transfer_solver_state(g.group("solver"), state.solver, file, places);
}

}  // namespace hyperplane
