// SPDX-License-Identifier: BSD-3-Clause
// Case: the components a deck asks for, made and checked against each other, nothing assembled yet.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apps/backend.hpp"
#include "apps/command_line.hpp"
#include "core/interfaces/problem.hpp"
#include "core/interfaces/solver.hpp"
#include "io/deck.hpp"
#include "precond/registry.hpp"
#include "solvers/march_parameters.hpp"

namespace hyperplane {

/// Bytes a run will hold at its peak, by purpose.
struct MemoryPlan {
    std::map<std::string, Index> by_label;
    Index total() const;
    /// "  matrix   12.0 MiB" a line, largest first, and the total.
    std::string table() const;
};

struct Case {
    Deck deck;
    std::vector<std::string> overrides;  ///< "section.key=value"
    Parameters parameters;
    Context context;
    std::string device;  ///< "cpu, 2 threads" or "cuda, NVIDIA H200": what the run takes
    std::shared_ptr<const Problem> problem;
    Layout layout;  ///< of everything in the run
    PreconditionerPlan plan;
    std::unique_ptr<Preconditioner> preconditioner;
    std::unique_ptr<Solver> solver;
    StopCriteria criteria;
    NewtonOptions newton;
    TimeOptions time;
    Overwrite overwrite = Overwrite::own;  ///< what its files may replace

    const SystemShape& shape() const { return problem->shape(); }
    const std::string& name(const char* section) const { return parameters.text(section, "name"); }
    /// Time steps of the run, 1 for a steady problem, the most allowed of a pseudo-transient one; nothing where only
    /// the run can tell.
    std::optional<Index> steps() const;
    Vector make_vector(const std::string& label) const { return {context, layout, shape().dof, label}; }
    /// What the run will hold: matrix, preconditioner, Krylov and state vectors, and what the problem holds already.
    /// `solved_before`: also the first set-up comes when the solver has its vectors.
    MemoryPlan memory_plan(bool solved_before = false) const;
    /// The record's file name, and that of the fields beside it.
    std::string record_path() const;
    std::string fields_path() const;
    /// Throws FileError where a file that the run will write lies there already and must not be replaced.
    void guard_outputs() const;
};

/// "section.key=value" from --set, --threads and --backend.
std::vector<std::string> deck_overrides(const Invocation& invocation);

/// A deck from its file, or from a record: the resolved deck of that run, whose record will be NAME_again.h5 unless
/// --set says otherwise. Throws FileError.
Deck read_deck_or_record(const std::string& path);

/// Where the files lie that a deck names; empty for the working folder.
std::string folder_of(const Deck& deck);
std::string absolute_folder_of(const Deck& deck);

/// Reads the deck named first on the command line and its overrides, and builds
/// its components. Throws one UsageError that lists every contradiction, DeviceError, FileError.
Case read_case(const Invocation& invocation);
Case build_case(Deck deck, const std::vector<std::string>& overrides);

/// What remains the same whatever solves a deck's problem.
struct Foundation {
    Context context;
    std::shared_ptr<const Problem> problem;
};
/// Throws UsageError, DeviceError, FileError.
Foundation build_foundation(const Deck& deck, const Parameters& parameters);
/// The case of resolved parameters whose problem is there already. Throws one UsageError that lists every
/// contradiction between problem, solver and preconditioner.
Case build_case(Deck deck, const std::vector<std::string>& overrides, Parameters parameters,
                const Foundation& foundation);

}  // namespace hyperplane
