// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multigrid/line_values.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "precond/multigrid/copied_lines.hpp"

namespace hyperplane::multigrid {

void line_values(const StructMatrix& a, const Run& run, int entry, int row, int col, double* values) {
    const Grid& grid = a.grid();
    const Int3 o = a.stencil()[entry], there = grid.wrapped({0, run.first.y + o.y, run.first.z + o.z});
    const int count = run.count;
    if (!grid.contains(there)) {
        std::fill_n(values, count, 0.0);
        return;
    }
    const int begin = std::clamp(-o.x, 0, count), end = std::clamp(count - o.x, begin, count);
    if (a.stores(entry)) {
        const double* const own = a.values(entry, row, col) + run.slot;
        std::copy_n(own, count, values);
    } else {
        const double* const from = a.values(a.stencil().mirror(entry), col, row) + a.layout().slot(there) + o.x;
        std::copy(from + begin, from + end, values + begin);
        if (grid.periodic[0]) {
            for (int t = 0; t < begin; ++t) values[t] = from[t + count];
            for (int t = end; t < count; ++t) values[t] = from[t - count];
        }
    }
    if (grid.periodic[0]) return;
    std::fill(values, values + begin, 0.0);
    std::fill(values + end, values + count, 0.0);
}

namespace {

/// The shares c_id / max_e c_ie of the points of a line.
class Shares {
public:
    Shares(const StructMatrix& a, Axes candidates) : a_(a), candidates_(candidates) {}

    void compute(const Run& run) {
        const auto count = std::size_t(run.count);
        for (auto& list : square) list.assign(count, 0.0);
        for (int row = 0; row < a_.dof(); ++row)
            for (int col = 0; col < a_.dof(); ++col) add_block(run, row, col);
        for (std::size_t t = 0; t < count; ++t) {
            double most = 0.0;
            for (int d = 0; d < 3; ++d)
                if (candidates_[d] && square[d][t] > most) most = square[d][t];
            for (int d = 0; d < 3; ++d)
                square[d][t] = candidates_[d] && most > 0.0 ? std::sqrt(square[d][t] / most) : 0.0;
        }
    }

    std::vector<double> square[3];  ///< first of the norms, then the shares

private:
    void add_block(const Run& run, int row, int col) {
        const auto count = std::size_t(run.count);
        for (auto& list : sum_) list.assign(count, 0.0);
        value_.resize(count);
        for (int e = 0; e < a_.stencil().size(); ++e) {
            const Int3 o = a_.stencil()[e];
            if (o == Int3{}) continue;
            line_values(a_, run, e, row, col, value_.data());
            for (int d = 0; d < 3; ++d) {
                if ((d == 0 ? o.x : d == 1 ? o.y : o.z) == 0) continue;
                for (std::size_t t = 0; t < count; ++t) sum_[d][t] += value_[t];
            }
        }
        for (int d = 0; d < 3; ++d) {  // not fused: the loop over points rounds the squares, too
            for (std::size_t t = 0; t < count; ++t) value_[t] = sum_[d][t] * sum_[d][t];
            for (std::size_t t = 0; t < count; ++t) square[d][t] += value_[t];
        }
    }

    const StructMatrix& a_;
    const Axes candidates_;
    std::vector<double> sum_[3], value_;
};

}  // namespace

void add_coupling_ratios(const StructMatrix& a, Axes candidates, int k, Vector& sums) {
    const bool mine = k >= a.layout().begin_plane() && k < a.layout().end_plane();
    const int reach = a.stencil().radius(), count = a.grid().nx, ny = a.grid().ny, parts = sums.layout().grid().nz;
    const auto begin_of = [&](int part) { return int(Index(ny) * part / parts); };
    Shares shares(a, candidates);
    std::vector<int> before, around;
    for (int part = 0; part < parts; ++part) {
        double* to[3];
        for (int d = 0; d < 3; ++d) {
            to[d] = sums.component(d) + sums.layout().slot({0, k, part});
            std::fill_n(to[d], count, 0.0);
        }
        for (int y = begin_of(part); mine && y < begin_of(part + 1); ++y, before.swap(around)) {
            around.clear();
            append_around(*a.equal_lines(), a.grid(), {0, y, k}, reach, reach, around);
            if (around != before) shares.compute(a.layout().line(y, k));
            for (int d = 0; d < 3; ++d)
                for (int x = 0; x < count; ++x) to[d][x] += shares.square[d][std::size_t(x)];
        }
    }
}

}  // namespace hyperplane::multigrid
