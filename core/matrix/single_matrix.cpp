// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/single_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/matrix/struct_matrix_cuda.hpp"
#include "core/vector/plane_sums.hpp"
#include "core/vector/run_kernel.hpp"

namespace hyperplane {
namespace {

using SingleTerm = BasicRunTerm<float>;

/// Terms that are summed in one pass.
constexpr int most_terms = 9;

/// sum[t] = from[t] - the terms at t, for t in [begin, end), where all are valid.
template <int N, class From, class To>
void subtract_all(const SingleTerm* terms, const From* from, To* sum, int begin, int end) {
    const float* a[N];
    const float* x[N];
    for (int n = 0; n < N; ++n) a[n] = terms[n].a, x[n] = terms[n].x;
#pragma omp simd
    for (int t = begin; t < end; ++t) {
        double value = double(from[t]);
#pragma GCC unroll 9
        for (int n = 0; n < N; ++n) value = std::fma(-double(a[n][t]), double(x[n][t]), value);
        sum[t] = To(value);
    }
}

template <class From, class To, int... N>
void subtract_of(std::integer_sequence<int, N...>, int count, const SingleTerm* terms, const From* from, To* sum,
                 int begin, int end) {
    ((count == N + 1 ? subtract_all<N + 1>(terms, from, sum, begin, end) : void()), ...);
}

/// Computes these sums for t in [0, count), where terms may be valid at some positions only.
template <class From, class To>
void subtract_group(const SingleTerm* terms, int size, const From* from, To* sum, int count) {
    int begin = 0, end = count;
    for (int n = 0; n < size; ++n) begin = std::max(begin, terms[n].begin), end = std::min(end, terms[n].end);
    begin = std::min(begin, count);
    end = std::max(begin, end);
    const auto edge = [&](int first, int last) {
        for (int t = first; t < last; ++t) {
            double value = double(from[t]);
            for (int n = 0; n < size; ++n)
                if (t >= terms[n].begin && t < terms[n].end)
                    value = std::fma(-double(terms[n].a[t]), double(terms[n].x[t]), value);
            sum[t] = To(value);
        }
    };
    edge(0, begin);
    subtract_of(std::make_integer_sequence<int, most_terms>{}, size, terms, from, sum, begin, end);
    edge(end, count);
}

/// r = b - all terms; `sums` is scratch of `count` values.
void subtract_terms(const std::vector<SingleTerm>& terms, const float* b, double* sums, float* r, int count) {
    const int all = int(terms.size());
    for (int first = 0; first < all; first += most_terms) {
        const int size = std::min(most_terms, all - first);
        const bool begins = first == 0, ends = first + size == all;
        const SingleTerm* const group = terms.data() + first;
        if (begins && ends)
            subtract_group(group, size, b, r, count);
        else if (begins)
            subtract_group(group, size, b, sums, count);
        else if (ends)
            subtract_group(group, size, sums, r, count);
        else
            subtract_group(group, size, sums, sums, count);
    }
}

}  // namespace

SingleMatrix::SingleMatrix(const StructMatrix& a, const std::string& label, int /*without values*/)
    : layout_(a.layout()),
      stencil_(a.stencil()),
      dof_(a.dof()),
      storage_(a.storage()),
      stride_(a.stride()),
      values_(a.context(), label, a.stored()) {}

void SingleMatrix::assign(const StructMatrix& a) {
    round_to_single(a.context(), a.values(0), values_.data(), values_.size());
    lines_.reset();
    if (const EqualLines* lines = a.equal_lines()) lines_ = *lines;
}

void SingleMatrix::subtract_product(const SingleVector& b, const SingleVector& x, SingleVector& r) const {
    if constexpr (cuda_built)
        if (x.backend() == Backend::cuda) {
            if (!cuda_) cuda_ = std::make_shared<SingleMatrixCuda>(*this);
            return cuda_->subtract_product(*this, b, x, r);
        }
    // In blocks of consecutive slots, as StructMatrix::apply_flat. Where a neighbour lies outside the grid, some other
    // value of x is multiplied by the zero stored there.
    const PlaneSums order(IndexSpace(layout_), 1);
#pragma omp parallel for schedule(static, 1) num_threads(context().threads_for(x.size()))
    for (Index at = 0; at < order.blocks(); ++at) {
        const Index first = order.block(at).first;
        const int count = int(order.block(at).count);
        thread_local std::vector<SingleTerm> terms;
        thread_local std::vector<double> sums;
        sums.resize(std::size_t(count));
        for (int row = 0; row < dof_; ++row) {
            terms.clear();
            for (int e = 0; e < stencil_.size(); ++e) {
                const RunNeighbours near{0, 0, first + layout_.distance(stencil_[e])};
                const int begin = int(std::clamp<Index>(-near.slot, 0, count));
                const int end = int(std::clamp<Index>(layout_.slots() - near.slot, begin, count));
                for (int col = 0; col < dof_; ++col)
                    terms.push_back(
                        {along({{}, count, first}, near, e, row, col), x.component(col) + near.slot, begin, end});
            }
            subtract_terms(terms, b.component(row) + first, sums.data(), r.component(row) + first, count);
        }
    }
}

}  // namespace hyperplane
