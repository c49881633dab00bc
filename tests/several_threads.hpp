// SPDX-License-Identifier: BSD-3-Clause
// Several OpenMP threads for a scope, even on grids too small to be worth it.
#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include "core/device/threads.hpp"

namespace hyperplane {

class SeveralThreads {
public:
    explicit SeveralThreads(int threads) : worth_(least_parallel_work) {
        omp_set_num_threads(threads);
        least_parallel_work = 0;
    }
    ~SeveralThreads() {
        omp_set_num_threads(1);
        least_parallel_work = worth_;
    }
    SeveralThreads(const SeveralThreads&) = delete;
    SeveralThreads& operator=(const SeveralThreads&) = delete;

private:
    Index worth_;
};

/// What `result()` gives has the same bits for any number of threads.
template <class Result>
void expect_same_bits_for_any_threads(const Result& result) {
    const auto one = result();
    for (int threads : {2, 3}) {
        const SeveralThreads several(threads);
        EXPECT_EQ(result(), one) << threads << " threads";
    }
}

}  // namespace hyperplane
