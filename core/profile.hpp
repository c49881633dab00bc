// SPDX-License-Identifier: BSD-3-Clause
// Profile: where the time of a context's work goes, by kind.
//
// Functions that do work open a ProfileScope with the name of its kind and the bytes that it must move at least. Scopes
// nest, and a '/' separates their names: "solve/preconditioner/lower". Without a profile in the context a scope does
// nothing. On a CPU a scope is timed by the host's clock. On a GPU it lies between two events of the stream
// (core/device/marks.hpp). Within a CUDA graph the events are nodes of the graph, so each replay of it records them
// anew:
//
//     1. While a graph is recorded, scopes leave marks in it. A scope begins at the mark at which the one before it
//        ended, unless work was queued between them.
//     2. After a replay has been waited for, `replayed` reads the times between the marks.
//     3. A graph without marks may be replayed instead of its twin with marks (`skipped`). At its end, each scope
//        counts with the mean time of the replays that were measured.
//     4. A mark takes about a microsecond, so replays with marks are slower than those without. Where kinds would take
//        longer together than the work that they are part of, `rows` shortens each by the same factor.
//
// A profile adds no work but the marks, so results have the same bits with and without it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/device/context.hpp"

namespace hyperplane {

namespace device {
class Marks;
}

/// The work of one kind.
struct ProfileRow {
    std::string name;
    double seconds = 0.0;  ///< of all calls, the kinds inside this one included
    Index calls = 0;
    Index bytes = 0;  ///< the least that all calls together must move; 0: not known
};

/// Shortens the kinds directly within a kind, all by one factor, where their sum is longer than the kind itself. A kind
/// stands before those within it. Rows whose scopes are `open` lack the time of their last call, and shorten none.
void keep_within_outer(std::vector<ProfileRow>& rows, const std::vector<Index>& open);

/// One call of a scope, for a timeline.
struct ProfileSpan {
    Index row = 0;                  ///< place in Profile::rows()
    double begin = 0.0, end = 0.0;  ///< seconds since the profile was made
};

/// Is told of scopes when they begin and end, by the thread that does the work.
class WorkObserver {
public:
    virtual ~WorkObserver() = default;
    virtual void begin(const char* name) = 0;
    virtual void end() noexcept = 0;
};

class Profile {
    /// Gives a variable another value for a while.
    template <class T>
    class Exchange {
    public:
        Exchange(T& variable, T value) : variable_(variable), before_(std::exchange(variable, value)) {}
        ~Exchange() { variable_ = before_; }
        Exchange(const Exchange&) = delete;
        Exchange& operator=(const Exchange&) = delete;

    private:
        T& variable_;
        T before_;
    };

public:
    /// A profile of the work on this stream, or of a CPU if it is null.
    explicit Profile(const device::Stream* stream = nullptr);
    /// A profile of a CPU that measures nothing and passes the scopes on to an observer, which lives longer.
    explicit Profile(WorkObserver& observer);
    ~Profile();
    Profile(const Profile&) = delete;
    Profile& operator=(const Profile&) = delete;

    /// Opens a scope. With `whole`, scopes within it are left out until it ends.
    void begin(const char* name, Index bytes, bool whole = false);
    void end() noexcept;
    /// Calls `work`, whose scopes are left out.
    template <class Work>
    void without(const Work& work) {
        const Exchange<int> paused(paused_, paused_ + 1);
        work();
    }

    /// Calls `work`, whose scopes follow one another on a GPU without a pause of the host: they share marks as in a
    /// graph.
    template <class Work>
    void without_pauses(const Work& work) {
        const Exchange<bool> sharing(shares_, true);
        queued_at_mark_ = -1;  // the first scope has a mark of its own
        work();
    }

    /// The rows in the order in which the names first occurred. On a GPU it waits for the work that is under way.
    std::vector<ProfileRow> rows();
    /// The first `most_spans` calls that were measured one by one, in no particular order.
    const std::vector<ProfileSpan>& spans() const { return spans_; }
    static constexpr std::size_t most_spans = 20000;

    /// The marks that scopes have left in one graph.
    class Graph {
    public:
        explicit Graph(Profile& profile);
        ~Graph();  ///< adds the replays to the profile's rows
        Graph(const Graph&) = delete;
        Graph& operator=(const Graph&) = delete;

        /// Calls `record`, which records a graph; scopes leave marks in it.
        template <class Record>
        void recording(const Record& record) {
            const Exchange<Graph*> current(profile_.graph_, this);
            record();
        }
        /// Reads the marks of a replay that is finished.
        void replayed();
        /// Counts a replay of the same work without marks.
        void skipped() { ++skips_; }

    private:
        friend class Profile;
        struct Scope {
            Index row;
            Index bytes;
            int begin, end;        ///< numbers of marks
            double seconds = 0.0;  ///< of all replays that were read
        };
        std::size_t add(Index row, Index bytes, int begin);
        int mark();

        Profile& profile_;
        std::unique_ptr<device::Marks> marks_;
        std::vector<Scope> scopes_;
        std::vector<double> times_;  ///< of the marks, since the first one
        int next_mark_ = 0;
        Index queued_at_mark_ = 0;
        Index replays_ = 0, skips_ = 0;
    };

private:
    struct Open {
        Index row;
        Index bytes;
        bool whole;
        int mark = 0;
        std::size_t place = 0;  ///< in a graph's scopes
        std::chrono::steady_clock::time_point when = {};
    };
    struct Pending {
        Index row;
        int begin, end;
    };

    Index row_of(const char* name);
    int mark();
    void add(Index row, Index bytes);
    void add_span(Index row, double begin, double end);
    void settle();

    const device::Stream* stream_;
    std::chrono::steady_clock::time_point origin_;
    std::vector<ProfileRow> rows_;
    std::vector<Index> outer_;       ///< the row in which a row lies, -1 for phases
    std::vector<std::string> kind_;  ///< the last part of its name
    std::vector<ProfileSpan> spans_;
    std::vector<Open> open_;
    std::unique_ptr<device::Marks> marks_;                ///< of work outside graphs
    std::vector<std::unique_ptr<device::Marks>> spares_;  ///< for graphs
    std::vector<Pending> pending_;                        ///< scopes between marks that have not been read
    int next_mark_ = 1;
    bool shares_ = false;       ///< whether scopes outside graphs share marks
    Index queued_at_mark_ = 0;  ///< outside graphs: work that had been queued at the last mark
    int paused_ = 0;            ///< while above 0, scopes are left out
    Graph* graph_ = nullptr;    ///< that is being recorded
    WorkObserver* observer_ = nullptr;
};

/// Counts the work of its lifetime as work of a kind. `name` is a literal or outlives the profile's scope.
class ProfileScope {
public:
    enum Parts { parted, whole };  ///< whole: scopes within this one are left out

    ProfileScope(const Context& context, const char* name, Index bytes = 0, Parts parts = parted)
        : profile_(context.profile()) {
        if (profile_) profile_->begin(name, bytes, parts == whole);
    }
    ~ProfileScope() {
        if (profile_) profile_->end();
    }
    ProfileScope(const ProfileScope&) = delete;
    ProfileScope& operator=(const ProfileScope&) = delete;

private:
    Profile* profile_;
};

}  // namespace hyperplane
