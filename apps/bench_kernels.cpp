#include "apps/bench_kernels.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <random>
#include <sstream>

#include "core/blas1.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "core/struct_matrix.hpp"
#include "precond/struct_ilu.hpp"

namespace hyperplane {
namespace {

void fill_random(StructMatrix& a) {
    const int m = a.dof();
    const double weight = a.stencil().size() * m;
    for_each_point(a.layout(), [&](Int3 p, Index slot) {
        const std::uint64_t row = std::uint64_t(a.grid().row(p)) * a.stencil().size();
        for (int e = 0; e < a.stored_entries(); ++e) {
            if (!a.grid().contains(p + a.stencil()[e])) continue;
            for (int r = 0; r < m; ++r)
                for (int c = 0; c < m; ++c) {
                    const bool mirrored = a.symmetric() && e == a.stencil().diagonal() && c < r;
                    const int i = mirrored ? c : r, j = mirrored ? r : c;
                    const double value = random_symmetric(0, (row + e) * m * m + i * m + j);
                    a.values(e, r, c)[slot] = e == a.stencil().diagonal() && r == c ? weight + value : value;
                }
        }
    });
}

void fill_random(Vector& x, std::uint64_t seed) {
    for_each_point(x.layout(), [&](Int3 p, Index slot) {
        for (int c = 0; c < x.dof(); ++c)
            x.component(c)[slot] = random_symmetric(seed, std::uint64_t(x.layout().grid().row(p)) * x.dof() + c);
    });
}

/// Points whose rows are recomputed: corners, and a few hundred at random.
std::vector<Int3> sample_points(const Grid& grid) {
    std::vector<Int3> points{
        {0, 0, 0}, {grid.nx - 1, 0, 0}, {0, grid.ny - 1, 0}, {grid.nx - 1, grid.ny - 1, grid.nz - 1}};
    std::mt19937_64 random(20260101);
    for (int at = 0; at < 300; ++at) points.push_back(grid.point(Index(random() % std::uint64_t(grid.points()))));
    return points;
}

/// sum over entries [first, last) of A_e x at a point, one row, from the definition.
double row_product(const StructMatrix& a, const Vector& x, Int3 p, int row, int first, int last) {
    double sum = 0.0;
    for (int e = first; e < last; ++e)
        if (a.grid().contains(p + a.stencil()[e]))
            for (int col = 0; col < a.dof(); ++col) sum += a.at(p, e, row, col) * x(p + a.stencil()[e], col);
    return sum;
}

double spmv_error(const StructMatrix& a, const Vector& x, const Vector& y) {
    double largest = 0.0;
    for (Int3 p : sample_points(a.grid()))
        for (int row = 0; row < a.dof(); ++row)
            largest = std::max(largest, std::abs(y(p, row) - row_product(a, x, p, row, 0, a.stencil().size())));
    return largest / (a.stencil().size() * a.dof());
}

/// out[m] = sum over entries [first, last) of A_e x at a point.
std::vector<double> block_row(const StructMatrix& a, const Vector& x, Int3 p, int first, int last) {
    std::vector<double> sums(a.dof());
    for (int row = 0; row < a.dof(); ++row) sums[row] = row_product(a, x, p, row, first, last);
    return sums;
}

/// y = D^-1 (r - E y) and z = y - D^-1 F z, checked where they are defined.
double lower_error(const StructIlu& ilu, const Vector& r, const Vector& y) {
    double largest = 0.0;
    for (Int3 p : sample_points(r.layout().grid())) {
        const auto sums = block_row(ilu.triangles(), y, p, 0, ilu.stencil().diagonal());
        for (int row = 0; row < r.dof(); ++row) {
            double value = 0.0;
            for (int col = 0; col < r.dof(); ++col) value += ilu.inverse_pivot(p, row, col) * (r(p, col) - sums[col]);
            largest = std::max(largest, std::abs(value - y(p, row)));
        }
    }
    return largest / norm2(y) * std::sqrt(double(y.size()));
}

double upper_error(const StructIlu& ilu, const Vector& y, const Vector& z) {
    double largest = 0.0;
    for (Int3 p : sample_points(z.layout().grid())) {
        const auto sums = block_row(ilu.triangles(), z, p, ilu.stencil().diagonal() + 1, ilu.stencil().size());
        for (int row = 0; row < z.dof(); ++row) {
            double value = y(p, row);
            for (int col = 0; col < z.dof(); ++col) value -= ilu.inverse_pivot(p, row, col) * sums[col];
            largest = std::max(largest, std::abs(value - z(p, row)));
        }
    }
    return largest / norm2(z) * std::sqrt(double(z.size()));
}

/// A small dense block, row-major.
using Block = std::vector<double>;

Block block_at(const StructMatrix& a, Int3 p, int entry) {
    Block block(std::size_t(a.dof()) * a.dof());
    for (int row = 0; row < a.dof(); ++row)
        for (int col = 0; col < a.dof(); ++col) block[row * a.dof() + col] = a.at(p, entry, row, col);
    return block;
}

Block product(const Block& a, const Block& b, int m) {
    Block c(a.size());
    for (int row = 0; row < m; ++row)
        for (int q = 0; q < m; ++q)
            for (int col = 0; col < m; ++col) c[row * m + col] += a[row * m + q] * b[q * m + col];
    return c;
}

/// X_e = A_e - sum over l + u = e of E_l D^-1(p+l) F_u(p+l): equal to E_e or F_e, and the inverse of D^-1.
double factor_error(const StructMatrix& a, const StructIlu& ilu) {
    const int m = a.dof();
    const Stencil& stencil = ilu.stencil();
    double largest = 0.0;
    for (Int3 p : sample_points(a.grid()))
        for (int e = 0; e < stencil.size(); ++e) {
            if (!a.grid().contains(p + stencil[e])) continue;
            const int own = a.stencil().find(stencil[e]);
            Block x = own >= 0 ? block_at(a, p, own) : Block(std::size_t(m) * m);
            for (int l = 0; l < stencil.diagonal(); ++l) {
                const Int3 before = p + stencil[l];
                const int u = stencil.find(stencil[e] + -stencil[l]);
                if (u <= stencil.diagonal() || !a.grid().contains(before)) continue;
                Block inverse(std::size_t(m) * m);
                for (int at = 0; at < m * m; ++at) inverse[at] = ilu.inverse_pivot(before, at / m, at % m);
                const Block update = product(product(block_at(ilu.triangles(), p, l), inverse, m),
                                             block_at(ilu.triangles(), before, u), m);
                for (int at = 0; at < m * m; ++at) x[at] -= update[at];
            }
            Block expected = block_at(ilu.triangles(), p, e);
            if (e == stencil.diagonal()) {
                Block inverse(std::size_t(m) * m);
                for (int at = 0; at < m * m; ++at) inverse[at] = ilu.inverse_pivot(p, at / m, at % m);
                x = product(inverse, x, m);
                for (int at = 0; at < m * m; ++at) expected[at] = at / m == at % m ? 1.0 : 0.0;
            }
            for (int at = 0; at < m * m; ++at) largest = std::max(largest, std::abs(x[at] - expected[at]));
        }
    return largest;
}

/// Multiply-adds count two.
double factor_flops(const Stencil& stencil, int m, bool symmetric) {
    double products = 0.0;
    for (int l = 0; l < stencil.diagonal(); ++l) {
        products += 1.0;
        for (int u = stencil.diagonal() + 1; u < stencil.size(); ++u) {
            const int e = stencil.find(stencil[l] + stencil[u]);
            if (e >= 0 && (!symmetric || e <= stencil.diagonal())) products += 1.0;
        }
    }
    return 2.0 * (products + 1.0) * m * m * m;
}

KernelResult checked(KernelResult result, const BenchCase& setting) {
    constexpr double bound = 1e-11;
    if (!(result.largest_error <= bound))
        throw Error(ExitCode::expectation,
                    fmt::format("bench {}: {} is wrong by {:.2e} (relative; at most {:g}); not timed", setting.name(),
                                result.kernel, result.largest_error, bound));
    return result;
}

int parse_number(const std::string& text, const std::string& word) {
    std::size_t end = 0;
    const int value = !word.empty() && word.size() < 6 && std::isdigit(word[0]) ? std::stoi(word, &end) : 0;
    if (value < 1 || end != word.size())
        throw UsageError(fmt::format("--cases: '{}' in '{}' is not a positive whole number", word, text));
    return value;
}

BenchCase parse_case(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ':');) words.push_back(word);
    if (words.size() < 3 || words.size() > 4 || (words.size() == 4 && words[3] != "sym"))
        throw UsageError(fmt::format("--cases: '{}' is not STENCIL:DOF:N or STENCIL:DOF:N:sym", text));
    BenchCase setting{Stencil::by_name(words[0]), parse_number(text, words[1]), parse_number(text, words[2]),
                      words.size() == 4};
    if (setting.dof > max_dof) throw UsageError(fmt::format("--cases: '{}': the dof is at most {}", text, max_dof));
    return setting;
}

/// The paper's Table 3, RTX 3090 column: grid sides for dof 1, 2, 4, 6, 8.
std::vector<BenchCase> table3(int divisor) {
    const std::vector<std::pair<std::string, std::vector<int>>> sides{{"star7", {512, 336, 208, 160, 128}},
                                                                      {"star13", {432, 272, 160, 128, 96}},
                                                                      {"diamond13", {432, 272, 160, 128, 96}},
                                                                      {"diamond25", {336, 208, 128, 96, 80}},
                                                                      {"box27", {336, 208, 128, 96, 80}}};
    const std::vector<int> dofs{1, 2, 4, 6, 8};
    std::vector<BenchCase> cases;
    for (std::size_t at = 0; at < dofs.size(); ++at)
        for (const auto& [stencil, n] : sides)
            cases.push_back({Stencil::by_name(stencil), dofs[at], n[at] / divisor, false});
    return cases;
}

}  // namespace

std::string BenchCase::name() const {
    return fmt::format("{}:{}:{}{}", stencil.name(), dof, n, symmetric ? ":sym" : "");
}

std::vector<BenchCase> parse_bench_cases(const std::string& text) {
    if (text == "table3") return table3(1);
    if (text == "quick") return table3(5);
    std::vector<BenchCase> cases;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');) {
        word.erase(std::remove(word.begin(), word.end(), ' '), word.end());
        if (!word.empty()) cases.push_back(parse_case(word));
    }
    if (cases.empty()) throw UsageError("--cases: no case is named; write STENCIL:DOF:N, table3 or quick");
    return cases;
}

Timing time_calls(int repeats, const std::function<void()>& call) {
    call();
    std::vector<double> seconds;
    for (int at = 0; at < repeats; ++at) {
        const double begin = omp_get_wtime();
        call();
        seconds.push_back(omp_get_wtime() - begin);
    }
    return timing_of(std::move(seconds));
}

double copy_rate(const Context& context, int repeats) {
    Grid grid;
    grid.nx = grid.ny = grid.nz = 288;  // 2 x 182 MiB, beyond every cache
    const Layout layout(LayoutKind::natural, grid, {});
    Vector from(context, layout, 1, "bench"), to(context, layout, 1, "bench");
    fill_random(from, 1);
    const Timing seconds = time_calls(repeats, [&] { copy(from, to); });
    return 2.0 * double(from.size()) * sizeof(double) / seconds.median;
}

BenchResult bench_kernels(const Context& context, const BenchCase& setting, LayoutKind kind, int repeats) {
    Grid grid;
    grid.nx = grid.ny = grid.nz = setting.n;
    const Layout layout(kind, grid, setting.stencil.level_map());
    StructMatrix a(context, layout, setting.stencil, setting.dof,
                   setting.symmetric ? MatrixStorage::lower : MatrixStorage::full);
    Vector x(context, layout, setting.dof, "bench"), y(context, layout, setting.dof, "bench"),
        z(context, layout, setting.dof, "bench");
    fill_random(a);
    fill_random(x, 7);
    StructIlu ilu(context, {});

    const double m = setting.dof, points = double(grid.points()), blocks = double(a.nonzeros()) / (m * m);
    const double half = (blocks - points) / 2.0, vector = points * m * 8.0, block = m * m * 8.0;
    // A triangle is read once whether it is stored for one sweep or for both.
    const double stored = setting.symmetric ? half + points : blocks;
    const double written = setting.stencil.eliminates_off_diagonal() ? stored : points;
    BenchResult result{setting, a.unknowns(), layout.level_count(), {}};
    const auto add = [&](KernelResult kernel, const std::function<void()>& call) {
        checked(kernel, setting);
        kernel.seconds = time_calls(repeats, call);
        result.kernels.push_back(kernel);
    };
    a.apply(x, y);
    add({"spmv", {}, stored * block + 2 * vector, 2 * blocks * m * m, spmv_error(a, x, y)}, [&] { a.apply(x, y); });
    ilu.setup(a);
    ilu.lower_solve(x, y);
    // E or F without pivots is what a unit triangle needs; D^-1 is counted once, in the upper sweep.
    add({"lower", {}, half * block + 2 * vector, 2 * (half + points) * m * m, lower_error(ilu, x, y)},
        [&] { ilu.lower_solve(x, y); });
    copy(y, z);
    ilu.upper_solve(z);
    add({"upper", {}, (half + points) * block + 2 * vector, 2 * (half + points) * m * m, upper_error(ilu, y, z)},
        [&] { ilu.upper_solve(z); });
    add({"factorise",
         {},
         (stored + written) * block,
         factor_flops(setting.stencil, setting.dof, setting.symmetric) * points,
         factor_error(a, ilu)},
        [&] { ilu.setup(a); });
    return result;
}

}  // namespace hyperplane
