// SPDX-License-Identifier: BSD-3-Clause
// What bench kernels prints and writes.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/bench/kernels.hpp"

namespace hyperplane {

/// Rows as they come, geometric means last; the same as JSON.
class KernelTable {
public:
    /// `rate`: bytes a second of a copy; `print` false: JSON alone.
    KernelTable(double rate, bool print) : rate_(rate), print_(print) {}

    void head() const;
    void add(const BenchResult& result);
    /// The means; to be called last.
    void finish(nlohmann::json& json) const;

private:
    /// Means of logarithms.
    struct Mean {
        double sum = 0.0;
        int count = 0, below_one = 0;
        void add(double value);
        double value() const;
    };

    nlohmann::json add_kernel(const BenchResult& result, const KernelResult& kernel);
    void show_baseline(const BenchResult& result, const BaselineResult& baseline) const;
    void show_variants(const BenchResult& result) const;

    double rate_;
    bool print_;
    std::map<std::string, Mean> over_limit_, over_own_, against_;  ///< by kernel
    nlohmann::json cases_ = nlohmann::json::array();
};

}  // namespace hyperplane
