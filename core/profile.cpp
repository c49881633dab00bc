// SPDX-License-Identifier: BSD-3-Clause
#include "core/profile.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/device/marks.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

/// Marks outside graphs that are set before any is read. Mark 0 is the origin of the timeline.
constexpr int most_marks = 4096;
/// Marks that are made ahead, so that no iteration waits for the driver: outside graphs, and for each of some graphs.
constexpr int first_marks = 1024, marks_of_graph = 64, graphs_at_once = 2;

}  // namespace

void keep_within_outer(std::vector<ProfileRow>& rows, const std::vector<Index>& open) {
    std::map<std::string, double> within;  // seconds of the kinds directly within one
    const auto outer_of = [](const ProfileRow& row) {
        const std::size_t cut = row.name.rfind('/');
        return cut == std::string::npos ? std::string() : row.name.substr(0, cut);
    };
    for (const ProfileRow& row : rows) within[outer_of(row)] += row.seconds;

    std::map<std::string, double> factors;  // of the kinds directly within one, which were shortened before it
    for (Index at = 0; at < Index(rows.size()); ++at) {
        ProfileRow& row = rows[at];
        if (const auto factor = factors.find(outer_of(row)); factor != factors.end()) row.seconds *= factor->second;
        const auto sum = within.find(row.name);
        const bool is_open = std::find(open.begin(), open.end(), at) != open.end();
        if (!is_open && sum != within.end() && sum->second > row.seconds) factors[row.name] = row.seconds / sum->second;
    }
}

Profile::Profile(const device::Stream* stream) : stream_(stream), origin_(std::chrono::steady_clock::now()) {
    if (!stream_) return;
    const auto made = [&](int count) {
        auto marks = std::make_unique<device::Marks>(*stream_);
        marks->reserve(count);
        return marks;
    };
    marks_ = made(first_marks);
    for (int graph = 0; graph < graphs_at_once; ++graph) spares_.push_back(made(marks_of_graph));
    marks_->set(0);
}

Profile::Profile(WorkObserver& observer) : Profile() {
    observer_ = &observer;
}

Profile::~Profile() = default;

Index Profile::row_of(const char* name) {
    const Index outer = open_.empty() ? -1 : open_.back().row;
    for (Index row = outer + 1; row < Index(rows_.size()); ++row)
        if (outer_[row] == outer && kind_[row] == name) return row;
    rows_.push_back({(outer < 0 ? "" : rows_[outer].name + "/") + name, 0.0, 0, 0});
    outer_.push_back(outer);
    kind_.emplace_back(name);
    return Index(rows_.size()) - 1;
}

void Profile::add(Index row, Index bytes) {
    rows_[row].calls += 1;
    rows_[row].bytes += bytes;
}

void Profile::add_span(Index row, double begin, double end) {
    if (spans_.size() < most_spans) spans_.push_back({row, begin, end});
}

/// A mark at this place of the stream. In a graph the last one serves, if nothing has been queued since.
int Profile::mark() {
    if (graph_) return graph_->mark();
    const Index queued = stream_->queued();
    if (!shares_ || next_mark_ == 1 || queued != queued_at_mark_) marks_->set(next_mark_++);
    queued_at_mark_ = queued;
    return next_mark_ - 1;
}

void Profile::begin(const char* name, Index bytes, bool whole) {
    if (observer_) return observer_->begin(name);
    if (paused_ > 0) return void(++paused_);
    Open scope{.row = row_of(name), .bytes = bytes, .whole = whole};
    if (stream_) {
        device::open_range(name);
        if (!graph_ && open_.empty() && next_mark_ > most_marks) settle();
        scope.mark = mark();
    }
    if (graph_) scope.place = graph_->add(scope.row, bytes, scope.mark);
    scope.when = std::chrono::steady_clock::now();
    open_.push_back(scope);
    if (whole) paused_ = 1;
}

/// It is called by destructors, so an error of the GPU, which the next call of CUDA reports, too, loses the scope.
void Profile::end() noexcept {
    if (observer_) return observer_->end();
    if (paused_ > (open_.empty() || !open_.back().whole ? 0 : 1)) return void(--paused_);
    const Open scope = open_.back();
    open_.pop_back();
    paused_ = 0;
    if (!stream_) {
        const auto now = std::chrono::steady_clock::now();
        const auto since = [&](auto when) { return std::chrono::duration<double>(now - when).count(); };
        const double begin = std::chrono::duration<double>(scope.when - origin_).count();
        add(scope.row, scope.bytes);
        rows_[scope.row].seconds += since(scope.when);
        return add_span(scope.row, begin, since(origin_));
    }
    device::close_range();
    try {
        const int at = mark();
        if (graph_) return void(graph_->scopes_[scope.place].end = at);
        add(scope.row, scope.bytes);
        pending_.push_back({scope.row, scope.mark, at});
    } catch (const Error&) {
    }
}

void Profile::settle() {
    for (const Pending& scope : pending_) {
        const double seconds = scope.begin == scope.end ? 0.0 : marks_->seconds(scope.begin, scope.end);
        rows_[scope.row].seconds += seconds;
        if (spans_.size() == most_spans) continue;
        const double begin = marks_->seconds(0, scope.begin);
        add_span(scope.row, begin, begin + seconds);
    }
    pending_.clear();
    if (open_.empty()) next_mark_ = 1;
}

std::vector<ProfileRow> Profile::rows() {
    if (!stream_) return rows_;
    settle();
    std::vector<ProfileRow> rows = rows_;
    std::vector<Index> open;
    for (const Open& scope : open_) open.push_back(scope.row);
    keep_within_outer(rows, open);
    return rows;
}

Profile::Graph::Graph(Profile& profile) : profile_(profile) {
    if (profile.spares_.empty()) {
        marks_ = std::make_unique<device::Marks>(*profile.stream_);
    } else {
        marks_ = std::move(profile.spares_.back());
        profile.spares_.pop_back();
    }
}

Profile::Graph::~Graph() {
    const double scale = replays_ > 0 ? double(replays_ + skips_) / double(replays_) : 0.0;
    for (const Scope& scope : scopes_) {
        ProfileRow& row = profile_.rows_[scope.row];
        row.seconds += scope.seconds * scale;
        row.calls += replays_ + skips_;
        row.bytes += (replays_ + skips_) * scope.bytes;
    }
    profile_.spares_.push_back(std::move(marks_));
}

std::size_t Profile::Graph::add(Index row, Index bytes, int begin) {
    scopes_.push_back({row, bytes, begin, begin});
    return scopes_.size() - 1;
}

int Profile::Graph::mark() {
    const Index queued = profile_.stream_->queued();
    if (next_mark_ == 0 || queued != queued_at_mark_) marks_->set(next_mark_++);
    queued_at_mark_ = queued;
    return next_mark_ - 1;
}

void Profile::Graph::replayed() {
    ++replays_;
    if (scopes_.empty()) return;
    times_.assign(next_mark_, 0.0);
    for (int at = 1; at < next_mark_; ++at) times_[at] = marks_->seconds(0, at);
    const bool draws = profile_.spans_.size() < most_spans;
    const double begin = draws ? marks_->seconds_after(*profile_.marks_, 0, 0) : 0.0;
    for (Scope& scope : scopes_) {
        const double seconds = times_[scope.end] - times_[scope.begin];
        scope.seconds += seconds;
        if (draws) profile_.add_span(scope.row, begin + times_[scope.begin], begin + times_[scope.end]);
    }
}

}  // namespace hyperplane
