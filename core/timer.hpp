// SPDX-License-Identifier: BSD-3-Clause
// Seconds and calls of the parts of a run, by name.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/interfaces/linear_operator.hpp"

namespace hyperplane {

struct TimerRow {
    std::string name;
    double seconds = 0.0;
    Index calls = 0;
    Index bytes = 0;  ///< fewest bytes all calls together must move; 0: not known
};

/// Seconds of repeated calls.
struct Timing {
    double median = 0.0, least = 0.0, most = 0.0;

    /// (most - least) / median, 0 where there is none.
    double spread() const { return median > 0.0 ? (most - least) / median : 0.0; }
};

/// All zero where there are none; of an even number the upper median.
Timing timing_of(std::vector<double> seconds);

/// Wall time since a moment.
inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Accumulates rows in the order they were first met; names nest by '/': "solve/spmv".
class TimerTree {
public:
    void add(const std::string& name, double seconds, Index bytes = 0);
    const std::vector<TimerRow>& rows() const { return rows_; }
    double seconds(const std::string& name) const;

private:
    std::vector<TimerRow> rows_;
};

/// Adds the life of this object to a row.
class TimerScope {
public:
    TimerScope(TimerTree& tree, std::string name, Index bytes = 0)
        : tree_(tree), name_(std::move(name)), bytes_(bytes), begin_(std::chrono::steady_clock::now()) {}
    ~TimerScope() { tree_.add(name_, seconds_since(begin_), bytes_); }
    TimerScope(const TimerScope&) = delete;
    TimerScope& operator=(const TimerScope&) = delete;

private:
    TimerTree& tree_;
    std::string name_;
    Index bytes_;
    std::chrono::steady_clock::time_point begin_;
};

/// Times each apply of an operator on the host. A GPU's work is only queued when a call returns, and replayed
/// without a call: there nothing is timed, and the rows stay empty.
class TimedOperator : public LinearOperator {
public:
    TimedOperator(const LinearOperator& inner, TimerTree& tree, std::string name)
        : inner_(inner), tree_(tree), name_(std::move(name)) {}
    void apply(const Vector& x, Vector& y) const override {
        timed(y, [&] { inner_.apply(x, y); });
    }
    void apply_dot(const Vector& x, Vector& y, double* product) const override {
        timed(y, [&] { inner_.apply_dot(x, y, product); });
    }
    void residual(const Vector& b, const Vector& x, Vector& r) const override {
        timed(r, [&] { inner_.residual(b, x, r); });
    }
    Index bytes_per_apply() const override { return inner_.bytes_per_apply(); }

private:
    template <class Call>
    void timed(const Vector& result, const Call& call) const {
        if (result.backend() == Backend::cuda) return call();
        TimerScope scope(tree_, name_, inner_.bytes_per_apply());
        call();
    }

    const LinearOperator& inner_;
    TimerTree& tree_;
    std::string name_;
};

}  // namespace hyperplane
