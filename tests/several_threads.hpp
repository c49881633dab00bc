// SPDX-License-Identifier: BSD-3-Clause
// Several threads of a context for a scope, even on grids too small to be worth it.
#pragma once

#include <gtest/gtest.h>

#include "core/device/context.hpp"

namespace hyperplane {

class SeveralThreads {
public:
    SeveralThreads(const Context& context, int threads)
        : context_(context), threads_(context.threads()), worth_(context.least_parallel_work()) {
        context_.set_threads(threads);
        context_.set_least_parallel_work(0);
    }
    ~SeveralThreads() {
        context_.set_threads(threads_);
        context_.set_least_parallel_work(worth_);
    }
    SeveralThreads(const SeveralThreads&) = delete;
    SeveralThreads& operator=(const SeveralThreads&) = delete;

private:
    Context context_;
    int threads_;
    Index worth_;
};

/// What `result()` gives has the same bits for any number of threads of the context.
template <class Result>
void expect_same_bits_for_any_threads(const Context& context, const Result& result) {
    const auto one = result();
    for (int threads : {2, 3}) {
        const SeveralThreads several(context, threads);
        EXPECT_EQ(result(), one) << threads << " threads";
    }
}

}  // namespace hyperplane
