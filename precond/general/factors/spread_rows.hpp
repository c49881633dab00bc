// SPDX-License-Identifier: BSD-3-Clause
// Arrays with a place for each column, over which rows are spread while they are eliminated
// (precond/general/factors/factor_cpu.cpp): one for each thread that works on long rows.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace hyperplane {

class SpreadRows {
public:
    using Row = std::vector<double>;  ///< as long as its users have needed; its values mean nothing to the next one

    Row take() {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) return {};
        Row row = std::move(free_.back());
        free_.pop_back();
        return row;
    }
    void give_back(Row row) {
        if (row.empty()) return;
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(row));
    }

private:
    std::mutex mutex_;
    std::vector<Row> free_;
};

}  // namespace hyperplane
