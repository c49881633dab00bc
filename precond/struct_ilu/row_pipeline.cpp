// SPDX-License-Identifier: BSD-3-Clause
#include "precond/struct_ilu/row_pipeline.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace hyperplane {
namespace {

constexpr int inversion_stage = 2, last_stage = 3;

/// A pipeline while entries are added to it.
class GrowingPipeline {
public:
    GrowingPipeline(const Eliminations& pairs, const std::vector<int>& levels, int lower, int groups)
        : group(levels.size(), -1),
          update_stage(pairs.count()),
          known_at(levels.size()),
          ends_at(levels.size()),
          pairs_(pairs),
          levels_(levels),
          lower_(lower),
          load_{std::vector<int>(groups), std::vector<int>(groups)} {}

    std::vector<int> group, update_stage, known_at, ends_at;

    int operations() const { return slowest(0) + slowest(1); }
    int groups() const { return int(load_[0].size()); }

    /// Adds an entry that others need: a lower one, the sum of which is not known before stage `not_before`, or the
    /// diagonal. False if the diagonal would be inverted too late.
    bool add(int e, int g, int not_before) {
        group[e] = g;
        int known = not_before;
        for (int at = pairs_.begin[e]; at < pairs_.begin[e + 1]; ++at) {
            update_stage[at] = earliest(pairs_.l[at], g);
            known = std::max(known, update_stage[at]);
            ++load_[update_stage[at] % 2][g];
        }
        known_at[e] = known;
        ends_at[e] = levels_[e] <= -2 ? known : std::max(known, inversion_stage);
        ++load_[ends_at[e] % 2][g];
        return e < lower_ || ends_at[e] == inversion_stage;
    }
    /// The stage after which the sum of an entry would be known in group g.
    int known_in(int e, int g) const {
        int known = 0;
        for (int at = pairs_.begin[e]; at < pairs_.begin[e + 1]; ++at)
            known = std::max(known, earliest(pairs_.l[at], g));
        return known;
    }
    int load(int g) const { return load_[0][g] + load_[1][g]; }
    int load_of(int substage, int g) const { return load_[substage][g]; }

    /// Adds an upper entry, each of its updates in the less busy substage of those that it may be in.
    void add_upper(int e, int g) {
        group[e] = g;
        for (int at = pairs_.begin[e]; at < pairs_.begin[e + 1]; ++at) {
            const int first = earliest(pairs_.l[at], g), other = first + 1;
            const bool moves = other <= last_stage && load_[other % 2][g] < load_[first % 2][g];
            update_stage[at] = moves ? other : first;
            known_at[e] = std::max(known_at[e], update_stage[at]);
            ++load_[update_stage[at] % 2][g];
        }
        ends_at[e] = last_stage;
    }

private:
    /// The stage from which on group g can use E_l, and the neighbour to which l leads.
    int earliest(int l, int g) const {
        const int known = known_at[l] + (group[l] != g);
        return levels_[l] <= -2 ? known : std::max(known, inversion_stage);
    }
    int slowest(int substage) const { return *std::ranges::max_element(load_[substage]); }

    const Eliminations& pairs_;
    const std::vector<int>& levels_;
    int lower_;
    std::vector<int> load_[2];  // of each group, in each substage
};

/// Adds the lower entries of `members`, sets of entries that depend on each other to one group each.
void add_sets(GrowingPipeline& row, const Eliminations& pairs, const std::vector<int>& members, int stage) {
    std::vector<int> set(row.group.size(), -1), sum(row.group.size()), roots;
    for (int e : members) set[e] = e;
    for (int e : members)
        for (int at = pairs.begin[e]; at < pairs.begin[e + 1]; ++at)
            if (const int other = set[pairs.l[at]]; other >= 0 && other != set[e])
                std::replace(set.begin(), set.end(), other, int(set[e]));
    for (int e : members) sum[set[e]] += pairs.begin[e + 1] - pairs.begin[e] + 1;
    for (int e : members)
        if (set[e] == e) roots.push_back(e);
    std::stable_sort(roots.begin(), roots.end(), [&](int a, int b) { return sum[a] > sum[b]; });
    for (int root : roots) {
        int least = 0;
        for (int g = 1; g < row.groups(); ++g)
            if (row.load_of(stage % 2, g) < row.load_of(stage % 2, least)) least = g;
        for (int e : members)
            if (set[e] == root) row.add(e, least, stage);
    }
}

/// The pipeline in which lower entries up to level `split` are computed in stage 0 and those up to level -2 in stage
/// 1. Those of level -1 and the diagonal belong to group `together`, or, if that is negative, each to the group in
/// which it is known first.
std::optional<GrowingPipeline> pipeline(const Eliminations& pairs, const std::vector<int>& levels, int lower,
                                        int groups, int split, int together) {
    GrowingPipeline row(pairs, levels, lower, groups);
    for (int stage : {0, 1}) {
        std::vector<int> members;
        for (int e = 0; e < lower; ++e)
            if (levels[e] <= -2 && (levels[e] > split) == (stage == 1)) members.push_back(e);
        add_sets(row, pairs, members, stage);
    }
    for (int e = 0; e <= lower; ++e) {
        if (e < lower && levels[e] <= -2) continue;
        int best = std::max(together, 0);
        if (together < 0)
            for (int g = 1; g < groups; ++g) {
                const int known = row.known_in(e, g), least = row.known_in(e, best);
                if (known < least || (known == least && row.load(g) < row.load(best))) best = g;
            }
        if (!row.add(e, best, 0)) return {};
    }
    std::vector<int> upper(levels.size() - lower - 1);
    std::iota(upper.begin(), upper.end(), lower + 1);
    const auto cost = [&](int e) { return pairs.begin[e + 1] - pairs.begin[e]; };
    std::stable_sort(upper.begin(), upper.end(), [&](int a, int b) { return cost(a) > cost(b); });
    for (int e : upper) {
        int best = 0, least = std::numeric_limits<int>::max();
        for (int g = 0; g < groups; ++g) {
            GrowingPipeline trial = row;
            trial.add_upper(e, g);
            const int time = 1024 * trial.operations() + trial.load(g);
            if (time < least) best = g, least = time;
        }
        row.add_upper(e, best);
    }
    return row;
}

}  // namespace

RowPipeline::RowPipeline(const Eliminations& pairs, const std::vector<int>& levels, int lower, int groups)
    : operations(std::numeric_limits<int>::max()) {
    for (int split = std::min(-2, *std::ranges::min_element(levels)); split <= -2; ++split)
        for (int together = -1; together < groups; ++together) {
            const auto row = pipeline(pairs, levels, lower, groups, split, together);
            if (!row || row->operations() >= operations) continue;
            group = row->group;
            update_stage = row->update_stage;
            known_at = row->known_at;
            ends_at = row->ends_at;
            operations = row->operations();
        }
}

}  // namespace hyperplane
