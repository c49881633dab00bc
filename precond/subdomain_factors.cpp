#include "precond/subdomain_factors.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/for_each_point.hpp"
#include "precond/gauss_jordan.hpp"

namespace hyperplane {
namespace {

/// What the factorisation knows of the pattern.
struct Tables {
    const Int3* offsets;
    const int* a_entry;  ///< A's entry of each entry
    const int* begin;    ///< of the updates of each lower entry, and their end
    const int* updates;  ///< pairs (u, e): X_e -= E_l G_u
};

/// A's blocks, the upper ones read from the lower where one triangle is stored.
struct Blocks {
    ConstMatrixView values;
    Layout layout;
    const Int3* offsets;
    int size;

    HYPERPLANE_HD double at(int entry, Int3 p, Index slot, int row, int col) const {
        if (entry < values.stored_entries) return values.at(entry, row, col, slot);
        return values.at(size - 1 - entry, col, row, layout.slot(p + offsets[entry]));
    }
};

/// Steps of a subdomain's points.
struct Steps {
    const int *points, *begin;
    int count;
};

/// Steps 1 to 4 of subdomain_ildu0.hpp at one point; m is the dof where the compiler knows it.
template <int m>
struct FactorPoint {
    SubdomainFactorView x;
    Tables tables;
    Blocks a;
    PivotJudge judge;
    double alpha;

    static constexpr int room = m > 0 ? m : max_dof;

    HYPERPLANE_HD int dof() const { return m > 0 ? m : x.dof; }
    HYPERPLANE_HD Int3 neighbour(Int3 p, int e) const { return p + tables.offsets[e]; }

    HYPERPLANE_HD void operator()(Index subdomain, int local, PivotRatio& smallest) const {
        const Int3 first = x.cuts.first_point(subdomain), p = x.cuts.point(local, first);
        if (!x.cuts.grid.contains(p)) return;
        const Index slot = a.layout.slot(p);
        for (int e = 0; e < 2 * x.lower + 1; ++e) begin(subdomain, local, first, p, slot, e);
        for (int l = 0; l < x.lower; ++l)
            if (x.cuts.holds(neighbour(p, l), first)) eliminate(subdomain, local, first, p, l);
        double inverse[room * room];
        invert(subdomain, local, p, slot, inverse, smallest);
        for (int u = x.lower + 1; u < 2 * x.lower + 1; ++u)
            if (x.cuts.holds(neighbour(p, u), first)) scale(subdomain, local, u, inverse);
    }

    /// X_e = A_e + alpha diag(A), 0 across a cut.
    HYPERPLANE_HD void begin(Index subdomain, int local, Int3 first, Int3 p, Index slot, int e) const {
        const bool inside = x.cuts.holds(neighbour(p, e), first);
        for (int r = 0; r < dof(); ++r)
            for (int c = 0; c < dof(); ++c) {
                const double factor = e == x.lower && r == c ? 1.0 + alpha : 1.0;
                x.at(subdomain, local, e, r, c) = inside ? factor * a.at(tables.a_entry[e], p, slot, r, c) : 0.0;
            }
    }
    /// X_e -= E_l G_u(p+l) for all u and e = l + u, then W_l = E_l D^-1(p+l); row by row.
    HYPERPLANE_HD void eliminate(Index subdomain, int local, Int3 first, Int3 p, int l) const {
        const int there = x.cuts.local(neighbour(p, l), first);
        for (int r = 0; r < dof(); ++r) {
            double row[room];
            for (int k = 0; k < dof(); ++k) row[k] = x.at(subdomain, local, l, r, k);
            for (int at = tables.begin[l]; at < tables.begin[l + 1]; ++at) {
                const int u = tables.updates[2 * at], e = tables.updates[2 * at + 1];
                if (!x.cuts.holds(neighbour(p, e), first)) continue;
                for (int c = 0; c < dof(); ++c) {
                    double sum = 0.0;
                    for (int k = 0; k < dof(); ++k) sum += row[k] * x.at(subdomain, there, u, k, c);
                    x.at(subdomain, local, e, r, c) -= sum;
                }
            }
            for (int c = 0; c < dof(); ++c) {
                double sum = 0.0;
                for (int k = 0; k < dof(); ++k) sum += row[k] * x.at(subdomain, there, x.lower, k, c);
                x.at(subdomain, local, l, r, c) = sum;
            }
        }
    }
    /// D^-1 = inverse of X_0, 0 where a pivot cannot be used.
    HYPERPLANE_HD void invert(Index subdomain, int local, Int3 p, Index slot, double* block,
                              PivotRatio& smallest) const {
        const int own_entry = tables.a_entry[x.lower], size = dof();
        double scale = 0.0, ratio = 1.0;
        const auto enlarge = [&](double value) {
            // Not a number stays: it is never smaller.
            if (!(std::abs(value) <= scale)) scale = std::abs(value);
        };
        for (int r = 0; r < size; ++r)
            for (int c = 0; c < size; ++c) {
                enlarge(a.at(own_entry, p, slot, r, c));
                enlarge(block[r * size + c] = x.at(subdomain, local, x.lower, r, c));
            }
        const Index row = x.cuts.grid.row(p);
        const int given_up = invert_in_place(size, block, [&](int component, double pivot) {
            const double own = a.at(own_entry, p, slot, component, component);
            ratio = std::min(ratio, judge.ratio(pivot, own));
            return judge.usable(pivot, own, scale, (unsigned long long)(row * size + component), true);
        });
        for (int r = 0; r < size; ++r)
            for (int c = 0; c < size; ++c) {
                double& value = block[r * size + c];
                if (given_up >= 0) value = 0.0;
                x.at(subdomain, local, x.lower, r, c) = value;
            }
        smallest.take(ratio, row);
    }
    /// G_u = D^-1 X_u.
    HYPERPLANE_HD void scale(Index subdomain, int local, int u, const double* inverse) const {
        for (int c = 0; c < dof(); ++c) {
            double column[room];
            for (int k = 0; k < dof(); ++k) column[k] = x.at(subdomain, local, u, k, c);
            for (int r = 0; r < dof(); ++r) {
                double sum = 0.0;
                for (int k = 0; k < dof(); ++k) sum += inverse[r * dof() + k] * column[k];
                x.at(subdomain, local, u, r, c) = sum;
            }
        }
    }
};

std::vector<int> tables_of(const Stencil& a, const Stencil& kept) {
    std::vector<int> tables, updates;
    for (const Int3 o : kept.offsets()) tables.push_back(a.find(o));
    for (int l = 0; l < kept.lower_size(); ++l) {
        tables.push_back(int(updates.size() / 2));
        for (int u = kept.diagonal() + 1; u < kept.size(); ++u)
            if (const int e = kept.find(kept[l] + kept[u]); e >= 0) updates.insert(updates.end(), {u, e});
    }
    tables.push_back(int(updates.size() / 2));
    tables.insert(tables.end(), updates.begin(), updates.end());
    return tables;
}

/// One thread a subdomain, its points step by step.
template <class Body>
PivotRatio walk_on_host(const Body& body, const Steps& steps) {
    const Index subdomains = body.x.cuts.subdomains();
    PivotRatio smallest;
#pragma omp parallel for schedule(static) num_threads(threads_for(body.x.cuts.grid.points() * body.x.dof))
    for (Index subdomain = 0; subdomain < subdomains; ++subdomain) {
        PivotRatio own;
        for (int at = 0; at < body.x.cuts.points(); ++at) body(subdomain, steps.points[at], own);
#pragma omp critical
        smallest.take(own.value, own.row);
    }
    return smallest;
}

#ifdef __CUDACC__

constexpr int factor_threads = 128;

struct SubdomainRatio {
    double value;
    long long row;
};

/// One block a subdomain.
template <class Body>
__global__ void __launch_bounds__(factor_threads)
    walk_subdomains(const __grid_constant__ Body body, const Steps steps, SubdomainRatio* smallest) {
    __shared__ SubdomainRatio ratios[factor_threads];
    PivotRatio own;
    for (int step = 0; step < steps.count; ++step) {
        for (int at = steps.begin[step] + int(threadIdx.x); at < steps.begin[step + 1]; at += factor_threads)
            body(Index(blockIdx.x), steps.points[at], own);
        __syncthreads();
    }
    ratios[threadIdx.x] = {own.value, own.row};
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int other = 1; other < factor_threads; ++other) own.take(ratios[other].value, ratios[other].row);
    smallest[blockIdx.x] = {own.value, own.row};
}

template <class Body>
PivotRatio walk_on_device(const Context& context, const Body& body, const Steps& steps) {
    const Index subdomains = body.x.cuts.subdomains();
    Buffer<SubdomainRatio> ratios(context, "preconditioner: pivots", subdomains);
    walk_subdomains<<<unsigned(subdomains), factor_threads, 0, cuda::stream()>>>(body, steps, ratios.data());
    cuda::launched("factorisation of subdomains");
    std::vector<SubdomainRatio> host(ratios.size());
    device::copy(ratios.data(), host.data(), Index(host.size() * sizeof(SubdomainRatio)));
    PivotRatio smallest;
    for (const SubdomainRatio& one : host) smallest.take(one.value, one.row);
    return smallest;
}

#endif

template <class Body>
PivotRatio walk([[maybe_unused]] const Context& context, const Body& body, const Steps& steps) {
#ifdef __CUDACC__
    if (context.backend() == Backend::cuda) return walk_on_device(context, body, steps);
#endif
    return walk_on_host(body, steps);
}

}  // namespace

SubdomainFactors::SubdomainFactors(const Context& context, const Cuts& cuts, const StructMatrix& a,
                                   SubdomainOrder::Rows rows)
    : context_(context),
      cuts_(cuts),
      stencil_(cuts.within(a.stencil())),
      matrix_offsets_(a.stencil().offsets()),
      symmetric_(a.symmetric()),
      order_(cuts, stencil_, a.dof(), rows),
      places_(copied_to(context, "factor: places", order_.places)),
      points_(copied_to(context, "factor: places", order_.points)),
      begin_(copied_to(context, "factor: places", order_.begin)),
      tables_(copied_to(context, "factor: places", tables_of(a.stencil(), stencil_))),
      offsets_(copied_to(context, "factor: places", matrix_offsets_)),
      kept_offsets_(copied_to(context, "factor: places", stencil_.offsets())),
      values_(context, "factor", cuts.subdomains() * order_.values) {}

Index SubdomainFactors::bytes(const Cuts& cuts, const Stencil& matrix, int dof, SubdomainOrder::Rows rows) {
    const Stencil kept = cuts.within(matrix);
    const SubdomainOrder order(cuts, kept, dof, rows);
    const Index ints = Index(order.points.size() + order.begin.size() + tables_of(matrix, kept).size());
    return cuts.subdomains() * order.values * Index(sizeof(double)) +
           Index(order.places.size() * sizeof(SubdomainPlace)) + ints * Index(sizeof(int)) +
           (matrix.size() + kept.size()) * Index(sizeof(Int3));
}

bool SubdomainFactors::serves(const Cuts& cuts, const StructMatrix& a) const {
    const Int3 n = cuts.count();
    return cuts.size == cuts_.size && n == cuts_.count() && a.grid().points() == cuts_.grid.points() &&
           a.grid().nx == cuts_.grid.nx && a.grid().ny == cuts_.grid.ny && a.dof() == order_.dof &&
           a.symmetric() == symmetric_ && a.stencil().offsets() == matrix_offsets_;
}

void SubdomainFactors::factor(const StructMatrix& a, double alpha, const PivotRules& rules, PivotInverter& inverter) {
    const int lower = stencil_.lower_size(), entries = stencil_.size();
    const int* tables = tables_.data();
    Buffer<PivotLog> log = copied_to(context_, "preconditioner: pivots", std::vector<PivotLog>{empty_pivot_log()});
    const PivotJudge judge{log.data(), rules.tolerance, rules.policy == PivotPolicy::boost ? rules.boost : 0.0,
                           symmetric_};
    const auto with_dof = [&](auto dof) {
        const FactorPoint<dof.value> body{
            {cuts_, places_.data(), values_.data(), order_.values, order_.dof, lower},
            {kept_offsets_.data(), tables, tables + entries, tables + entries + lower + 1},
            {view(a), a.layout(), offsets_.data(), a.stencil().size()},
            judge,
            alpha};
        const PivotRatio smallest = walk(context_, body, {points_.data(), begin_.data(), order_.steps()});
        inverter.adopt(moved_to(context_.host(), "preconditioner: pivots", std::move(log))[0], smallest);
    };
    switch (order_.dof) {
        case 1: return with_dof(std::integral_constant<int, 1>{});
        case 2: return with_dof(std::integral_constant<int, 2>{});
        case 3: return with_dof(std::integral_constant<int, 3>{});
        case 4: return with_dof(std::integral_constant<int, 4>{});
        default: return with_dof(std::integral_constant<int, 0>{});
    }
}

}  // namespace hyperplane
