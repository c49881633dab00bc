// SPDX-License-Identifier: BSD-3-Clause
// FGBILU's style kernels: the steps of a level as loops over elements, on either backend. Equations and algorithms are
// in precond/fgbilu/fgbilu.hpp.
#pragma once

#include <vector>

#include "precond/factors/pattern.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/fgbilu/levels.hpp"

namespace hyperplane {

/// The factorisation by Algorithm 4 and the solves by Algorithm 6, and memory for what one step computes for the next.
class FgBiluByElement {
public:
    FgBiluByElement(const Context& context, const IluPattern& system);
    static Index bytes(const IluPattern& system);

    /// Factors X, and records the smallest ratio of a pivot for each column.
    void factor(const FgBiluFactors& factors, PivotRecord& record, const PivotRules& rules);
    void solve(const FgBiluFactors& factors, const Vector& r, Vector& z);
    /// The solves with factors in reduced precision; between them, D^-1 multiplies the vector at all points at once.
    static void solve(const ReducedFactors& factors, const Vector& r, Vector& z);

private:
    /// The order of eliminations in (1): lower entries in groups, such that no entry changes another one of its group.
    struct Order {
        struct Pair {
            int l, u, e;  ///< X_e -= E_l D^-1 F_u; l is a position in `lower`
        };
        struct Group {
            std::vector<int> lower;
            std::vector<Pair> pairs;
        };
        std::vector<Group> groups;

        explicit Order(const IluPattern& system);
        int largest_group() const;
        /// All groups in one table: of each group the lower entries, then the pairs.
        std::vector<int> table() const;
    };

    Order order_;
    Buffer<int> table_, failed_;  ///< failed: [column]
    Buffer<double> products_;     ///< [position in a group][row][col][column]
    Buffer<double> vector_;       ///< [row][column]
    Buffer<double> scale_;        ///< [column]
};

}  // namespace hyperplane
