// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/symbolic.hpp"

#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "core/timer.hpp"
#include "precond/general/pattern/rank_pattern.hpp"
#include "precond/sync_free_ilu/rank_parts.hpp"

namespace hyperplane {
namespace {

std::mutex mutex;  // of the list
std::vector<std::weak_ptr<KeptSymbolic>>& all_kept() {
    static std::vector<std::weak_ptr<KeptSymbolic>> list;
    return list;
}

/// One that somebody keeps, or null; `mutex` is locked.
std::shared_ptr<KeptSymbolic> found(const SymbolicKey& key) {
    std::erase_if(all_kept(), [](const std::weak_ptr<KeptSymbolic>& one) { return one.expired(); });
    for (const std::weak_ptr<KeptSymbolic>& one : all_kept())
        if (std::shared_ptr<KeptSymbolic> kept = one.lock(); kept && kept->symbolic && kept->key == key) return kept;
    return nullptr;
}

Symbolic made(const Context& host, const SymbolicKey& key, const std::string& label) {
    const std::shared_ptr<const BlockPattern> pattern = key.pattern.lock();
    if (key.ranks == AcrossRanks::whole) {
        Symbolic symbolic;
        symbolic.solved =
            std::make_shared<const SolvedParts>(parts_of_rank(host, *pattern, key.dof, *key.parts, label));
        return symbolic;
    }
    if (key.ranks == AcrossRanks::by_row)
        return {pattern_across_ranks(host, *pattern, key.dof, key.fill_level, key.parts, label)};
    if (key.parts) return {decoupled_pattern(host, pattern, *key.parts, label)};
    return {{.filled = pattern->slab() ? filled_within_rank(host, *pattern, key.fill_level, label)
                                       : filled_pattern(host, pattern, key.fill_level, label)}};
}

}  // namespace

bool SymbolicKey::operator==(const SymbolicKey& other) const {
    // By owner: no other pattern has it, not even one that begins at the same address later.
    const bool same_pattern = !pattern.owner_before(other.pattern) && !other.pattern.owner_before(pattern);
    return same_pattern && dof == other.dof && fill_level == other.fill_level && parts == other.parts &&
           symmetric == other.symmetric && ranks == other.ranks;
}

Index KeptSymbolic::bytes() const {
    if (!symbolic) return 0;
    if (symbolic->solved) return symbolic->solved->pattern->bytes();
    return symbolic->filled.bytes() + (key.parts && key.ranks == AcrossRanks::none ? symbolic->parts.bytes() : 0);
}

std::shared_ptr<KeptSymbolic> kept_symbolic(const Context& host, const SymbolicKey& key, const std::string& label) {
    const std::lock_guard lock(mutex);
    if (std::shared_ptr<KeptSymbolic> kept = found(key)) return kept;
    const auto kept = std::make_shared<KeptSymbolic>();
    kept->key = key;
    const auto begin = std::chrono::steady_clock::now();
    kept->symbolic = made(host, key, label);
    kept->symbolic->planned_seconds = seconds_since(begin);
    all_kept().push_back(kept);
    return kept;
}

std::optional<Symbolic> taken_if_kept(const SymbolicKey& key) {
    const std::lock_guard lock(mutex);
    const std::shared_ptr<KeptSymbolic> kept = found(key);
    return kept ? std::exchange(kept->symbolic, std::nullopt) : std::nullopt;
}

Symbolic taken_symbolic(const Context& host, const SymbolicKey& key, const std::string& label) {
    if (std::optional<Symbolic> kept = taken_if_kept(key)) return *std::move(kept);
    return made(host, key, label);
}

}  // namespace hyperplane
