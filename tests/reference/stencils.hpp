// SPDX-License-Identifier: BSD-3-Clause
// Offsets, boxes of points and stencils, each written directly from its definition.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace hyperplane::reference {

struct Offset {
    int x = 0, y = 0, z = 0;

    friend bool operator==(Offset a, Offset b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
    /// Natural order: z decides, then y, then x.
    friend bool operator<(Offset a, Offset b) { return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x); }
    friend Offset operator+(Offset a, Offset b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend Offset operator-(Offset a) { return {-a.x, -a.y, -a.z}; }
};

/// nx x ny x nz points in natural order, x fastest.
struct Box {
    int nx = 1, ny = 1, nz = 1;
    std::array<bool, 3> periodic{false, false, false};

    int points() const { return nx * ny * nz; }
    bool contains(Offset p) const { return 0 <= p.x && p.x < nx && 0 <= p.y && p.y < ny && 0 <= p.z && p.z < nz; }
    int row(Offset p) const { return p.x + nx * (p.y + ny * p.z); }
    Offset point(int row) const { return {row % nx, row / nx % ny, row / nx / ny}; }
    /// The point p, wrapped along periodic axes.
    Offset wrapped(Offset p) const {
        const auto wrap = [](int i, int n, bool periodic) { return periodic ? ((i % n) + n) % n : i; };
        return {wrap(p.x, nx, periodic[0]), wrap(p.y, ny, periodic[1]), wrap(p.z, nz, periodic[2])};
    }
};

inline std::vector<Offset> offsets_where(int radius, const std::function<bool(int, int, int)>& belongs) {
    std::vector<Offset> offsets;
    for (int z = -radius; z <= radius; ++z)
        for (int y = -radius; y <= radius; ++y)
            for (int x = -radius; x <= radius; ++x)
                if (belongs(x, y, z)) offsets.push_back({x, y, z});
    return offsets;
}

/// The given offsets, their mirrors and the diagonal, in natural order.
inline std::vector<Offset> with_mirrors(std::vector<Offset> offsets) {
    std::vector<Offset> all{{0, 0, 0}};
    for (Offset s : offsets) {
        all.push_back(s);
        all.push_back(-s);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

struct NamedStencil {
    std::string name;
    std::vector<Offset> offsets;
};

/// The five ready-made stencils.
inline std::vector<NamedStencil> ready_made_stencils() {
    using std::abs;
    return {
        {"star7", offsets_where(1, [](int x, int y, int z) { return abs(x) + abs(y) + abs(z) <= 1; })},
        {"star13", offsets_where(2, [](int x, int y, int z) { return (x != 0) + (y != 0) + (z != 0) <= 1; })},
        {"diamond13", with_mirrors({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, -1, 0}, {1, 0, -1}, {0, 1, -1}})},
        {"diamond25", offsets_where(2, [](int x, int y, int z) { return abs(x) + abs(y) + abs(z) <= 2; })},
        {"box27", offsets_where(1, [](int, int, int) { return true; })},
    };
}

/// Two difficult stencils: no coupling along some axes, distant and skewed offsets.
inline std::vector<NamedStencil> custom_stencils() {
    return {
        {"skewed7", with_mirrors({{1, 0, 0}, {2, -1, 0}, {0, 2, -1}})},
        {"scattered11", with_mirrors({{0, -1, -1}, {-2, -2, 0}, {1, -2, 0}, {0, 0, -2}, {2, 2, -1}})},
    };
}

/// Numbers of unknowns a point that all tests use, and a longer list.
inline constexpr int small_dofs[] = {1, 2, 3, 4, 5, 6, 7, 8}, all_dofs[] = {1, 2, 3, 4, 5, 6, 7, 8, 17, 32};

inline std::vector<NamedStencil> all_stencils() {
    std::vector<NamedStencil> all = ready_made_stencils();
    for (const NamedStencil& custom : custom_stencils()) all.push_back(custom);
    return all;
}

inline NamedStencil stencil_named(const std::string& name) {
    for (const NamedStencil& stencil : all_stencils())
        if (stencil.name == name) return stencil;
    std::abort();
}

inline int radius(const std::vector<Offset>& offsets) {
    int largest = 0;
    for (Offset s : offsets) largest = std::max({largest, std::abs(s.x), std::abs(s.y), std::abs(s.z)});
    return largest;
}

/// The level of each point in a solve in natural order: the length of the longest chain of points that it depends on.
inline std::vector<int> longest_chains(const Box& box, const std::vector<Offset>& offsets) {
    std::vector<int> level(box.points(), 0);
    for (int row = 0; row < box.points(); ++row)
        for (Offset s : offsets) {
            const Offset neighbour = box.point(row) + s;
            if (s < Offset{} && box.contains(neighbour))
                level[row] = std::max(level[row], level[box.row(neighbour)] + 1);
        }
    return level;
}

}  // namespace hyperplane::reference
