// SPDX-License-Identifier: BSD-3-Clause
#include "core/grid/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "core/error.hpp"

namespace hyperplane {
namespace {

struct NaturalLess {
    bool operator()(Int3 a, Int3 b) const { return natural_less(a, b); }
};

std::string to_string(Int3 o) {
    return fmt::format("({},{},{})", o.x, o.y, o.z);
}

std::vector<Int3> offsets_where(int radius, const std::function<bool(int, int, int)>& holds) {
    std::vector<Int3> offsets;
    for (int z = -radius; z <= radius; ++z)
        for (int y = -radius; y <= radius; ++y)
            for (int x = -radius; x <= radius; ++x)
                if (holds(x, y, z)) offsets.push_back({x, y, z});
    return offsets;
}

int norm1(int x, int y, int z) {
    return std::abs(x) + std::abs(y) + std::abs(z);
}

}  // namespace

Stencil::Stencil(std::string name, std::vector<Int3> offsets) : name_(std::move(name)), offsets_(std::move(offsets)) {
    std::sort(offsets_.begin(), offsets_.end(), natural_less);
    for (int e = 0; e < size(); ++e) {
        if (e > 0 && offsets_[e] == offsets_[e - 1])
            throw UsageError(fmt::format("stencil {}: offset {} is given twice", name_, to_string(offsets_[e])));
        if (find(-offsets_[e]) < 0)
            throw UsageError(fmt::format("stencil {}: offset {} has no mirror {}", name_, to_string(offsets_[e]),
                                         to_string(-offsets_[e])));
    }
    if (find({0, 0, 0}) < 0) throw UsageError(fmt::format("stencil {}: offset (0,0,0) is missing", name_));
}

Stencil Stencil::star7() {
    return {"star7", offsets_where(1, [](int x, int y, int z) { return norm1(x, y, z) <= 1; })};
}

Stencil Stencil::star13() {
    return {"star13", offsets_where(2, [](int x, int y, int z) { return (x != 0) + (y != 0) + (z != 0) <= 1; })};
}

Stencil Stencil::diamond13() {
    return {"diamond13", star7().filled(1).offsets_};
}

Stencil Stencil::diamond25() {
    return {"diamond25", offsets_where(2, [](int x, int y, int z) { return norm1(x, y, z) <= 2; })};
}

Stencil Stencil::box27() {
    return {"box27", offsets_where(1, [](int, int, int) { return true; })};
}

const std::vector<Stencil>& Stencil::ready_made() {
    static const std::vector<Stencil> all{star7(), star13(), diamond13(), diamond25(), box27()};
    return all;
}

Stencil Stencil::by_name(const std::string& name) {
    for (const Stencil& stencil : ready_made())
        if (stencil.name() == name) return stencil;
    throw UsageError(
        fmt::format("no stencil is called '{}'; there are star7, star13, diamond13, diamond25, box27", name));
}

Stencil Stencil::closure(std::vector<Int3> offsets) {
    const std::size_t given = offsets.size();
    for (std::size_t e = 0; e < given; ++e) offsets.push_back(-offsets[e]);
    offsets.push_back({0, 0, 0});
    std::sort(offsets.begin(), offsets.end(), natural_less);
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    for (const Stencil& stencil : ready_made())
        if (stencil.offsets_ == offsets) return stencil;
    std::string name = fmt::format("custom{}", offsets.size());
    return {std::move(name), std::move(offsets)};
}

int Stencil::find(Int3 offset) const {
    const auto at = std::lower_bound(offsets_.begin(), offsets_.end(), offset, natural_less);
    return at != offsets_.end() && *at == offset ? int(at - offsets_.begin()) : -1;
}

int Stencil::radius() const {
    int radius = 0;
    for (Int3 o : offsets_) radius = std::max({radius, std::abs(o.x), std::abs(o.y), std::abs(o.z)});
    return radius;
}

LevelMap Stencil::level_map() const {
    LevelMap map;
    for (int e = 0; e < lower_size(); ++e)
        if (const Int3 o = offsets_[e]; o.z == 0 && o.y < 0) map.y = std::max(map.y, ceil_div(o.x + 1, -o.y));
    for (int e = 0; e < lower_size(); ++e)
        if (const Int3 o = offsets_[e]; o.z < 0) map.z = std::max(map.z, ceil_div(o.x + map.y * o.y + 1, -o.z));
    return map;
}

int Stencil::line_skew() const {
    int skew = 0;
    for (int e = 0; e < lower_size(); ++e)
        if (const Int3 o = offsets_[e]; o.z < 0) skew = std::max(skew, ceil_div(o.y, -o.z));
    return skew;
}

Stencil Stencil::filled(int level) const {
    std::map<Int3, int, NaturalLess> levels;
    for (Int3 o : offsets_) levels[o] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        const auto before = levels;
        for (const auto& [lower, p] : before) {
            if (!natural_less(lower, {0, 0, 0})) continue;
            for (const auto& [upper, q] : before) {
                if (!natural_less({0, 0, 0}, upper) || p + q + 1 > level) continue;
                const auto [at, fresh] = levels.try_emplace(lower + upper, p + q + 1);
                if (fresh || at->second > p + q + 1) changed = true;
                at->second = std::min(at->second, p + q + 1);
            }
        }
    }
    std::vector<Int3> offsets;
    for (const auto& [offset, at] : levels) offsets.push_back(offset);
    if (level == 0 || offsets.size() == offsets_.size()) return *this;
    return {fmt::format("{}+fill{}", name_, level), std::move(offsets)};
}

bool Stencil::eliminates_off_diagonal() const {
    for (int l = 0; l < lower_size(); ++l)
        for (int u = diagonal() + 1; u < size(); ++u)
            if (const int e = find(offsets_[l] + offsets_[u]); e >= 0 && e != diagonal()) return true;
    return false;
}

}  // namespace hyperplane
