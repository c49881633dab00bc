// SPDX-License-Identifier: BSD-3-Clause
// What a Krylov method needs to go on as if it had never stopped, and where it is kept in the meantime.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/vector/vector.hpp"

namespace hyperplane {

/// Takes a method's state item by item and gives it back. A name belongs to one item, "cg/p" or
/// "history/recurrence"; a name put again replaces what it stood for.
class StateStore {
public:
    virtual ~StateStore() = default;
    virtual void put(const std::string& name, const Vector& values) = 0;
    virtual void put(const std::string& name, std::span<const double> values) = 0;
    /// Both throw FileError where the item is missing, the first also where its size is not that of `values`.
    virtual void get(const std::string& name, Vector& values) const = 0;
    virtual std::vector<double> get(const std::string& name) const = 0;
};

/// A StateStore in the host's memory.
class SolverState : public StateStore {
public:
    void put(const std::string& name, const Vector& values) override;
    void put(const std::string& name, std::span<const double> values) override;
    void get(const std::string& name, Vector& values) const override;
    std::vector<double> get(const std::string& name) const override;

    /// Each item's values; vectors by point in natural order, dof fastest.
    const std::map<std::string, std::vector<double>>& items() const { return items_; }

private:
    std::map<std::string, std::vector<double>> items_;
};

/// How a solve may be broken off and gone on with, bit for bit. Either may be null.
struct Continuation {
    StateStore* save = nullptr;        ///< filled by a solve that ends in StopReason::interrupted
    const StateStore* from = nullptr;  ///< the solve goes on from there: x and history become those of the state
};

}  // namespace hyperplane
