// SPDX-License-Identifier: BSD-3-Clause
// The state from which an interrupted Krylov method continues as if it had not stopped, and where that state is kept.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/interfaces/saved_values.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

/// Stores a method's state as named items, such as "cg/p" or "history/recurrence". Putting an item under a name that
/// is in use replaces the item.
class StateStore {
public:
    virtual ~StateStore() = default;
    virtual void put(const std::string& name, const Vector& values) = 0;
    virtual void put(const std::string& name, std::span<const double> values) = 0;
    /// Both throw FileError if the item is missing, the first also if its size differs from that of `values`.
    virtual void get(const std::string& name, Vector& values) const = 0;
    virtual std::vector<double> get(const std::string& name) const = 0;
};

/// The values of each item, such as "cg/p"; those of vectors are in natural order, dof fastest, and where ranks have
/// parts of a vector, each has its own.
using SolverItems = std::map<std::string, SavedValues>;

/// A StateStore in the host's memory.
class SolverState : public StateStore {
public:
    void put(const std::string& name, const Vector& values) override;
    void put(const std::string& name, std::span<const double> values) override;
    void get(const std::string& name, Vector& values) const override;
    std::vector<double> get(const std::string& name) const override;

    /// Puts an item that was saved before.
    void put_saved(const std::string& name, SavedValues values) { items_[name] = std::move(values); }
    const SolverItems& items() const { return items_; }

private:
    const SavedValues& item(const std::string& name) const;

    SolverItems items_;
};

/// Where an interrupted solve saves its state, and where a solve continues from. A continued solve gives the same bits
/// as one that was not interrupted. Either pointer may be null.
struct Continuation {
    StateStore* save = nullptr;        ///< filled by a solve that ends with StopReason::interrupted
    const StateStore* from = nullptr;  ///< the state to continue from, which also sets x and the history
};

}  // namespace hyperplane
