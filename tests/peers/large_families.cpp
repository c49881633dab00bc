// SPDX-License-Identifier: BSD-3-Clause
// Large general matrices for docs/results/general.md, each from a seed, as PETSc binary files.
//
//     large_families tetrahedra N FILE    -div(k grad u) + u with P1 elements: the cells of a distorted grid of N^3
//     nodes
//                                         cut into six tetrahedra, k jumps by up to 100, nodes in random order
//     large_families circuit ROWS FILE    conductances between near nodes, controlled sources that are not symmetric,
//                                         and four supply nodes with long rows
//     large_families reservoir N FILE     three unknowns a cell of N^3 in natural order: flow with a permeability that
//                                         jumps by up to 10^4, and full 3 x 3 blocks that are not symmetric
//     large_families star7 N FILE         Poisson's equation on N^3 points, 7 points a row, in natural order;
//     large_families box27 N FILE         or 27, with 26 and -1
//     large_families blocksM N FILE       the same 7 points with full blocks of M x M random numbers, M from 2 to 32
//     large_families power-law ROWS FILE  4 u^-0.7 entries a row, u uniform: 13 on average, and up to 20000
//     large_families power-law-random ROWS FILE        the same in random columns, not around the diagonal
//     large_families star7-random N FILE, box27-random N FILE   the same with rows in random order
//
// Standard output names rows and entries. general_families.py makes small matrices of the same kinds.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

struct Entry {
    std::int32_t row, column;
    double value;
};

struct Rows {
    std::vector<std::int64_t> begin;
    std::vector<std::int32_t> column;
    std::vector<double> value;
};

double draw(std::mt19937_64& source, double from, double to) {
    return from + (to - from) * (double(source() >> 11) * 0x1p-53);
}

/// Entries at one place are added.
Rows rows_of(std::vector<Entry> entries, std::int32_t rows) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    Rows made{std::vector<std::int64_t>(std::size_t(rows) + 1, 0), {}, {}};
    for (std::size_t at = 0; at < entries.size(); ++at) {
        const Entry& one = entries[at];
        if (at > 0 && entries[at - 1].row == one.row && entries[at - 1].column == one.column) {
            made.value.back() += one.value;
            continue;
        }
        ++made.begin[std::size_t(one.row) + 1];
        made.column.push_back(one.column);
        made.value.push_back(one.value);
    }
    std::partial_sum(made.begin.begin(), made.begin.end(), made.begin.begin());
    return made;
}

Rows circuit(std::int32_t rows) {
    std::mt19937_64 source(4);
    std::vector<Entry> entries;
    entries.reserve(std::size_t(rows) * 12);
    const auto conductance = [&](std::int32_t i, std::int32_t j, double value) {
        for (const Entry& one : {Entry{i, i, value}, Entry{j, j, value}, Entry{i, j, -value}, Entry{j, i, -value}})
            entries.push_back(one);
    };
    for (std::int32_t row = 0; row < rows; ++row) entries.push_back({row, row, 1e-3});
    for (std::int32_t row = 4; row < rows; ++row) {
        for (int edge = 0; edge < 2; ++edge) {
            const int far = 1 + int(-50.0 * std::log(draw(source, 1e-9, 1.0)));
            const std::int32_t other = std::clamp(row + (source() % 2 ? far : -far), 4, rows - 1);
            if (other != row) conductance(row, other, std::pow(10.0, draw(source, -2.0, 1.0)));
        }
        if (draw(source, 0.0, 1.0) < 0.25)
            conductance(row, std::int32_t(source() % 4), std::pow(10.0, draw(source, -2.0, 0.0)));
        if (draw(source, 0.0, 1.0) < 0.1) {
            const std::int32_t gate = 4 + std::int32_t(source() % std::uint64_t(rows - 4));
            const double gain = draw(source, 0.0, 0.3);
            entries.push_back({row, gate, -gain});
            entries.push_back({row, row, gain});
        }
    }
    return rows_of(std::move(entries), rows);
}

using Point = std::array<double, 3>;

/// The matrix of one element, for the vertices of a tetrahedron.
std::array<std::array<double, 4>, 4> element(const std::array<Point, 4>& vertex, double coefficient) {
    std::array<Point, 3> edge, cross;
    for (int v = 0; v < 3; ++v)
        for (int d = 0; d < 3; ++d) edge[v][d] = vertex[v + 1][d] - vertex[0][d];
    for (int v = 0; v < 3; ++v) {
        const Point &a = edge[(v + 1) % 3], &b = edge[(v + 2) % 3];
        for (int d = 0; d < 3; ++d) cross[v][d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
    }
    double determinant = 0.0;
    for (int d = 0; d < 3; ++d) determinant += edge[0][d] * cross[0][d];
    std::array<Point, 4> gradient{};
    for (int v = 0; v < 3; ++v)
        for (int d = 0; d < 3; ++d) {
            gradient[v + 1][d] = cross[v][d] / determinant;
            gradient[0][d] -= cross[v][d] / determinant;
        }
    const double volume = std::abs(determinant) / 6.0;
    std::array<std::array<double, 4>, 4> result;
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
            double product = 0.0;
            for (int d = 0; d < 3; ++d) product += gradient[a][d] * gradient[b][d];
            result[a][b] = volume * (coefficient * product + (a == b ? 0.1 : 0.05));
        }
    return result;
}

Rows tetrahedra(std::int32_t n) {
    std::mt19937_64 source(2);
    const std::int32_t rows = n * n * n;
    std::vector<Point> place(static_cast<std::size_t>(rows));
    const auto number = [n](int i, int j, int k) { return (k * n + j) * n + i; };
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
                for (int d = 0; d < 3; ++d) {
                    const int x = d == 0 ? i : d == 1 ? j : k;
                    place[number(i, j, k)][d] = x + (x > 0 && x < n - 1 ? draw(source, -0.2, 0.2) : 0.0);
                }
    // Two nodes of a tetrahedron differ by 0 or 1 in each direction, all with one sign: 15 neighbours, by 7 + bits or
    // 7 - bits.
    constexpr int neighbours = 15;
    std::vector<double> value(std::size_t(rows) * neighbours, 0.0);
    constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int k = 0; k < n - 1; ++k)
        for (int j = 0; j < n - 1; ++j)
            for (int i = 0; i < n - 1; ++i)
                for (const auto& order : orders) {
                    std::array<int, 4> bits{}, node;
                    for (int v = 1; v < 4; ++v) bits[v] = bits[v - 1] | 1 << order[v - 1];
                    std::array<Point, 4> vertex;
                    for (int v = 0; v < 4; ++v) {
                        node[v] = number(i + (bits[v] & 1), j + (bits[v] >> 1 & 1), k + (bits[v] >> 2));
                        vertex[v] = place[node[v]];
                    }
                    const auto matrix = element(vertex, std::pow(10.0, draw(source, -1.0, 1.0)));
                    for (int a = 0; a < 4; ++a)
                        for (int b = 0; b < 4; ++b)
                            value[std::size_t(node[a]) * neighbours + 7 + bits[b] - bits[a]] += matrix[a][b];
                }
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows)), back(order.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t at = order.size() - 1; at > 0; --at) std::swap(order[at], order[source() % (at + 1)]);
    for (std::int32_t node = 0; node < rows; ++node) back[order[node]] = node;
    Rows made{{0}, {}, {}};
    made.column.reserve(std::size_t(rows) * neighbours);
    made.value.reserve(std::size_t(rows) * neighbours);
    for (const std::int32_t node : back) {
        const int at[3] = {node % n, node / n % n, node / n / n};
        std::vector<std::pair<std::int32_t, double>> row;
        for (int which = 0; which < neighbours; ++which) {
            const int sign = which < 7 ? -1 : 1, bits = std::abs(which - 7);
            int other[3];
            bool inside = true;
            for (int d = 0; d < 3; ++d) {
                other[d] = at[d] + sign * (bits >> d & 1);
                inside = inside && other[d] >= 0 && other[d] < n;
            }
            if (inside)
                row.emplace_back(order[number(other[0], other[1], other[2])],
                                 value[std::size_t(node) * neighbours + which]);
        }
        std::sort(row.begin(), row.end());
        for (const auto& [column, entry] : row) made.column.push_back(column), made.value.push_back(entry);
        made.begin.push_back(std::int64_t(made.column.size()));
    }
    return made;
}

/// On n^3 points, with the neighbours that differ in one coordinate, or with all of them.
Rows laplacian(std::int32_t n, bool all, bool random) {
    const std::int32_t rows = n * n * n;
    std::mt19937_64 source(7);
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows)), back(order.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t at = order.size() - 1; random && at > 0; --at) std::swap(order[at], order[source() % (at + 1)]);
    for (std::int32_t point = 0; point < rows; ++point) back[order[point]] = point;
    Rows made{{0}, {}, {}};
    std::vector<std::int32_t> columns;
    for (const std::int32_t point : back) {
        const int i = point % n, j = point / n % n, k = point / n / n;
        columns.clear();
        for (int c = std::max(k - 1, 0); c <= std::min(k + 1, n - 1); ++c)
            for (int b = std::max(j - 1, 0); b <= std::min(j + 1, n - 1); ++b)
                for (int a = std::max(i - 1, 0); a <= std::min(i + 1, n - 1); ++a)
                    if (all || std::abs(a - i) + std::abs(b - j) + std::abs(c - k) <= 1)
                        columns.push_back(order[(c * n + b) * n + a]);
        std::sort(columns.begin(), columns.end());
        for (const std::int32_t column : columns) {
            made.column.push_back(column);
            made.value.push_back(column == order[point] ? (all ? 26.0 : 6.0) : -1.0);
        }
        made.begin.push_back(std::int64_t(made.column.size()));
    }
    return made;
}

Rows reservoir(std::int32_t n) {
    constexpr int unknowns = 3;
    using Block = std::array<std::array<double, unknowns>, unknowns>;
    std::mt19937_64 source(6);
    std::vector<double> permeability(std::size_t(n) * n * n);
    for (double& one : permeability) one = std::pow(10.0, draw(source, -2.0, 2.0));
    const std::int32_t strides[3] = {1, n, n * n};
    Rows made{{0}, {}, {}};
    for (std::int32_t cell = 0; cell < n * n * n; ++cell) {
        std::vector<std::pair<std::int32_t, Block>> row;
        Block own{};
        for (int side = 0; side < 6; ++side) {
            const int axis = side / 2, at = cell / strides[axis] % n + (side % 2 ? 1 : -1);
            if (at < 0 || at >= n) continue;
            const std::int32_t other = cell + (side % 2 ? 1 : -1) * strides[axis];
            const double a = permeability[cell], b = permeability[other];
            const double flux = 2.0 * a * b / (a + b) * (axis == 2 ? 0.1 : 1.0);
            Block block;
            for (int r = 0; r < unknowns; ++r)
                for (int c = 0; c < unknowns; ++c) {
                    const double mobility = flux * (r == c ? 1.0 : draw(source, 0.0, 0.3));
                    block[r][c] = -mobility;
                    own[r][c] += mobility;
                }
            row.emplace_back(other, block);
        }
        for (int r = 0; r < unknowns; ++r)
            for (int c = 0; c < unknowns; ++c) own[r][c] += r == c ? draw(source, 0.5, 1.5) : draw(source, -0.2, 0.2);
        row.emplace_back(cell, own);
        std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (int r = 0; r < unknowns; ++r) {
            for (const auto& [other, block] : row)
                for (int c = 0; c < unknowns; ++c)
                    made.column.push_back(unknowns * other + c), made.value.push_back(block[r][c]);
            made.begin.push_back(std::int64_t(made.column.size()));
        }
    }
    return made;
}

/// On n^3 points with the neighbours that differ in one coordinate, full blocks of random numbers.
Rows blocks(std::int32_t n, int unknowns) {
    std::mt19937_64 source(8);
    const Rows points = laplacian(n, false, false);
    Rows made{{0}, {}, {}};
    for (std::size_t point = 0; point + 1 < points.begin.size(); ++point)
        for (int r = 0; r < unknowns; ++r) {
            for (std::int64_t at = points.begin[point]; at < points.begin[point + 1]; ++at)
                for (int c = 0; c < unknowns; ++c) {
                    made.column.push_back(unknowns * points.column[at] + c);
                    made.value.push_back(draw(source, -1.0, 1.0));
                }
            made.begin.push_back(std::int64_t(made.column.size()));
        }
    return made;
}

/// Rows of 4 u^-0.7 entries, u uniform in (0, 1), in columns around the diagonal or in random ones; no row has more
/// than 20000.
Rows power_law(std::int32_t rows, bool random) {
    std::mt19937_64 source(9);
    Rows made{{0}, {}, {}};
    std::vector<std::int32_t> columns;
    for (std::int32_t row = 0; row < rows; ++row) {
        const double wanted = std::min(4.0 * std::pow(draw(source, 1e-9, 1.0), -0.7), 20000.0);
        const std::int32_t entries = std::min(std::int32_t(wanted), rows),
                           first = std::clamp(row - entries / 2, 0, rows - entries);
        columns.resize(std::size_t(entries));
        std::iota(columns.begin(), columns.end(), first);
        if (random) {
            for (std::int32_t& column : columns) column = std::int32_t(source() % std::uint64_t(rows));
            std::sort(columns.begin(), columns.end());
            columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        }
        for (const std::int32_t column : columns) {
            made.column.push_back(column);
            made.value.push_back(draw(source, -1.0, 1.0));
        }
        made.begin.push_back(std::int64_t(made.column.size()));
    }
    return made;
}

template <class Bits, class T>
bool write(std::FILE* file, std::vector<T> values) {
    for (T& value : values) {
        Bits bits = std::bit_cast<Bits>(value), turned = 0;
        for (std::size_t byte = 0; byte < sizeof bits; ++byte, bits >>= 8) turned = turned << 8 | (bits & 255);
        value = std::bit_cast<T>(turned);
    }
    return std::fwrite(values.data(), sizeof(T), values.size(), file) == values.size();
}

bool write(const Rows& a, const char* name) {
    std::FILE* const file = std::fopen(name, "wb");
    if (!file) return false;
    const std::int32_t rows = std::int32_t(a.begin.size() - 1), matrix = 1211216;
    std::vector<std::int32_t> head{matrix, rows, rows, std::int32_t(a.column.size())};
    for (std::int32_t row = 0; row < rows; ++row) head.push_back(std::int32_t(a.begin[row + 1] - a.begin[row]));
    const bool written =
        write<std::uint32_t>(file, head) && write<std::uint32_t>(file, a.column) && write<std::uint64_t>(file, a.value);
    return std::fclose(file) == 0 && written;
}

Rows made(const std::string& name, int size) {
    if (name == "tetrahedra") return tetrahedra(size);
    if (name == "circuit") return circuit(size);
    if (name == "reservoir") return reservoir(size);
    if (name.starts_with("power-law")) return power_law(size, name.ends_with("-random"));
    if (name.starts_with("blocks")) return blocks(size, std::atoi(name.c_str() + 6));
    return laplacian(size, name.starts_with("box27"), name.ends_with("-random"));
}

}  // namespace

int main(int count, char** words) {
    std::map<std::string, int> largest = {{"tetrahedra", 400},
                                          {"circuit", 400'000'000},
                                          {"reservoir", 300},
                                          {"star7", 600},
                                          {"box27", 400},
                                          {"star7-random", 600},
                                          {"box27-random", 400},
                                          {"power-law", 100'000'000},
                                          {"power-law-random", 100'000'000}};
    for (int unknowns = 2; unknowns <= 32; ++unknowns)
        largest[std::string("blocks") + std::to_string(unknowns)] = int(std::cbrt(3e8 / (unknowns * unknowns)));
    const std::string name = count == 4 ? words[1] : "";
    if (!largest.contains(name)) {
        std::fprintf(stderr,
                     "usage: large_families circuit ROWS FILE | tetrahedra | reservoir | star7 | box27 | "
                     "star7-random | box27-random | blocks2 to blocks32 N FILE, large_families power-law | "
                     "power-law-random ROWS FILE\n");
        return 2;
    }
    const int size = std::atoi(words[2]);
    if (size < 5 || size > largest.at(name)) {
        std::fprintf(stderr, "large_families: %s takes 5 to %d\n", name.c_str(), largest.at(name));
        return 2;
    }
    const Rows rows = made(name, size);
    if (!write(rows, words[3])) {
        std::fprintf(stderr, "large_families: %s cannot be written\n", words[3]);
        return 1;
    }
    std::printf("%zu rows, %zu entries\n", rows.begin.size() - 1, rows.column.size());
    return 0;
}
