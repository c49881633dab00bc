// SPDX-License-Identifier: BSD-3-Clause
// Keeps what a comparison has finished in FILE.part, so that the same command goes on after a stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>

#include "apps/base/log.hpp"
#include "core/error.hpp"
#include "core/timer.hpp"
#include "io/comparison.hpp"

namespace hyperplane {

/// Writes at most every few seconds, and so rarely that writing takes at most a fiftieth of the time: a file with the
/// histories of a hundred candidates is large. A file that cannot be written costs no results: they are still in
/// memory.
class Keeper {
public:
    Keeper(std::string path, Overwrite overwrite, double least_interval = 2.0)
        : path_(std::move(path)), overwrite_(overwrite), interval_(least_interval) {}

    /// Writes what `so_far` returns, if it is time to; `so_far` is called only then.
    void keep(const std::function<ComparisonData()>& so_far) {
        if (seconds_since(rested_) < interval_) return;
        const auto begin = std::chrono::steady_clock::now();
        ComparisonData data = so_far();
        data.path = path_;
        try {
            write_comparison(data, overwrite_);
        } catch (const FileError& error) {
            if (!failed_) logging::warn("what has been finished cannot be kept for another call: {}", error.what());
            failed_ = true;
        }
        constexpr double share = 1.0 / 50;
        interval_ = std::max(interval_, seconds_since(begin) / share);
        rested_ = std::chrono::steady_clock::now();
    }
    void remove() const { remove_own(path_, FileKind::comparison); }

private:
    std::string path_;
    Overwrite overwrite_;
    double interval_;  ///< seconds between two writes
    bool failed_ = false;
    std::chrono::steady_clock::time_point rested_ = std::chrono::steady_clock::now();
};

}  // namespace hyperplane
