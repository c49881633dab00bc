// SPDX-License-Identifier: BSD-3-Clause
// Timers: seconds and calls of the parts of a run, by name.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/interfaces/eisenstat.hpp"
#include "core/interfaces/linear_operator.hpp"
#include "core/profile.hpp"

namespace hyperplane {

struct TimerRow {
    std::string name;
    double seconds = 0.0;
    Index calls = 0;
    Index bytes = 0;  ///< the least that all calls together must move; 0: not known
};

/// Statistics of the seconds of repeated calls.
struct Timing {
    double median = 0.0, least = 0.0, most = 0.0;

    /// (most - least) / median; 0 where the median is 0.
    double spread() const { return median > 0.0 ? (most - least) / median : 0.0; }
};

/// All zero if `seconds` is empty. For an even number of values the median is the upper one of the two in the middle.
Timing timing_of(std::vector<double> seconds);

/// Wall time since `begin`.
inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class TimerScope;

/// Accumulates one row a name, in the order in which the names first occur. A '/' separates the name of a scope from
/// that of a scope inside it: "solve/spmv".
class TimerTree {
public:
    void add(const std::string& name, double seconds, Index bytes = 0);
    /// Adds rows, such as those of a run that this one continues.
    void add(const std::vector<TimerRow>& rows);
    const std::vector<TimerRow>& rows() const { return rows_; }
    /// The rows, with the time that open scopes have taken so far.
    std::vector<TimerRow> rows_so_far() const;
    double seconds(const std::string& name) const;

private:
    friend class TimerScope;
    TimerRow& row(const std::string& name);

    std::vector<TimerRow> rows_;
    std::vector<const TimerScope*> open_;  ///< the innermost last
};

/// Adds the lifetime of this object to the row `name`.
class TimerScope {
public:
    TimerScope(TimerTree& tree, std::string name, Index bytes = 0)
        : tree_(tree), name_(std::move(name)), bytes_(bytes), begin_(std::chrono::steady_clock::now()) {
        tree_.open_.push_back(this);
    }
    ~TimerScope() {
        tree_.open_.pop_back();
        tree_.add(name_, seconds_since(begin_), bytes_);
    }
    TimerScope(const TimerScope&) = delete;
    TimerScope& operator=(const TimerScope&) = delete;

private:
    friend class TimerTree;
    TimerTree& tree_;
    std::string name_;
    Index bytes_;
    std::chrono::steady_clock::time_point begin_;
};

/// Times each apply of an operator on the host. On a GPU a call returns when its work is queued, and a recorded graph
/// repeats the work without a call, so nothing is timed there and no row is added. A profile has the call as a kind of
/// its own on either backend, under the last part of the timer's name; true residuals are the kind "residual".
class TimedOperator : public LinearOperator, private EisenstatForm {
public:
    TimedOperator(const LinearOperator& inner, TimerTree& tree, std::string name)
        : inner_(inner), tree_(tree), name_(std::move(name)) {}
    void apply(const Vector& x, Vector& y) const override {
        timed(y, kind(), inner_.bytes_per_apply(), [&] { inner_.apply(x, y); });
    }
    void apply_dot(const Vector& x, Vector& y, double* product) const override {
        const Index more = inner_.vectors_of_dot() * y.size() * Index(sizeof(double));
        timed(y, kind(), inner_.bytes_per_apply() + more, [&] { inner_.apply_dot(x, y, product); });
    }
    void residual(const Vector& b, const Vector& x, Vector& r) const override {
        const Index more = r.size() * Index(sizeof(double));
        timed(r, "residual", inner_.bytes_per_apply() + more, [&] { inner_.residual(b, x, r); });
    }
    Index bytes_per_apply() const override { return inner_.bytes_per_apply(); }
    const EisenstatForm* eisenstat() const override { return inner_.eisenstat() ? this : nullptr; }

private:
    void begin(const Vector& r, Vector& s) const override {
        part_of_iteration(s, [&] { inner_.eisenstat()->begin(r, s); });
    }
    void upper_step(const double* before, const EisenstatBounds& bounds, const EisenstatVectors& v,
                    double* sums) const override {
        part_of_iteration(v.u, [&] { inner_.eisenstat()->upper_step(before, bounds, v, sums); });
    }
    void lower_step(const EisenstatVectors& v, double* sums) const override {
        part_of_iteration(v.u, [&] { inner_.eisenstat()->lower_step(v, sums); });
    }
    void finish(Vector& y, Vector& x) const override {
        part_of_iteration(x, [&] { inner_.eisenstat()->finish(y, x); });
    }

    bool by_roots() const override { return inner_.eisenstat()->by_roots(); }
    void times_roots(bool divide, Vector& x) const override { inner_.eisenstat()->times_roots(divide, x); }

    /// How many bytes it moves is not told.
    template <class Call>
    void part_of_iteration(const Vector& result, const Call& call) const {
        const ProfileScope work(result.context(), kind());
        if (result.backend() == Backend::cuda) return call();
        TimerScope scope(tree_, name_);
        call();
    }

    const char* kind() const { return name_.c_str() + name_.rfind('/') + 1; }

    template <class Call>
    void timed(const Vector& result, const char* kind, Index bytes, const Call& call) const {
        const ProfileScope work(result.context(), kind, bytes);
        if (result.backend() == Backend::cuda) return call();
        TimerScope scope(tree_, name_, inner_.bytes_per_apply());
        call();
    }

    const LinearOperator& inner_;
    TimerTree& tree_;
    std::string name_;
};

}  // namespace hyperplane
