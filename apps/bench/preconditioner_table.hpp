// SPDX-License-Identifier: BSD-3-Clause
// What bench preconditioners prints and writes.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/bench/preconditioners.hpp"

namespace hyperplane {

/// Rows as they come, geometric means last; the same as JSON.
class PreconditionerTable {
public:
    /// `rate`: bytes a second of a copy; `print` false: JSON alone.
    PreconditionerTable(double rate, bool print) : rate_(rate), print_(print) {}

    void head() const;
    /// The result's last row; the first one of a system begins it.
    void add(const PreconditionersResult& result);
    /// The means; to be called last.
    void finish(nlohmann::json& json) const;

private:
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
