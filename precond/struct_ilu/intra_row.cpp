// SPDX-License-Identifier: BSD-3-Clause
#include "precond/struct_ilu/intra_row.hpp"

#include <algorithm>
#include <numeric>

namespace hyperplane {
namespace {

/// The row to be shared: costs and levels of its entries.
struct Row {
    const Eliminations& pairs;
    int lower;
    std::vector<int> cost, level;

    Row(const Eliminations& pairs_, int lower_, int entries)
        : pairs(pairs_), lower(lower_), cost(entries), level(entries) {
        for (int e = 0; e < entries; ++e) {
            cost[e] = pairs.begin[e + 1] - pairs.begin[e] + int(e <= lower);
            for (int at = pairs.begin[e]; at < pairs.begin[e + 1]; ++at)
                level[e] = std::max(level[e], level[pairs.l[at]] + 1);
        }
    }
    int entries() const { return int(cost.size()); }
    /// The diagonal has the last level of the entries that others need.
    int levels() const { return *std::max_element(level.begin(), level.begin() + lower + 1) + 1; }
};

/// A schedule while entries are added to it.
struct Growing : IntraRowSchedule {
    std::vector<std::vector<int>> load;  // of each group, in each stage

    Growing(const Row& row, int stages_, int groups) : load(stages_, std::vector<int>(groups)) {
        stages = stages_;
        group.resize(row.entries());
        stage.resize(row.entries());
    }
    void add(const Row& row, int e, int s, int g) {
        stage[e] = s;
        group[e] = g;
        load[s][g] += row.cost[e];
    }
    int slowest(int s) const { return *std::max_element(load[s].begin(), load[s].end()); }
    IntraRowSchedule finished() {
        for (int s = 0; s < stages; ++s) operations += slowest(s);
        return *this;
    }
};

/// Adds entries of one stage: sets of entries that depend on each other to one group each, the largest set first.
void add_stage(Growing& schedule, const Row& row, const std::vector<int>& members, int s) {
    std::vector<int> set(row.entries(), -1), sum(row.entries()), roots;
    for (int e : members) set[e] = e;
    for (int e : members)
        for (int at = row.pairs.begin[e]; at < row.pairs.begin[e + 1]; ++at)
            if (const int other = set[row.pairs.l[at]]; other >= 0 && other != set[e])
                std::replace(set.begin(), set.end(), other, int(set[e]));
    for (int e : members) sum[set[e]] += row.cost[e];
    for (int e : members)
        if (set[e] == e) roots.push_back(e);
    std::stable_sort(roots.begin(), roots.end(), [&](int a, int b) { return sum[a] > sum[b]; });
    for (int root : roots) {
        const std::vector<int>& load = schedule.load[s];
        const int g = int(std::min_element(load.begin(), load.end()) - load.begin());
        for (int e : members)
            if (set[e] == root) schedule.add(row, e, s, g);
    }
}

/// Adds an upper entry where it makes the stages take least longer; late rather than early, since its value is kept
/// until the diagonal is inverted.
void add_upper(Growing& schedule, const Row& row, int e) {
    int stage = -1, group = 0, least = 0;
    for (int s = schedule.stages - 1; s >= 0; --s)
        for (int g = 0; g < int(schedule.load[s].size()); ++g) {
            bool known = true;  // all that e needs
            for (int at = row.pairs.begin[e]; at < row.pairs.begin[e + 1]; ++at) {
                const int l = row.pairs.l[at];
                known &= schedule.stage[l] < s || (schedule.stage[l] == s && schedule.group[l] == g);
            }
            const int longer = std::max(0, schedule.load[s][g] + row.cost[e] - schedule.slowest(s));
            if (known && (stage < 0 || longer < least)) stage = s, group = g, least = longer;
        }
    schedule.add(row, e, stage, group);
}

/// The schedule whose stages end with the levels of the bits of `ends`, and with the last level.
IntraRowSchedule with_stages(const Row& row, int groups, unsigned ends) {
    const int levels = row.levels();
    std::vector<int> stage_of(levels);
    for (int level = 1; level < levels; ++level) stage_of[level] = stage_of[level - 1] + int(ends >> (level - 1) & 1);
    Growing schedule(row, stage_of.back() + 1, groups);
    for (int s = 0; s < schedule.stages; ++s) {
        std::vector<int> members;
        for (int e = 0; e <= row.lower; ++e)
            if (stage_of[row.level[e]] == s) members.push_back(e);
        add_stage(schedule, row, members, s);
    }
    std::vector<int> upper(row.entries() - row.lower - 1);
    std::iota(upper.begin(), upper.end(), row.lower + 1);
    std::stable_sort(upper.begin(), upper.end(), [&](int a, int b) { return row.cost[a] > row.cost[b]; });
    for (int e : upper) add_upper(schedule, row, e);
    return schedule.finished();
}

}  // namespace

IntraRowSchedule IntraRowSchedule::by_levels(const Eliminations& pairs, int lower, int entries, int groups) {
    const Row row(pairs, lower, entries);
    Growing schedule(row, row.levels(), groups);
    for (int level = 0; level < row.levels(); ++level) {
        std::vector<int> members;
        for (int e = 0; e < entries; ++e)
            if (row.level[e] == level) members.push_back(e);
        add_stage(schedule, row, members, level);
    }
    return schedule.finished();
}

IntraRowSchedule IntraRowSchedule::fastest(const Eliminations& pairs, int lower, int entries, int groups, int waiting) {
    const Row row(pairs, lower, entries);
    if (row.levels() > most_levels) return by_levels(pairs, lower, entries, groups);
    IntraRowSchedule best = with_stages(row, groups, 0);
    const auto time = [&](const IntraRowSchedule& one) { return one.operations + waiting * (one.stages - 1); };
    for (unsigned ends = 1; ends < 1u << (row.levels() - 1); ++ends)
        if (IntraRowSchedule one = with_stages(row, groups, ends); time(one) < time(best)) best = std::move(one);
    return best;
}

}  // namespace hyperplane
