// SPDX-License-Identifier: BSD-3-Clause
// Factorisation of subdomains on a CPU. One thread factors a subdomain, one line along x after the other. Eliminations
// with neighbours on other lines are computed for all points of a line at once; those with neighbours on the same line,
// and the inversion of pivots, are computed point by point. The steps are those of precond/subdomain/ildu0.hpp.
#include <algorithm>
#include <vector>

#include "precond/factors/eliminations.hpp"
#include "precond/factors/known_dof.hpp"
#include "precond/factors/run_blocks.hpp"
#include "precond/subdomain/factors.hpp"

namespace hyperplane {
namespace {

/// Factors subdomains; m is the dof if it is known at compile time, else 0.
template <int m>
class LineFactors {
public:
    LineFactors(const SubdomainFactors& f, double* values, const StructMatrix& a, double alpha, PivotInverter& inverter)
        : partition_(f.partition()),
          held_(f.held()),
          stencil_(f.stencil()),
          order_(f.order()),
          values_(values),
          a_(a),
          alpha_(alpha),
          inverter_(inverter),
          updates_(Eliminations(f.stencil(), false, false).by_lower()),
          lines_(std::size_t(stencil_.size())),
          product_(std::size_t(dof()) * dof() * partition_.size.x) {
        for (int e = 0; e < stencil_.size(); ++e) matrix_entry_.push_back(a.stencil().find(stencil_[e]));
    }

    PivotRatio factor(Index subdomain) {
        first_ = partition_.first_point(subdomain);
        block_ = values_ + (subdomain - held_.begin) * order_.values;
        const Grid& g = partition_.grid;
        const Int3 size = partition_.size;
        within_ = {std::min(size.x, g.nx - first_.x), std::min(size.y, g.ny - first_.y),
                   std::min(size.z, g.nz - first_.z)};
        PivotRatio smallest;
        for (int k = 0; k < within_.z; ++k)
            for (int j = 0; j < within_.y; ++j) factor_line(j, k, smallest);
        return smallest;
    }

private:
    int dof() const { return m > 0 ? m : order_.dof; }
    int lower() const { return stencil_.lower_size(); }
    bool along(int e) const { return stencil_[e].y == 0 && stencil_[e].z == 0; }

    /// The line to which an entry leads, and the points [begin, end) whose neighbour there is in the subdomain.
    struct Line {
        int j, k, begin, end;
    };
    Line line_at(int j, int k, Int3 o) const {
        const Line there{j + o.y, k + o.z, std::max(0, -o.x), std::min(within_.x, within_.x - o.x)};
        const bool inside = there.j >= 0 && there.j < within_.y && there.k >= 0 && there.k < within_.z;
        return inside && there.begin < there.end ? there : Line{there.j, there.k, 0, 0};
    }
    /// The blocks of an entry at the points of a line (SubdomainOrder::Rows::by_line).
    RunBlocks<double> blocks(int j, int k, int e) const {
        const SubdomainPlace& place = order_.places[std::size_t(partition_.size.x) * (j + partition_.size.y * k)];
        double* const from = block_ + (e < lower() ? place.lower : place.upper);
        const Index number = e < lower() ? e : e - lower();
        return {from + number * dof() * place.stride, place.row_stride, place.stride};
    }

    void factor_line(int j, int k, PivotRatio& smallest) {
        for (int e = 0; e < stencil_.size(); ++e) {
            lines_[e] = line_at(j, k, stencil_[e]);
            begin_entry(j, k, e);
        }
        for (int l = 0; l < lower(); ++l)
            if (!along(l)) eliminate(j, k, l);
        eliminate_points(j, k, smallest);
        for (int u = lower() + 1; u < stencil_.size(); ++u) scale(j, k, u);
    }

    /// X_e = A_e + alpha diag(A), or zero if the neighbour is in another subdomain.
    void begin_entry(int j, int k, int e) const {
        const RunBlocks<double> x = blocks(j, k, e);
        const Line& to = lines_[e];
        const int own = matrix_entry_[e];
        const bool stored = a_.stores(own), natural = a_.layout().kind() == LayoutKind::natural;
        const Int3 p = first_ + Int3{0, j, k} + (stored ? Int3{} : stencil_[e]);
        const Index slot = a_.layout().slot(p);
        for (int row = 0; row < dof(); ++row)
            for (int col = 0; col < dof(); ++col) {
                const double* const from =
                    stored ? a_.values(own, row, col) : a_.values(a_.stencil().size() - 1 - own, col, row);
                const double factor = e == lower() && row == col ? 1.0 + alpha_ : 1.0;
                double* const out = &x.at(0, row, col);
                std::fill_n(out, to.begin, 0.0);
                if (natural) {
                    // Coefficients are far apart in memory, and lines too short for hardware prefetchers.
                    for (int t = 0; t < partition_.size.x; t += 8)
                        __builtin_prefetch(from + slot + partition_.grid.nx + t);
                    for (int t = to.begin; t < to.end; ++t) out[t] = factor * from[slot + t];
                } else {
                    for (int t = to.begin; t < to.end; ++t) out[t] = factor * from[a_.layout().slot(p + Int3{t, 0, 0})];
                }
                std::fill(out + to.end, out + partition_.size.x, 0.0);
            }
    }

    /// X_e -= X_l G_u(p+l) for all u with e = l + u, then W_l = X_l D^-1(p+l), at the points of a line whose neighbours
    /// at l are on another line.
    void eliminate(int j, int k, int l) {
        const Line& to = lines_[l];
        if (to.begin >= to.end) return;
        const RunBlocks<double> own = blocks(j, k, l);
        const int x = stencil_[l].x;
        for (int at = updates_.begin[l]; at < updates_.begin[l + 1]; ++at) {
            const int u = updates_.u[at], e = updates_.e[at];
            const int begin = std::max(to.begin, lines_[e].begin), end = std::min(to.end, lines_[e].end);
            if (begin < end)
                add_products<-1, m>(dof(), own, blocks(to.j, to.k, u).from(x), blocks(j, k, e), begin, end);
        }
        replace_by_product(own, own, blocks(to.j, to.k, lower()).from(x), to.begin, to.end);
    }
    /// G_u = D^-1 X_u for a line.
    void scale(int j, int k, int u) {
        const RunBlocks<double> own = blocks(j, k, u);
        replace_by_product(own, blocks(j, k, lower()), own, lines_[u].begin, lines_[u].end);
    }
    /// z = x y at the points [begin, end).
    void replace_by_product(const RunBlocks<double>& z, const RunBlocks<const double>& x,
                            const RunBlocks<const double>& y, int begin, int end) {
        if (begin >= end) return;
        const int n = partition_.size.x;
        std::fill(product_.begin(), product_.end(), 0.0);
        const RunBlocks<double> product{product_.data(), Index(dof()) * n, n};
        add_products<+1, m>(dof(), x, y, product, begin, end);
        for (int row = 0; row < dof(); ++row)
            for (int col = 0; col < dof(); ++col)
                std::copy(&product.at(begin, row, col), &product.at(begin, row, col) + (end - begin),
                          &z.at(begin, row, col));
    }

    /// Computes the eliminations along a line and inverts its pivots, point by point. G_u of neighbours on the same
    /// line is not known yet, so E_l(p) G_u(p+l) is computed as W_l(p) F_u(p+l).
    void eliminate_points(int j, int k, PivotRatio& smallest) {
        eliminations_.begin(dof());
        const RunBlocks<double> pivots = blocks(j, k, lower());
        for (int l = 0; l < lower(); ++l) {
            if (!along(l)) continue;
            const RunBlocks<double> own = blocks(j, k, l);
            const int x = stencil_[l].x;
            eliminations_.add(own, pivots.from(x), lines_[l].begin, lines_[l].end, own);
            for (int at = updates_.begin[l]; at < updates_.begin[l + 1]; ++at) {
                const int u = updates_.u[at], e = updates_.e[at];
                eliminations_.add_term(blocks(j, k, e), blocks(j, k, u).from(x), lines_[e].begin, lines_[e].end);
            }
        }
        for (int t = 0; t < within_.x; ++t) {
            eliminations_.at_point(t);
            const Int3 p = first_ + Int3{t, j, k};
            const Index slot = a_.layout().slot(p);
            const int own = a_.stencil().diagonal();
            const auto given = run_blocks(dof(), [&](int row, int col) { return a_.values(own, row, col) + slot; });
            invert_point<m>(dof(), inverter_, p, given, 0, pivots, t, smallest);
        }
    }

    const Partition& partition_;
    const Partition::Range held_;
    const Stencil& stencil_;
    const SubdomainOrder& order_;
    double* const values_;
    const StructMatrix& a_;
    const double alpha_;
    PivotInverter& inverter_;
    const Eliminations::ByLower updates_;
    std::vector<int> matrix_entry_;
    std::vector<Line> lines_;  ///< of each entry
    std::vector<double> product_;
    RunEliminations<m> eliminations_;
    Int3 first_{}, within_{};  ///< the current subdomain's first point, and its extents inside the grid
    double* block_ = nullptr;
};

}  // namespace

void SubdomainFactors::factor_lines(const StructMatrix& a, double alpha, PivotInverter& inverter) {
    with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(order_.dof, [&](auto dof) {
#pragma omp parallel num_threads(context_.threads_for(partition_.grid.points() * order_.dof))
        {
            LineFactors<dof.value> lines(*this, values_.data(), a, alpha, inverter);
            PivotRatio smallest;
#pragma omp for schedule(static)
            for (Index subdomain = held_.begin; subdomain < held_.end; ++subdomain) {
                const PivotRatio its = lines.factor(subdomain);
                smallest.take(its.value, its.row);
            }
            inverter.note(smallest);
        }
    });
}

}  // namespace hyperplane
