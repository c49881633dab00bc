// SPDX-License-Identifier: BSD-3-Clause
// Matrices divided into subdomains, boxes of points or any parts of the rows, without the couplings between them.
#pragma once

#include "reference/block_ilu.hpp"

namespace hyperplane::reference {

inline bool share_box(Offset p, Offset q, Offset size) {
    return p.x / size.x == q.x / size.x && p.y / size.y == q.y / size.y && p.z / size.z == q.z / size.z;
}

/// The matrix without the couplings that wrap or lead to another box.
inline BlockMatrix decoupled(const StencilMatrix& a, Offset size) {
    BlockMatrix all = assembled(a, false);
    for (int row = 0; row < int(all.rows.size()); ++row)
        std::erase_if(all.rows[row],
                      [&](const auto& entry) { return !share_box(a.box.point(row), a.box.point(entry.first), size); });
    return all;
}

/// The matrix without the couplings between rows of different parts.
inline BlockMatrix decoupled(const BlockMatrix& a, const std::vector<int>& part) {
    BlockMatrix all = a;
    for (int row = 0; row < int(all.rows.size()); ++row)
        std::erase_if(all.rows[row], [&](const auto& entry) { return part[row] != part[entry.first]; });
    return all;
}

/// The part of each row; `cuts`: the first row of each part, and the number of rows.
template <class Row>
std::vector<int> parts_between(const std::vector<Row>& cuts) {
    std::vector<int> part;
    for (std::size_t at = 1; at < cuts.size(); ++at) part.resize(std::size_t(cuts[at]), int(at) - 1);
    return part;
}

/// ILU(0) of the decoupled matrix on its own pattern.
inline BlockIlu subdomain_ilu(const StencilMatrix& a, Offset size) {
    const BlockMatrix parts = decoupled(a, size);
    Pattern pattern(parts.rows.size());
    for (std::size_t row = 0; row < parts.rows.size(); ++row)
        for (const auto& entry : parts.rows[row]) pattern[row].insert(entry.first);
    return block_ilu(parts, pattern);
}

/// Number of coefficients of a decoupled matrix on a stencil, counted one by one.
inline long long decoupled_entries(const Box& box, const std::vector<Offset>& offsets, int dof, Offset size) {
    long long blocks = 0;
    for (int row = 0; row < box.points(); ++row)
        for (Offset o : offsets) {
            const Offset p = box.point(row), q = p + o;
            blocks += box.contains(q) && share_box(p, q, size);
        }
    return blocks * dof * dof;
}

}  // namespace hyperplane::reference
