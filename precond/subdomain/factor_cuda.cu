// SPDX-License-Identifier: BSD-3-Clause
// Factorisation of subdomains on a GPU. A thread block factors one subdomain, level by level
// (precond/subdomain/ildu0.hpp). Blocks of five to eight unknowns are factored on tensor cores instead
// (precond/subdomain/factor.cuh).

#include "core/device/cuda.hpp"
#include "core/matrix/views.hpp"
#include "precond/factors/eliminations.hpp"
#include "precond/factors/judged_inverse.hpp"
#include "precond/factors/known_dof.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/subdomain/factor_tensor_cuda.hpp"
#include "precond/subdomain/factors.hpp"

namespace hyperplane {
namespace {

/// A's blocks. If one triangle is stored, upper blocks are read from the lower triangle.
struct SubdomainBlocks {
    ConstMatrixView values;
    Layout layout;
    const Int3* offsets;
    int size;

    __device__ double at(int entry, Int3 p, Index slot, int row, int col) const {
        if (entry < values.stored_entries) return values.at(entry, row, col, slot);
        return values.at(size - 1 - entry, col, row, layout.slot(p + offsets[entry]));
    }
};

/// The points of a subdomain, sorted into levels.
struct Levels {
    const int *points, *begin;
    int count;
};

/// A point of a subdomain, and a bit for each entry (at most 125) that leads to a point of the same subdomain.
struct Place {
    Index subdomain, slot;
    int local;
    Int3 first, point;
    unsigned long long coupled[2];

    __device__ bool couples(int e) const { return coupled[e / 64] >> e % 64 & 1; }
};

/// Steps 1 to 4 of precond/subdomain/ildu0.hpp at one point; m is the dof if it is known at compile time, else 0. The
/// rows of a point can be eliminated in parallel; then one thread computes the inverse; then the columns can be scaled
/// in parallel.
template <int m>
struct FactorPoint {
    SubdomainFactorView x;
    UpdateTables tables;
    SubdomainBlocks a;
    PivotJudge judge;
    double alpha;

    static constexpr int room = m > 0 ? m : max_dof;

    __device__ int dof() const { return m > 0 ? m : x.dof; }
    __device__ int entries() const { return 2 * x.lower + 1; }
    /// Finds the place of a point by its local number in the subdomain whose first point is `first`. Returns false if
    /// the point is outside the grid.
    __device__ bool locate(Index subdomain, Int3 first, int local, Place& at) const {
        at.subdomain = subdomain;
        at.local = local;
        at.first = first;
        at.point = x.partition.point(local, first);
        if (!x.partition.grid.contains(at.point)) return false;
        at.slot = a.layout.slot(at.point);
        at.coupled[0] = at.coupled[1] = 0;
        for (int e = 0; e < entries(); ++e)
            if (x.partition.holds(at.point + tables.offsets[e], at.first)) at.coupled[e / 64] |= 1ull << e % 64;
        return true;
    }
    __device__ double& value(const Place& at, int e, int r, int c) const {
        return x.at(at.subdomain, at.local, e, r, c);
    }
    __device__ double value(const Place& at, int local, int e, int r, int c) const {
        return x.at(at.subdomain, local, e, r, c);
    }

    /// Computes row r of X_e = A_e + alpha diag(A), which is 0 if e leads to another subdomain; then X_e -= X_l
    /// G_u(p+l) for each l and u with e = l + u, and W_l = X_l D^-1(p+l).
    __device__ void eliminate_row(const Place& at, int r) const {
        for (int e = 0; e < entries(); ++e) {
            const bool inside = at.couples(e);
            for (int c = 0; c < dof(); ++c) {
                const double factor = e == x.lower && r == c ? 1.0 + alpha : 1.0;
                value(at, e, r, c) = inside ? factor * a.at(tables.a_entry[e], at.point, at.slot, r, c) : 0.0;
            }
        }
        for (int l = 0; l < x.lower; ++l) {
            if (!at.couples(l)) continue;
            const int there = x.partition.local(at.point + tables.offsets[l], at.first);
            double row[room];
            for (int k = 0; k < dof(); ++k) row[k] = value(at, l, r, k);
            for (int update = tables.begin[l]; update < tables.begin[l + 1]; ++update) {
                const int u = tables.updates[2 * update], e = tables.updates[2 * update + 1];
                if (!at.couples(e)) continue;
                for (int c = 0; c < dof(); ++c) value(at, e, r, c) -= product(row, at, there, u, c);
            }
            for (int c = 0; c < dof(); ++c) value(at, l, r, c) = product(row, at, there, x.lower, c);
        }
    }
    /// The product of a row and column c of a block of another point.
    __device__ double product(const double* row, const Place& at, int there, int e, int c) const {
        double sum = 0.0;
        for (int k = 0; k < dof(); ++k) sum += row[k] * value(at, there, e, k, c);
        return sum;
    }

    /// Computes D^-1, the inverse of X_0, or 0 if a pivot cannot be used.
    __device__ void invert(const Place& at, PivotRatio& smallest) const {
        const int own_entry = tables.a_entry[x.lower], size = dof();
        double block[room * room];
        for (int r = 0; r < size; ++r)
            for (int c = 0; c < size; ++c) block[r * size + c] = value(at, x.lower, r, c);
        const Index row = x.partition.grid.row(at.point);
        const double ratio = invert_judged(
            size, block, [&](int r, int c) { return a.at(own_entry, at.point, at.slot, r, c); }, judge,
            [&](int component, double pivot, double own, double scale) {
                return judge.usable(pivot, own, scale, (unsigned long long)(row * size + component), true);
            });
        for (int r = 0; r < size; ++r)
            for (int c = 0; c < size; ++c) value(at, x.lower, r, c) = block[r * size + c];
        smallest.take(ratio, row);
    }

    /// Computes column c of G_u = D^-1 X_u.
    __device__ void scale_column(const Place& at, int c) const {
        for (int u = x.lower + 1; u < entries(); ++u) {
            if (!at.couples(u)) continue;
            double column[room];
            for (int k = 0; k < dof(); ++k) column[k] = value(at, u, k, c);
            for (int r = 0; r < dof(); ++r) {
                double sum = 0.0;
                for (int k = 0; k < dof(); ++k) sum += value(at, x.lower, r, k) * column[k];
                value(at, u, r, c) = sum;
            }
        }
    }
};

constexpr int factor_threads = 128;

/// Each thread block factors a subdomain. In a level, threads first have a row each, then a point, then a column.
template <class Body>
__global__ void __launch_bounds__(factor_threads)
    walk_subdomains(const __grid_constant__ Body body, const Levels levels, PivotRatio* smallest) {
    __shared__ double ratios[factor_threads];
    __shared__ long long rows[factor_threads];
    const Index subdomain = blockIdx.x;
    const Int3 first = body.x.partition.first_point(subdomain);
    const int thread = int(threadIdx.x), dof = body.dof();
    PivotRatio own;
    Place at;
    for (int level = 0; level < levels.count; ++level) {
        const int* points = levels.points + levels.begin[level];
        const int count = levels.begin[level + 1] - levels.begin[level];
        for (int work = thread; work < count * dof; work += factor_threads)
            if (body.locate(subdomain, first, points[work / dof], at)) body.eliminate_row(at, work % dof);
        __syncthreads();
        for (int work = thread; work < count; work += factor_threads)
            if (body.locate(subdomain, first, points[work], at)) body.invert(at, own);
        __syncthreads();
        for (int work = thread; work < count * dof; work += factor_threads)
            if (body.locate(subdomain, first, points[work / dof], at)) body.scale_column(at, work % dof);
        __syncthreads();
    }
    ratios[threadIdx.x] = own.value, rows[threadIdx.x] = own.row;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int other = 1; other < factor_threads; ++other) own.take(ratios[other], rows[other]);
    smallest[blockIdx.x] = own;
}

}  // namespace

void SubdomainFactors::factor_points(const StructMatrix& a, double alpha, const PivotRules& rules,
                                     PivotInverter& inverter) {
    const Index subdomains = partition_.subdomains();
    inverter.set_first_row(a.space().first_block_row());
    PivotRecord record(context_, subdomains);
    record.clear_log();
    if (SubdomainFactorCuda::serves(order_.dof)) {
        factor_on_tensor_cores(a, alpha, rules, record);
        return record.report(inverter);
    }
    const PivotJudge judge{rule_of(rules, symmetric_), record.log()};
    with_known_dof<1, 2, 3, 4>(order_.dof, [&](auto dof) {
        const FactorPoint<dof.value> body{
            {partition_, places_.data(), values_.data(), order_.values, order_.dof, stencil_.lower_size()},
            {kept_offsets_.data(), tables_.data(), stencil_},
            {view(a), a.layout().as_own_grid(), offsets_.data(), a.stencil().size()},
            judge,
            alpha};
        walk_subdomains<<<unsigned(subdomains), factor_threads, 0, cuda::stream(context_)>>>(
            body, {points_.data(), levels_.data(), int(order_.levels.size()) - 1}, record.ratios());
    });
    cuda::launched(context_, "factorisation of subdomains");
    record.report(inverter);
}

}  // namespace hyperplane
