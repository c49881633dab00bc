// SPDX-License-Identifier: BSD-3-Clause
// Says in the log what work is under way, if it takes more than some seconds: planning and setting up a large general
// matrix may take minutes.
//
//   info: assembling the matrix and setting up par_ilut (setup/factorisation/candidates), 12.5 s so far
//
// A thread of its own writes the lines. It reads the names of the scopes that are open (core/profile.hpp) and touches
// nothing else of the work.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/profile.hpp"

namespace hyperplane {

class LongWork : public WorkObserver {
public:
    /// Writes a line.
    using Say = std::function<void(const std::string& text)>;
    /// Times of the lines. Between two of them lies a quarter of the time so far, within these limits.
    struct Pace {
        std::chrono::milliseconds first{5000}, least{5000}, most{60000};
        /// The usual one. Tests set HYPERPLANE_TELL_AFTER to the milliseconds of `first` and `least`.
        static Pace usual();
    };

    /// Is called with the name of a scope where it begins, and may throw to end the work there.
    using AtScope = std::function<void(const char* name)>;

    /// The work begins now and lasts as long as this object. Without `say` nothing is told.
    explicit LongWork(std::string what, Say say = in_the_log, Pace pace = Pace::usual(), AtScope at_scope = {});
    ~LongWork() override;
    LongWork(const LongWork&) = delete;
    LongWork& operator=(const LongWork&) = delete;

    void begin(const char* name) override;
    void end() noexcept override;

private:
    using Clock = std::chrono::steady_clock;
    static void in_the_log(const std::string& text);
    void tell();
    std::string line() const;

    std::string what_;
    Say say_;
    Pace pace_;
    AtScope at_scope_;
    Clock::time_point began_ = Clock::now();
    std::vector<std::string> open_;  ///< names of the scopes, the innermost last
    bool over_ = false;
    mutable std::mutex mutex_;
    std::condition_variable ended_;
    std::thread thread_;
};

/// Long work whose scopes in a context are told, too: on a CPU, unless the context has a profile that measures them.
class LongWorkOf {
public:
    LongWorkOf(const Context& context, std::string what, LongWork::Say say, LongWork::AtScope at_scope = {});
    ~LongWorkOf();
    LongWorkOf(const LongWorkOf&) = delete;
    LongWorkOf& operator=(const LongWorkOf&) = delete;

private:
    const Context& context_;
    LongWork work_;
    bool observed_;
};

/// Whether all ranks begin scopes of this name together during a set-up, so that they can decide there what all of them
/// do. Other scopes, such as exchanges, may not be begun by every rank.
bool begun_by_all_ranks(std::string_view scope);

}  // namespace hyperplane
