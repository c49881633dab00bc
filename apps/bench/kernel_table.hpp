// SPDX-License-Identifier: BSD-3-Clause
// The table that `bench kernels` prints, and its JSON.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/bench/kernels.hpp"

namespace hyperplane {

/// Prints rows as they are added and geometric means at the end, and collects the same as JSON.
class KernelTable {
public:
    /// `rate` is that of a copy, in bytes a second. Without `print` there is only JSON.
    KernelTable(double rate, bool print) : rate_(rate), print_(print) {}

    void head() const;
    void add(const BenchResult& result);
    /// Adds the means; to be called last.
    void finish(nlohmann::json& json) const;

private:
    /// A geometric mean, from the sum of logarithms.
    struct Mean {
        double sum = 0.0;
        int count = 0, below_one = 0;
        void add(double value);
        double value() const;
    };

    nlohmann::json add_kernel(const BenchResult& result, const KernelResult& kernel);
    void show_baseline(const BenchResult& result, const BaselineResult& baseline) const;
    void show_variants(const BenchResult& result, const char* head, const std::vector<VariantResult>& variants) const;

    double rate_;
    bool print_;
    std::map<std::string, Mean> over_limit_, over_own_, against_;  ///< by kernel
    nlohmann::json cases_ = nlohmann::json::array();
};

}  // namespace hyperplane
