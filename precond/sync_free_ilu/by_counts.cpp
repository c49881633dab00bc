// SPDX-License-Identifier: BSD-3-Clause
// The memory of these factors: that of values, and all of it where only the numbers of rows and blocks are known.
#include <algorithm>

#include "precond/general/factors/reduced_rows.hpp"
#include "precond/general/sweeps/swept.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {

Index bytes_of_factors(FactorStorage storage, const BlockCounts& factors) {
    return is_reduced(storage) ? general_cpu::bytes_of_rows(storage, factors.rows, factors.blocks, factors.dof)
                               : factors.value_bytes();
}

ValueBytes bytes_of_values(const SyncFreeOptions& options, const BlockCounts& factors, Backend backend) {
    const Index fixed_point =
        options.fixed_point_sweeps > 0 ? general_cpu::fixed_point_bytes(factors.rows, factors.blocks, factors.dof) : 0;
    const Index in_double = factors.value_bytes() + fixed_point;
    if (is_reduced(options.storage)) {
        const Index rounded = bytes_of_factors(options.storage, factors);
        const Index in_setup = in_double + Index(sizeof(RoundingLog));
        // A GPU's solves hold a copy in their own order.
        return backend == Backend::cuda ? ValueBytes{0, in_setup + rounded} : ValueBytes{rounded, in_setup};
    }
    return {in_double, 0};
}

CountedPlan by_counts(const SyncFreeOptions& options, const Context& context, const BlockCounts& a) {
    const Index diagonal = a.rows * Index(sizeof(Index));
    const auto bytes = [&](const BlockCounts& factors) {
        return diagonal + bytes_of_values(options, factors, Backend::cpu).held +
               (options.sweeps ? SweptFactors::least_bytes(factors, *options.sweeps, Backend::cpu) : 0);
    };
    const auto in_setup = [&](const BlockCounts& factors) {
        return bytes_of_values(options, factors, context.backend()).in_setup;
    };
    /// With a pattern that is not A's.
    const auto apart = [&](const BlockCounts& factors) {
        return bytes(factors) + a.blocks * Index(sizeof(int)) + BlockPattern::bytes(factors.rows, factors.blocks);
    };
    const bool fills = options.fill_level > 0;
    const BlockCounts completed{a.rows, a.blocks + a.rows, a.dof};  // no diagonal block was there
    const BlockCounts largest = fills ? BlockCounts{a.rows, a.blocks_if_full(), a.dof} : completed;
    const bool by_level = options.way == SolveWay::levels;
    if (!options.parts)
        return {.bytes = (fills ? apart(a) : bytes(a)) + RowWalk::least_bytes_of_both(a.rows, by_level),
                .most_bytes = apart(largest) + RowWalk::most_bytes_of_both(context.host(), largest.rows, largest.blocks,
                                                                           largest.dof, by_level),
                .setup_bytes = in_setup(a),
                .most_setup_bytes = in_setup(largest),
                .most_when = fills ? "rows of the factors fill up" : "",
                .by_level = true};
    const BlockCounts least{a.rows, a.rows, a.dof};  // no coupling lies within a part
    const auto of_parts = [&](Index count) {
        return 2 * a.rows * Index(sizeof(int)) + (count + 1) * Index(sizeof(Index));
    };
    const Index fewest_parts = (a.rows + options.parts->most_rows - 1) / options.parts->most_rows;
    return {.bytes = std::min(bytes(a), apart(least)) + of_parts(fewest_parts),
            .most_bytes = apart(largest) + of_parts(a.rows),
            .setup_bytes = in_setup(least),
            .most_setup_bytes = in_setup(largest),
            .most_when = "couplings lie within subdomains",
            .by_level = true};
}

}  // namespace hyperplane
