// SPDX-License-Identifier: BSD-3-Clause
// Case: the components that a deck names, constructed and checked against each other. Nothing is assembled yet.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/base/backend.hpp"
#include "apps/base/invocation.hpp"
#include "core/interfaces/problem.hpp"
#include "core/interfaces/solver.hpp"
#include "io/deck.hpp"
#include "precond/registry.hpp"
#include "solvers/march_parameters.hpp"

namespace hyperplane {

/// The peak memory of a run in bytes, by purpose.
struct MemoryPlan {
    std::map<std::string, Index> by_label;
    /// Bytes that the run may hold besides, where the values of the matrix decide how much a preconditioner holds.
    Index more = 0;
    std::string more_when;  ///< the condition under which the run holds `more`
    Index host = 0;         ///< bytes that a run on a GPU holds in the host's memory during a set-up
    std::string host_use;   ///< what the bytes of `host` are for
    Index total() const;
    /// Lines "  matrix   12.0 MiB", the largest first, and the total.
    std::string table() const;
};

/// Which moments of a run its peak is sought among: all of them; those after reading, ordering and copying a general
/// matrix; or those after the first solve, when the solver has its vectors already as a set-up takes place.
enum class Moments { all, after_construction, after_first_solve };

struct Case {
    Deck deck;
    std::vector<std::string> overrides;  ///< "section.key=value"
    Parameters parameters;
    Context context;
    std::string device;  ///< device of the run: "cpu, 2 threads" or "cuda, NVIDIA H200"
    std::shared_ptr<const Problem> problem;
    IndexSpace space;  ///< of all matrices and vectors of the run
    PreconditionerPlan plan;
    std::unique_ptr<Preconditioner> preconditioner;
    std::unique_ptr<Solver> solver;
    StopCriteria criteria;
    NewtonOptions newton;
    TimeOptions time;
    Overwrite overwrite = Overwrite::own;  ///< which files its outputs may replace

    const SystemShape& shape() const { return problem->shape(); }
    Index unknowns() const { return shape().grid.points() * shape().dof; }  ///< of all ranks together
    const std::string& name(const char* section) const { return parameters.text(section, "name"); }
    /// Number of time steps: 1 for a steady problem, the largest allowed number for a pseudo-transient one; nothing if
    /// it follows only from the run.
    std::optional<Index> steps() const;
    /// Whether the exact solution is that of this run, as solution_belongs_to_run says (apps/run/expectations.hpp).
    bool solution_belongs() const;
    Vector make_vector(const std::string& label) const { return {context, space, shape().dof, label}; }
    /// The memory that the run will hold: matrix, preconditioner, Krylov and state vectors, and what the problem holds
    /// already.
    MemoryPlan memory_plan(Moments moments = Moments::all) const;
    std::string record_path() const;
    /// The key that names it, with its place, for messages: "a.ini:9: output.file".
    std::string record_key() const;
    /// The file of final fields beside it.
    std::string fields_path() const;
    /// The file of output.profile beside it.
    std::string profile_path() const;
    /// The file that shows a series of fields (output.fields_every) as one, and the folder of the series' files.
    std::string series_path() const;
    std::string series_folder() const;
    /// The names of the record, with .part, and of the files beside it that the run writes or removes.
    std::vector<std::string> output_paths() const;
    /// Throws FileError if a file that the run will write exists already and must not be replaced, or if links make one
    /// file of two.
    void guard_outputs() const;
};

}  // namespace hyperplane
