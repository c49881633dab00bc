// SPDX-License-Identifier: BSD-3-Clause
// The table that `bench preconditioners` prints, and its JSON.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/bench/preconditioners.hpp"

namespace hyperplane {

/// Prints rows as they are added and geometric means at the end, and collects the same as JSON.
class PreconditionerTable {
public:
    /// `rate` is that of a copy, in bytes a second. Without `print` there is only JSON.
    PreconditionerTable(double rate, bool print) : rate_(rate), print_(print) {}

    void head() const;
    /// Adds the last row of a result; the first row of a system also prints the system's name.
    void add(const PreconditionersResult& result);
    /// Adds the means; to be called last.
    void finish(nlohmann::json& json) const;

private:
    void add_general(const PreconditionersResult& result, nlohmann::json& system) const;
    nlohmann::json add_row(const PreconditionersResult& result, const PreconditionerResult& row);
    void show(const PreconditionersResult& result, const PreconditionerResult& row) const;
    double over_limit(const PreconditionerResult& row) const { return row.apply.median * rate_ / row.bytes; }
    double setup_sweep_over_limit(const PreconditionerResult& row) const {
        return row.setup_sweep * rate_ / double(row.sweeps.bytes_of_setup_sweep);
    }

    double rate_;
    bool print_;
    std::map<std::string, std::vector<double>> over_limit_;  ///< by name
    nlohmann::json systems_ = nlohmann::json::array();
};

}  // namespace hyperplane
