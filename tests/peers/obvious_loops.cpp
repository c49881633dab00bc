// SPDX-License-Identifier: BSD-3-Clause
// The loops anybody would write first, on one thread: ILU(0) in block rows, triangular solves with its factors, and a
// Jacobi sweep of the lower triangle. For docs/performance.md, beside `hyperplane bench preconditioners --device cpu`.
//
//     obvious_loops star7:1:96 box27:4:32 ...      stencil (star7 or box27), unknowns a point, points a side
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using Values = std::vector<double>;

/// Factors by block rows: lower blocks, the diagonal's place, upper blocks; D^-1 beside them.
struct Factors {
    int points, dof;
    std::vector<int> row{0}, column, diagonal;
    Values block, inverse;

    /// Random, small beside the diagonal; couplings across sides of `box` points are left out.
    Factors(bool box27, int unknowns, int n, const std::array<int, 3>& box) : points(n * n * n), dof(unknowns) {
        std::mt19937 generator(1);
        std::uniform_real_distribution<double> values(-0.03 / dof, 0.03 / dof);
        for (int p = 0; p < points; ++p) {
            const int at[3] = {p % n, p / n % n, p / n / n};
            for (int o = 0; o < 27; ++o) {
                const int offset[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1};
                bool couples = box27 || std::abs(offset[0]) + std::abs(offset[1]) + std::abs(offset[2]) <= 1;
                int q = 0;
                for (int axis = 2; axis >= 0; --axis) {
                    const int there = at[axis] + offset[axis];
                    couples = couples && there >= 0 && there < n && there / box[axis] == at[axis] / box[axis];
                    q = q * n + there;
                }
                if (!couples) continue;
                if (q == p) diagonal.push_back(int(column.size()));
                column.push_back(q);
                for (int c = 0; c < dof * dof; ++c)
                    block.push_back(values(generator) + (q == p && c % (dof + 1) == 0 ? 1.0 : 0.0));
            }
            row.push_back(int(column.size()));
            for (int c = 0; c < dof * dof; ++c) inverse.push_back(c % (dof + 1) == 0 ? 1.0 : values(generator));
        }
    }
    /// ILU(0) of the blocks, row by row: W, D^-1 and F take the places of E, D and F.
    void factor() {
        const int size = dof * dof;
        std::vector<int> entry_of(points, -1);
        Values w(size);
        for (int p = 0; p < points; ++p) {
            for (int e = row[p]; e < row[p + 1]; ++e) entry_of[column[e]] = e;
            for (int l = row[p]; l < diagonal[p]; ++l) {
                const int k = column[l];
                double* const lower = &block[std::size_t(l) * size];
                std::fill(w.begin(), w.end(), 0.0);
                add_product(1.0, lower, &inverse[std::size_t(k) * size], w.data());
                std::copy(w.begin(), w.end(), lower);
                for (int u = diagonal[k] + 1; u < row[k + 1]; ++u)
                    if (const int e = entry_of[column[u]]; e >= 0)
                        add_product(-1.0, w.data(), &block[std::size_t(u) * size], &block[std::size_t(e) * size]);
            }
            invert(&block[std::size_t(diagonal[p]) * size], &inverse[std::size_t(p) * size]);
            for (int e = row[p]; e < row[p + 1]; ++e) entry_of[column[e]] = -1;
        }
    }
    /// z += sign x y
    void add_product(double sign, const double* x, const double* y, double* z) const {
        for (int r = 0; r < dof; ++r)
            for (int k = 0; k < dof; ++k)
                for (int c = 0; c < dof; ++c) z[r * dof + c] += sign * x[r * dof + k] * y[k * dof + c];
    }
    /// Gauss-Jordan elimination without pivoting.
    void invert(const double* x, double* y) const {
        std::copy_n(x, dof * dof, y);
        for (int p = 0; p < dof; ++p) {
            const double scale = 1.0 / y[p * dof + p];
            y[p * dof + p] = 1.0;
            for (int c = 0; c < dof; ++c) y[p * dof + c] *= scale;
            for (int r = 0; r < dof; ++r) {
                if (r == p) continue;
                const double factor = y[r * dof + p];
                y[r * dof + p] = 0.0;
                for (int c = 0; c < dof; ++c) y[r * dof + c] -= factor * y[p * dof + c];
            }
        }
    }
    /// sum -= the block of an entry times x.
    void subtract(int entry, const double* x, double* sum) const {
        const double* a = &block[std::size_t(entry) * dof * dof];
        for (int r = 0; r < dof; ++r)
            for (int c = 0; c < dof; ++c) sum[r] -= a[r * dof + c] * x[c];
    }
    void scale(int p, const double* sum, double* x) const {
        const double* a = &inverse[std::size_t(p) * dof * dof];
        for (int r = 0; r < dof; ++r) {
            x[r] = 0.0;
            for (int c = 0; c < dof; ++c) x[r] += a[r * dof + c] * sum[c];
        }
    }
    /// z = (I + G)^-1 D^-1 (I + W)^-1 r.
    void solve(const Values& r, Values& z) const {
        double sum[32];
        for (int p = 0; p < points; ++p) {
            double* own = &z[std::size_t(p) * dof];
            std::copy_n(&r[std::size_t(p) * dof], dof, own);
            for (int e = row[p]; e < diagonal[p]; ++e) subtract(e, &z[std::size_t(column[e]) * dof], own);
        }
        for (int p = points; p-- > 0;) {
            double* own = &z[std::size_t(p) * dof];
            std::copy_n(own, dof, sum);
            for (int e = diagonal[p] + 1; e < row[p + 1]; ++e) subtract(e, &z[std::size_t(column[e]) * dof], sum);
            scale(p, sum, own);
        }
    }
    /// y = D^-1 (r - E x).
    void sweep(const Values& r, const Values& x, Values& y) const {
        double sum[32];
        for (int p = 0; p < points; ++p) {
            std::copy_n(&r[std::size_t(p) * dof], dof, sum);
            for (int e = row[p]; e < diagonal[p]; ++e) subtract(e, &x[std::size_t(column[e]) * dof], sum);
            scale(p, sum, &y[std::size_t(p) * dof]);
        }
    }
};

/// Milliseconds, the median of nine after one more; `prepare` is not timed.
template <class Work, class Prepare>
double time_of(const Work& work, const Prepare& prepare) {
    prepare(), work();
    Values times;
    for (int repeat = 0; repeat < 9; ++repeat) {
        prepare();
        const auto begin = std::chrono::steady_clock::now();
        work();
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    return times[4];
}
template <class Work>
double time_of(const Work& work) {
    return time_of(work, [] {});
}

}  // namespace

int main(int count, char** words) {
    std::printf("%-12s %14s %14s %14s %14s %26s\n", "system, ms", "solves", "in boxes", "factorisation", "in boxes",
                "a sweep of both triangles");
    for (int at = 1; at < count; ++at) {
        char stencil[16] = "";
        int dof = 0, n = 0;
        const bool read = std::sscanf(words[at], "%15[^:]:%d:%d", stencil, &dof, &n) == 3;
        const bool box27 = std::string(stencil) == "box27";
        if (!read || (!box27 && std::string(stencil) != "star7") || dof < 1 || dof > 32 || n < 1) {
            std::fprintf(stderr, "obvious_loops: '%s' is no STENCIL:UNKNOWNS:POINTS\n", words[at]);
            return 2;
        }
        const Factors whole(box27, dof, n, {n, n, n}), cut(box27, dof, n, {16, 16, 8});
        const Values r(std::size_t(whole.points) * dof, 1.0);
        Values x = r, y = r;
        const double solves = time_of([&] { whole.solve(r, x); }), boxes = time_of([&] { cut.solve(r, x); });
        const double sweep = time_of([&] { whole.sweep(r, x, y); });
        Factors made = whole, made_cut = cut;
        const double factor = time_of([&] { made.factor(); }, [&] { made.block = whole.block; });
        const double factor_cut = time_of([&] { made_cut.factor(); }, [&] { made_cut.block = cut.block; });
        std::printf("%-12s %14.2f %14.2f %14.2f %14.2f %26.2f\n", words[at], solves, boxes, factor, factor_cut,
                    2 * sweep);
    }
    return 0;
}
