// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/eliminations.hpp"

namespace hyperplane {

Eliminations::Eliminations(const Stencil& stencil, bool diagonal_only, bool lower_only) {
    const int last = diagonal_only || lower_only ? stencil.diagonal() + 1 : stencil.size();
    for (int e = 0; e < stencil.size(); ++e) {
        begin.push_back(int(l.size()));
        if (e >= last || (diagonal_only && e != stencil.diagonal())) continue;
        for (int low = 0; low < stencil.lower_size(); ++low)
            if (const int up = stencil.find(stencil[e] + -stencil[low]); up > stencil.diagonal())
                l.push_back(low), u.push_back(up);
    }
    begin.push_back(int(l.size()));
}

Eliminations::ByLower Eliminations::by_lower() const {
    ByLower all;
    const int size = int(begin.size()) - 1;
    for (int low = 0; low < size / 2; ++low) {
        all.begin.push_back(int(all.u.size()));
        for (int target = 0; target < size; ++target)
            for (int pair = begin[target]; pair < begin[target + 1]; ++pair)
                if (l[pair] == low) all.u.push_back(u[pair]), all.e.push_back(target);
    }
    all.begin.push_back(int(all.u.size()));
    return all;
}

std::vector<int> Eliminations::changed_entries() const {
    std::vector<int> entries;
    const int size = int(begin.size()) - 1;
    for (int e = 0; e < size; ++e)
        if (e == size / 2 || begin[e] < begin[e + 1]) entries.push_back(e);
    return entries;
}

std::vector<int> update_tables(const Stencil& a, const Stencil& filled, const Eliminations& eliminations) {
    const auto [begin, u, e] = eliminations.by_lower();
    std::vector<int> tables;
    for (const Int3 o : filled.offsets()) tables.push_back(a.find(o));
    tables.insert(tables.end(), begin.begin(), begin.end());
    for (std::size_t at = 0; at < u.size(); ++at) tables.insert(tables.end(), {u[at], e[at]});
    return tables;
}

}  // namespace hyperplane
