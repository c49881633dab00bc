#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "precond/subdomain_ildu0.hpp"

namespace hyperplane {
namespace {

/// Both solves of one subdomain; m is the dof where the compiler knows it.
template <int m>
class Walk {
public:
    Walk(const SubdomainFactors& factors, const SubdomainCells& cells)
        : f_(factors), order_(factors.order()), cells_(cells), dof_(m > 0 ? m : order_.dof) {
        for (int local : order_.points) cell_of_.push_back(cells.of_point[local]);
        vector_.assign(std::size_t(cells.cells) * dof_ + 2 * cells.margin, 0.0);
        next_.resize(std::size_t(order_.most_points()) * dof_);
    }

    void solve(Index subdomain, const Vector& r, Vector& z) {
        const Int3 first = f_.cuts().first_point(subdomain);
        for_each_cell(first, r.layout(), [&](int cell, Index slot) {
            for (int c = 0; c < dof_; ++c) at(c)[cell] = slot < 0 ? 0.0 : r.component(c)[slot];
        });
        const double* values = f_.values() + subdomain * order_.values;
        for (int step = 0; step < order_.steps(); ++step) walk<false>(step, values + order_.at[step]);
        for (int step = order_.steps(); step < 2 * order_.steps(); ++step) walk<true>(step, values + order_.at[step]);
        for_each_cell(first, r.layout(), [&](int cell, Index slot) {
            for (int c = 0; c < dof_ && slot >= 0; ++c) z.component(c)[slot] = at(c)[cell];
        });
    }

private:
    static constexpr int room = m > 0 ? m : max_dof;
    int dof() const { return m > 0 ? m : dof_; }
    double* at(int component) { return vector_.data() + cells_.margin + std::size_t(component) * cells_.cells; }

    /// Calls body(cell, slot) for the points of a subdomain; slot -1 outside the grid.
    template <class Body>
    void for_each_cell(Int3 first, const Layout& layout, const Body& body) {
        const Int3 size = f_.cuts().size;
        for (int k = 0; k < size.z; ++k)
            for (int j = 0; j < size.y; ++j)
                for (int i = 0; i < size.x; ++i) {
                    const Int3 p = first + Int3{i, j, k};
                    body(i + cells_.pitch * (j + size.y * k), layout.grid().contains(p) ? layout.slot(p) : -1);
                }
    }

    /// A step's points do not depend on each other, but the rows of a point share its vector: results are put aside.
    template <bool upper>
    void walk(int step, const double* w) {
        const int* cells = cell_of_.data() + order_.first(step);
        const int count = order_.count(step), lower = order_.lower;
        const Index column = Index(count) * dof();
        const double* v = at(0);
        for (int t = 0; t < count; ++t) {
            double sum[room];
            const double* own = w + t * dof();
            for (int r = 0; r < dof(); ++r) sum[r] = upper ? 0.0 : v[r * Index(cells_.cells) + cells[t]];
            if (upper) add<+1>(own, column, cells[t], sum);
            for (int e = 0; e < lower; ++e) {
                const int row = upper ? lower - e : e, delta = upper ? -cells_.delta[e] : cells_.delta[e];
                add<-1>(own + Index(row) * dof() * column, column, cells[t] + delta, sum);
            }
            for (int r = 0; r < dof(); ++r) next_[std::size_t(t) * dof() + r] = sum[r];
        }
        for (int t = 0; t < count; ++t)
            for (int r = 0; r < dof(); ++r) at(r)[cells[t]] = next_[std::size_t(t) * dof() + r];
    }
    /// sum +-= the block whose columns begin at w, `column` apart, times the vector at a cell.
    template <int sign>
    void add(const double* w, Index column, int cell, double* sum) {
        for (int c = 0; c < dof(); ++c) {
            const double value = at(c)[cell];
            for (int r = 0; r < dof(); ++r) sum[r] += sign * w[c * column + r] * value;
        }
    }

    const SubdomainFactors& f_;
    const SubdomainOrder& order_;
    const SubdomainCells& cells_;
    int dof_;
    std::vector<int> cell_of_;  ///< of each point in the steps' order
    std::vector<double> vector_, next_;
};

template <int m>
void solve_all(const SubdomainFactors& factors, const Vector& r, Vector& z) {
    const SubdomainCells cells(factors.cuts(), factors.stencil());
    const Index subdomains = factors.cuts().subdomains();
#pragma omp parallel num_threads(threads_for(r.size()))
    {
        Walk<m> walk(factors, cells);
#pragma omp for schedule(static)
        for (Index subdomain = 0; subdomain < subdomains; ++subdomain) walk.solve(subdomain, r, z);
    }
}

}  // namespace

void solve_subdomains_cpu(const SubdomainFactors& factors, const Vector& r, Vector& z) {
    switch (factors.order().dof) {
        case 1: return solve_all<1>(factors, r, z);
        case 2: return solve_all<2>(factors, r, z);
        case 3: return solve_all<3>(factors, r, z);
        case 4: return solve_all<4>(factors, r, z);
        case 5: return solve_all<5>(factors, r, z);
        case 8: return solve_all<8>(factors, r, z);
        default: return solve_all<0>(factors, r, z);
    }
}

}  // namespace hyperplane
