// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include "precond/factors/known_dof.hpp"
#include "precond/subdomain/ildu0.hpp"

namespace hyperplane {
namespace {

/// The lower entries, divided into those along x, which couple points of one line, and those across lines.
struct LineEntries {
    std::vector<int> along, across;

    explicit LineEntries(const Stencil& stencil) {
        for (int e = 0; e < stencil.lower_size(); ++e)
            (stencil[e].y == 0 && stencil[e].z == 0 ? along : across).push_back(e);
    }
};

/// Both solves of a subdomain, line by line (SubdomainOrder::Rows::by_line). m is the dof and n the number of points of
/// a line if they are known at compile time, else 0; T is the type of stored coefficients. Terms of neighbours on other
/// lines are summed for a whole line at once. With half_scaled, a row's scale multiplies the sum of its terms.
template <class T, int m, int n>
class LineSolver {
public:
    LineSolver(const SubdomainFactors& factors, const SubdomainCells& cells)
        : f_(factors), order_(factors.order()), cells_(cells), entries_(factors.stencil()), dof_(order_.dof) {
        vector_.assign(std::size_t(cells.cells) * dof_ + 2 * cells.margin, 0.0);
        sum_.resize(std::size_t(points()) * dof_);
    }

    void lower(Index subdomain, const Vector& in, Vector& out) {
        load(subdomain, in);
        for (int step = 0; step < order_.steps(); ++step) solve_line<false>(step, values(subdomain, step));
        store(subdomain, out);
    }
    void upper(Index subdomain, const Vector& in, Vector& out) {
        load(subdomain, in);
        for (int step = order_.steps(); step < 2 * order_.steps(); ++step)
            solve_line<true>(step, values(subdomain, step));
        store(subdomain, out);
    }
    void both(Index subdomain, const Vector& in, Vector& out) {
        load(subdomain, in);
        for (int step = 0; step < order_.steps(); ++step) solve_line<false>(step, values(subdomain, step));
        for (int step = order_.steps(); step < 2 * order_.steps(); ++step)
            solve_line<true>(step, values(subdomain, step));
        store(subdomain, out);
    }

private:
    static constexpr bool scaled = RowRounding<T>::scales;

    int dof() const { return m > 0 ? m : dof_; }
    int points() const { return n > 0 ? n : f_.partition().size.x; }
    double* at(int component) { return vector_.data() + cells_.margin + std::size_t(component) * cells_.cells; }
    double* sum(int component) { return sum_.data() + component * points(); }
    const T* values(Index subdomain, int step) const {
        return f_.values<T>() + (subdomain - f_.held().begin) * order_.values + order_.at[step];
    }

    /// Calls body(first point, its cell, number of points) for each line of a subdomain, as far as it is in the grid.
    template <class Body>
    void for_each_line(Index subdomain, const Body& body) {
        const Int3 first = f_.partition().first_point(subdomain), size = f_.partition().size;
        const Grid& grid = f_.partition().grid;
        const int count = std::min(size.x, grid.nx - first.x);
        for (int k = 0; k < std::min(size.z, grid.nz - first.z); ++k)
            for (int j = 0; j < std::min(size.y, grid.ny - first.y); ++j)
                body(first + Int3{0, j, k}, cells_.pitch * (j + size.y * k), count);
    }
    void load(Index subdomain, const Vector& in) {
        const Int3 n_cuts = f_.partition().count(), first = f_.partition().first_point(subdomain),
                   size = f_.partition().size;
        const bool last =
            first.x / size.x == n_cuts.x - 1 || first.y / size.y == n_cuts.y - 1 || first.z / size.z == n_cuts.z - 1;
        if (last) std::fill(vector_.begin(), vector_.end(), 0.0);  // there may be places without points
        const Layout& layout = in.layout();
        for_each_line(subdomain, [&](Int3 p, int cell, int count) {
            for (int c = 0; c < dof(); ++c)
                for (int i = 0; i < count; ++i) at(c)[cell + i] = in.component(c)[slot(layout, p, i)];
        });
    }
    void store(Index subdomain, Vector& out) {
        const Layout& layout = out.layout();
        for_each_line(subdomain, [&](Int3 p, int cell, int count) {
            for (int c = 0; c < dof(); ++c)
                for (int i = 0; i < count; ++i) out.component(c)[slot(layout, p, i)] = at(c)[cell + i];
        });
    }
    static Index slot(const Layout& layout, Int3 p, int i) {
        return layout.kind() == LayoutKind::natural ? layout.slot(p) + i : layout.slot(p + Int3{i, 0, 0});
    }

    template <bool upper>
    void solve_line(int step, const T* w) {
        const int cell = cells_.of_point[order_.points[order_.first(step)]], block = dof() * dof() * points();
        const auto* exponents = reinterpret_cast<const RowExponent*>(w + (order_.lower + upper) * block);
        for (int r = 0; r < dof(); ++r) {
            if (upper || scaled)
                std::fill_n(sum(r), points(), 0.0);
            else
                std::copy_n(at(r) + cell, points(), sum(r));
        }
        if (upper) add<+1>(w, cell);
        if (upper && scaled) {
            for (int r = 0; r < dof(); ++r)
                for (int i = 0; i < points(); ++i, ++exponents) {
                    at(r)[cell + i] = scale_of(*exponents) * sum(r)[i];
                    sum(r)[i] = 0.0;
                }
        }
        for (int e : entries_.across)
            add<-1>(w + Index(upper ? order_.lower - e : e) * block,
                    upper ? cell - cells_.delta[e] : cell + cells_.delta[e]);
        for (int t = 0; t < points(); ++t) {
            const int i = upper ? points() - 1 - t : t;
            for (int e : entries_.along)
                add_point(w + Index(upper ? order_.lower - e : e) * block + i, i,
                          cell + i + (upper ? -cells_.delta[e] : cells_.delta[e]));
            for (int r = 0; r < dof(); ++r) {
                double& value = at(r)[cell + i];
                value = scaled ? value + scale_of(exponents[r * points() + i]) * sum(r)[i] : sum(r)[i];
            }
        }
    }
    /// sum += sign times the blocks [col][component][point] at w times the vector from `cell` on.
    template <int sign>
    void add(const T* w, int cell) {
        for (int c = 0; c < dof(); ++c) {
            const double* x = at(c) + cell;
            for (int r = 0; r < dof(); ++r, w += points()) {
                double* s = sum(r);
#pragma omp simd
                for (int i = 0; i < points(); ++i) s[i] += sign * widened(w[i]) * x[i];
            }
        }
    }
    /// Subtracts the same product at point i of the line.
    void add_point(const T* w, int i, int cell) {
        for (int c = 0; c < dof(); ++c) {
            const double x = at(c)[cell];
            for (int r = 0; r < dof(); ++r, w += points()) sum(r)[i] -= widened(*w) * x;
        }
    }

    const SubdomainFactors& f_;
    const SubdomainOrder& order_;
    const SubdomainCells& cells_;
    const LineEntries entries_;
    const int dof_;
    std::vector<double> vector_, sum_;
};

template <class T, int m, int n>
void solve_all(const SubdomainFactors& factors, SubdomainPasses passes, const Vector& r, Vector& z) {
    const SubdomainCells cells(factors.partition(), factors.stencil());
    const Partition::Range held = factors.held();
#pragma omp parallel num_threads(r.context().threads_for(r.size()))
    {
        LineSolver<T, m, n> solver(factors, cells);
#pragma omp for schedule(static)
        for (Index s = held.begin; s < held.end; ++s)
            passes == SubdomainPasses::fused ? solver.both(s, r, z) : solver.lower(s, r, z);
        if (passes == SubdomainPasses::unfused)
#pragma omp for schedule(static)
            for (Index s = held.begin; s < held.end; ++s) solver.upper(s, z, z);
    }
}

template <class T, int m>
void solve_with_dof(const SubdomainFactors& factors, SubdomainPasses passes, const Vector& r, Vector& z) {
    switch (factors.partition().size.x) {
        case 8: return solve_all<T, m, 8>(factors, passes, r, z);
        case 16: return solve_all<T, m, 16>(factors, passes, r, z);
        default: return solve_all<T, m, 0>(factors, passes, r, z);
    }
}

template <class T>
void solve_kept_in(const SubdomainFactors& factors, SubdomainPasses passes, const Vector& r, Vector& z) {
    with_known_dof<1, 2, 3, 4>(factors.order().dof, [&](auto m) { solve_with_dof<T, m.value>(factors, passes, r, z); });
}

}  // namespace

void solve_subdomains_cpu(const SubdomainFactors& factors, SubdomainPasses passes, const Vector& r, Vector& z) {
    switch (factors.storage()) {
        case FactorStorage::double_precision: return solve_kept_in<double>(factors, passes, r, z);
        case FactorStorage::single_precision: return solve_kept_in<float>(factors, passes, r, z);
        case FactorStorage::half_scaled: return solve_kept_in<Half>(factors, passes, r, z);
    }
}

}  // namespace hyperplane
