// SPDX-License-Identifier: BSD-3-Clause
// hyperplane study run STUDY, and resume

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <thread>

#include "apps/base/backend.hpp"
#include "apps/base/log.hpp"
#include "apps/base/quoting.hpp"
#include "apps/base/signals.hpp"
#include "apps/run/progress.hpp"
#include "apps/study/child.hpp"
#include "apps/study/pending.hpp"
#include "apps/study/prediction.hpp"
#include "apps/study/subverbs.hpp"
#include "apps/study/watch.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/timer.hpp"
#include "io/costs.hpp"

namespace hyperplane {
namespace {

using Clock = std::chrono::steady_clock;

/// Starts cases when there is memory for them, and prints how they end.
class CaseRunner {
public:
    CaseRunner(const Study& study, const Pending& pending, int jobs, const Invocation& invocation)
        : study_(study),
          pending_(pending),
          jobs_(jobs),
          style_(Progress::style_for_stderr(invocation.has("quiet"))),
          overwrite_(invocation.overwrite()),
          wait_(invocation.has("wait")) {
        predictions_ = predict(study, pending.cases);
        for (std::size_t at = 0; at < predictions_.size(); ++at)
            rooms_.push_back(room_for(*pending.cases[at], predictions_[at]));
        refuse_wrong(study, pending.cases, predictions_);
        // Each job gets its share of the processors, unless the user has set the number of threads.
        if (invocation.has("watch")) watch_.emplace(study, STDERR_FILENO);
        if (!std::getenv("OMP_NUM_THREADS")) threads_ = std::max(1, omp_get_num_procs() / jobs);
    }

    /// Runs until all cases have ended. After a signal no more are started, and running ones keep their state and end.
    void run() {
        while (next_ < pending_.cases.size() || !running_.empty()) {
            if (stop_signal() && !stopping_) stop();
            while (!stopping_ && int(running_.size()) < jobs_ && next_ < pending_.cases.size())
                if (!start_next()) break;
            for (auto job = running_.begin(); job != running_.end();)
                if (const auto ending = job->child.poll()) {
                    show_end(*job, *ending);
                    job = running_.erase(job);
                } else {
                    ++job;
                }
            if (stopping_ && running_.empty()) break;
            show_running();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        clear_line();
        if (watch_) watch_->draw();
        for (const std::string& message : told_below_) logging::warn("{}", message);
    }

    bool stopped() const { return stopping_; }

private:
    struct Job {
        const StudyCase* a_case;
        Index bytes;
        Clock::time_point begin;
        Child child;
    };

    void stop() {
        stopping_ = true;
        clear_line();
        logging::warn("stopped by {}: {}", signal_name(stop_signal()),
                      running_.size() == 1 ? "the running case keeps its state"
                                           : fmt::format("{} running cases keep their state", running_.size()));
        for (Job& job : running_) job.child.send(SIGTERM);
    }

    /// Starts the next case; returns false if it must wait until a running one has ended and left its memory.
    bool start_next() {
        const StudyCase& a_case = *pending_.cases[next_];
        const Prediction& prediction = predictions_[next_];
        Index held = 0;
        for (const Job& job : running_) held += job.bytes;
        if (prediction.unsure.empty() && !prediction.fits(rooms_[next_] - held)) {
            if (!running_.empty()) return false;
            print_line("does not fit", 0.0,
                       fmt::format("needs {}, {} left", in_mib(prediction.bytes), in_mib(rooms_[next_])), a_case);
            ++next_;
            return true;
        }
        std::vector<std::string> words = {"run", as_argument(study_.file), "--case", a_case.hash};
        if (overwrite_ == Overwrite::any) words.push_back("--force");
        if (wait_) words.push_back("--wait");
        try {
            guard_output(a_case.beside("log"), FileKind::log, overwrite_);  // while the record is still in its place
            if (pending_.replaces[next_]) tell(set_aside(a_case, overwrite_));
            running_.push_back({&a_case, std::max<Index>(0, prediction.bytes), Clock::now(),
                                Child(words, threads_, a_case.beside("log"), overwrite_)});
        } catch (const FileError& error) {  // such as a file with the log's name that is not ours: others can be run
            print_line("not begun", 0.0, error.what(), a_case);
        } catch (const OutOfMemory&) {  // there may be room for a process when another one has ended
            if (running_.empty()) throw;
            return false;
        }
        ++next_;
        return true;
    }

    void show_end(const Job& job, Ending ending) {
        const CaseState state = look_at(*job.a_case);
        std::string what = to_string(state.status), detail;
        if (state.record) {
            const Costs costs = costs_of(*state.record);
            detail = counted(costs.iterations, "iteration");
            if (costs.parts > 1) detail += fmt::format(", in {} parts on {}", costs.parts, costs.places);
        }
        if (state.status == CaseStatus::failed) detail = state.detail;
        if (state.status == CaseStatus::running) {
            what = "elsewhere";
            detail = state.detail;
        } else if (!state.record && state.status != CaseStatus::preempted) {
            what = ending.signal ? "killed" : "failed";
            detail = ending.signal ? fmt::format("by signal {} ({})", ending.signal, strsignal(ending.signal))
                                   : fmt::format("exit code {}, see {}", ending.exit_code, job.a_case->beside("log"));
        }
        print_line(what, seconds_since(job.begin), detail, *job.a_case);
    }

    void print_line(const std::string& what, double seconds, const std::string& detail, const StudyCase& a_case) {
        clear_line();
        ++ended_;
        if (style_ != Progress::Style::none && !watch_) {
            fmt::print(stderr, "[{:>{}}/{}] {:<9} {:>8.1f} s  {}  {}\n", ended_,
                       fmt::formatted_size("{}", pending_.cases.size()), pending_.cases.size(), what, seconds,
                       a_case.name, detail);
            return;
        }
        // Where no lines are printed, what went wrong is told all the same.
        if (what == "done" || what == "elsewhere" || (stopping_ && what == "preempted")) return;
        tell(fmt::format("{}: case {}: {}{}{}", study_.file, a_case.name, what, detail.empty() ? "" : ", ", detail));
    }

    /// Warns; not within the table of --watch, but below it when it is not redrawn any more.
    void tell(const std::string& message) {
        if (message.empty()) return;
        clear_line();
        if (watch_)
            told_below_.push_back(message);
        else
            logging::warn("{}", message);
    }

    /// Shows the running cases on a terminal, as a line that is overwritten or as the table of --watch.
    void show_running() {
        if (style_ != Progress::Style::terminal || seconds_since(shown_) < (watch_ ? 0.5 : 0.2)) return;
        shown_ = Clock::now();
        if (watch_) return watch_->draw();
        const double elapsed = seconds_since(begin_);
        const std::size_t left = pending_.cases.size() - ended_;
        const std::string eta = ended_ == 0 ? "--" : duration_text(elapsed / double(ended_) * double(left));
        fmt::print(stderr, "\r{} running, {} to go, elapsed {}, ETA {}{}\033[K", running_.size(),
                   left - running_.size(), duration_text(elapsed), eta,
                   running_.empty() ? "" : fmt::format("  {}", running_.front().a_case->name.substr(0, 60)));
        std::fflush(stderr);
        line_shown_ = true;
    }

    void clear_line() {
        if (line_shown_) fmt::print(stderr, "\r\033[K");
        line_shown_ = false;
    }

    const Study& study_;
    const Pending& pending_;
    int jobs_, threads_ = 0;
    Progress::Style style_;
    Overwrite overwrite_;
    bool wait_;
    std::vector<Prediction> predictions_;  ///< of each pending case
    std::vector<Index> rooms_;             ///< memory that was available for each at the beginning
    std::list<Job> running_;
    std::optional<StudyWatch> watch_;
    std::vector<std::string> told_below_;  ///< messages of `tell`
    std::size_t next_ = 0, ended_ = 0;
    bool stopping_ = false, line_shown_ = false;
    Clock::time_point begin_ = Clock::now(), shown_ = begin_;
};

/// Prints the states of all cases, which are read again, since cases that other processes were computing may have
/// ended, and what to do next. Returns whether all are done.
bool print_summary(const Study& study) {
    std::map<CaseStatus, int> counts;
    bool any_result = false, any_goes_on = false;
    for (const StudyCase& a_case : study.cases) {
        const CaseState state = look_at(a_case);
        ++counts[state.status];
        any_result |= state.has_result();
        any_goes_on |= state.status == CaseStatus::preempted || state.status == CaseStatus::killed ||
                       state.status == CaseStatus::unwritten || state.may_pass_next_time();
    }
    const bool all_done = counts[CaseStatus::done] == int(study.cases.size());
    const std::string word = shown_argument(study.file);
    std::string next;
    const auto hint = [&](const char* verb, const char* what) {
        next += fmt::format("{} hyperplane study {} {} {}", next.empty() ? ";" : ",", verb, word, what);
    };
    if (any_goes_on) hint("resume", "goes on");
    if (!all_done) hint("status", "says what became of each");
    if (any_result) hint("collect", all_done ? "makes one file of them" : "makes one file of the results");
    fmt::print("{}: {} of {} cases done{}{}\n", study.file, counts[CaseStatus::done], study.cases.size(),
               other_states(counts), next);
    return all_done;
}

}  // namespace

int study_run(const Study& study, const Invocation& invocation, bool retry) {
    if (invocation.has("watch") && invocation.has("quiet"))
        throw UsageError("study: --watch shows a table and --quiet shows nothing; give one of them");
    const int jobs = parse_count("jobs", invocation.value("jobs", "1"), 1);
    study.make_folder();
    const OutputLock lock(launcher_lock(study, invocation));
    const Pending pending = find_pending(study, {.failed = invocation.has("failed"),
                                                 .retry = retry,
                                                 .edited = invocation.has("edited"),
                                                 .logs = true,
                                                 .overwrite = invocation.overwrite()});
    logging::info("{}: {} to run, {} done before, {} failed before, {} running elsewhere{}", study.file,
                  counted(Index(pending.cases.size()), "case"), pending.done, pending.failed, pending.running,
                  pending.left_out > 0 ? fmt::format(", {} left out", pending.left_out) : "");
    CaseRunner runner(study, pending, jobs, invocation);
    runner.run();
    if (runner.stopped()) {
        logging::warn("{}: hyperplane study resume {} goes on", study.file, shown_argument(study.file));
        return int(ExitCode::checkpointed);
    }
    return int(print_summary(study) ? ExitCode::ok : ExitCode::expectation);
}

}  // namespace hyperplane
