#include "precond/eliminations.hpp"

namespace hyperplane {

Eliminations::Eliminations(const Stencil& stencil, bool diagonal_only, bool lower_only) {
    const int last = diagonal_only || lower_only ? stencil.diagonal() + 1 : stencil.size();
    for (int e = 0; e < stencil.size(); ++e) {
        begin.push_back(int(l.size()));
        if (e >= last || (diagonal_only && e != stencil.diagonal())) continue;
        for (int low = 0; low < stencil.lower_size(); ++low)
            for (int up = stencil.diagonal() + 1; up < stencil.size(); ++up)
                if (stencil[low] + stencil[up] == stencil[e]) l.push_back(low), u.push_back(up);
    }
    begin.push_back(int(l.size()));
}

std::vector<int> Eliminations::changed_entries() const {
    std::vector<int> entries;
    const int size = int(begin.size()) - 1;
    for (int e = 0; e < size; ++e)
        if (e == size / 2 || begin[e] < begin[e + 1]) entries.push_back(e);
    return entries;
}

}  // namespace hyperplane
