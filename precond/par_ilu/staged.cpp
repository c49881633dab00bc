// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilu/staged.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>

namespace hyperplane {
namespace {

constexpr int width = 8, entry_ring = 4, most_stages = 8, stage_rows = 2, run_ring = 4, inverse_ring = 2;

/// The coordinates that are equal for offsets that differ along x alone.
std::array<int, 2> across(const Int3& o) {
    return {o.z, o.y};
}

}  // namespace

FactorSweepRows::FactorSweepRows(const IluPattern& shape) : shape_(shape) {
    add_factors();
    add_pairs();
}

/// Adds, for each line of lower offsets, copies of E_l(p), then one of D^-1(p+l).
void FactorSweepRows::add_factors() {
    const Stencil& s = shape_.stencil;
    std::map<std::array<int, 2>, std::vector<int>> lines;
    for (int l = 0; l < s.lower_size(); ++l) lines[across(s[l])].push_back(l);
    for (auto& [line, lowers] : lines) {
        std::sort(lowers.begin(), lowers.end(), [&](int x, int y) { return s[x].x < s[y].x; });
        const int first = s[lowers.front()].x;
        Row inverses{inverse, s.diagonal(), lowers.front(), s[lowers.back()].x - first, {}};
        for (const int l : lowers) {
            rows_.push_back({lower, l, s.diagonal(), 0, {{l, -1, 0}}});
            inverses.terms.push_back({l, -1, s[l].x - first});
        }
        rows_.push_back(inverses);
    }
}

/// Adds copies of F_u(p+l). Entries that differ along x alone are adjacent, so that few sums are in progress at a time.
void FactorSweepRows::add_pairs() {
    const Stencil& s = shape_.stencil;
    const Eliminations pairs = shape_.eliminations();
    std::vector<int> entry_of;
    for (int e = 0; e < s.size(); ++e) entry_of.resize(pairs.begin[e + 1], e);
    const auto row_of = [&](int pair) {
        return std::tuple(across(s[entry_of[pair]]), across(s[pairs.l[pair]]), pairs.u[pair]);
    };
    const auto key = [&](int pair) { return std::tuple(row_of(pair), s[pairs.l[pair]].x); };
    std::vector<int> order(pairs.count());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int x, int y) { return key(x) < key(y); });
    first_term_.assign(s.size(), -1);
    last_term_.assign(s.size(), -1);
    int before = 0;
    for (const Row& row : rows_) before += int(row.terms.size());
    for (int at = 0; at < int(order.size()); ++at) {
        const int pair = order[at], l = pairs.l[pair], e = entry_of[pair];
        if (at == 0 || row_of(pair) != row_of(order[at - 1])) rows_.push_back({upper, pairs.u[pair], l, 0, {}});
        Row& row = rows_.back();
        row.span = s[l].x - s[row.from].x;
        row.terms.push_back({l, e, row.span});
        if (first_term_[e] < 0) first_term_[e] = before + at;
        last_term_[e] = before + at;
    }
    for (int at = 0; at < int(order.size()); ++at)
        if (const int e = entry_of[order[at]]; last_term_[e] == before + at && shape_.a_stencil.find(s[e]) >= 0)
            finished_.push_back(e);
}

int FactorSweepRows::most_span() const {
    int most = 0;
    for (const Row& row : rows_) most = std::max(most, row.span);
    return most;
}

/// Shared memory besides the rows, in doubles: A's entries, blocks to be inverted, and barriers, as in
/// precond/par_ilu/staged_copies.cuh.
Index FactorSweepRows::doubles_but_rows() const {
    const Index block = shape_.dof * shape_.dof, staged = (block + 1) / 2 * 2 + 2;
    return planes * width * (entry_ring * block + inverse_ring * 2 * staged) + run_ring / 2 +
           2 * (most_stages + entry_ring + inverse_ring + run_ring);
}

Index FactorSweepRows::row_doubles() const {
    return Index(planes + most_span()) * width * shape_.dof * shape_.dof;
}

/// Number of stages, a power of two because precond/par_ilu/staged_copies.cuh requires one.
int FactorSweepRows::ring() const {
    const Index room =
        (factor_sweep_shared_limit / Index(sizeof(double)) - doubles_but_rows()) / (stage_rows * row_doubles());
    int stages = most_stages;
    while (stages > room) stages /= 2;
    return stages;
}

bool FactorSweepRows::serves() const {
    const int lowers = shape_.stencil.lower_size();
    return (shape_.dof == 6 || shape_.dof == 8) && !shape_.shares && !shape_.symmetric &&
           shape_.layout.kind() == LayoutKind::hyperplane && lowers <= 13 &&
           shape_.eliminations().count() > 6 * lowers && last_term_[shape_.stencil.diagonal()] >= 0 && ring() >= 2;
}

Index FactorSweepRows::shared_bytes() const {
    return (doubles_but_rows() + ring() * stage_rows * row_doubles()) * Index(sizeof(double));
}

rtc::Definitions FactorSweepRows::definitions() const {
    std::vector<int> kind, source, begin{0}, l, e, shift;
    for (const Row& row : rows_) {
        kind.push_back(row.kind);
        source.push_back(row.values | row.from << 8 | row.span << 16);
        for (const Term& term : row.terms) {
            l.push_back(term.l);
            e.push_back(term.e);
            shift.push_back(term.shift);
        }
        begin.push_back(int(l.size()));
    }
    return {{"ROWS", std::to_string(rows_.size())},
            {"ROW_KIND", rtc::array_of(kind)},
            {"ROW_SOURCE", rtc::array_of(source)},
            {"MOST_SPAN", std::to_string(most_span())},
            {"ROW_TERMS", rtc::array_of(begin)},
            {"TERM_L", rtc::array_of(l)},
            {"TERM_E", rtc::array_of(e)},
            {"TERM_SHIFT", rtc::array_of(shift)},
            {"FIRST_TERM", rtc::array_of(first_term_)},
            {"LAST_TERM", rtc::array_of(last_term_)},
            {"FINISHED", rtc::array_of(finished_)},
            {"STAGE_ROWS", std::to_string(stage_rows)},
            {"ROW_RING", std::to_string(ring())},
            {"A_RING", std::to_string(entry_ring)}};
}

}  // namespace hyperplane
