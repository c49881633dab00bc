// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilut/candidates.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "precond/factors/known_dof.hpp"

namespace hyperplane::par_ilut {
namespace {

constexpr const char* candidates_label = "candidates";

/// Its products are fused by name: a GPU must find the same bits (candidates_cuda.cu).
double square(const double* block, int size) {
    double sum = 0.0;
    for (int entry = 0; entry < size; ++entry) sum = std::fma(block[entry], block[entry], sum);
    return sum;
}

/// The number of blocks of row i of A that count: for a symmetric matrix those from the diagonal on.
Index considered(const BlockPattern& a, bool symmetric, Index i) {
    const int *begin = a.column() + a.row_begin()[i], *end = a.column() + a.row_begin()[i + 1];
    return end - (symmetric ? std::lower_bound(begin, end, int(i)) : begin);
}

/// Computes one row of R at a time, for a symmetric matrix from the diagonal on. Each thread has one of these.
class ResidualRow {
public:
    ResidualRow(const BsrMatrix& a, double alpha, const GeneralFactors& x, const double* inverse, int most)
        : a_(a),
          alpha_(alpha),
          x_(x),
          inverse_(inverse),
          most_(most),
          place_(a.context(), candidates_label, a.pattern()->rows()) {}

    /// The number of candidates of row i. The columns that X does not have are counted up to the most that are taken:
    /// a row that depends on one with entries in most columns has as many.
    Index count(Index i) {
        const BlockPattern &own = *a_.pattern(), &p = x_.pattern();
        const int first = x_.symmetric ? int(i) : 0;
        const Index diagonal = x_.filled.diagonal[i], most = most_ * considered(own, x_.symmetric, i);
        columns_.clear();
        for (Index at = x_.symmetric ? diagonal : p.row_begin()[i]; at < p.row_begin()[i + 1]; ++at)
            find(p.column()[at]);
        const std::size_t limit = columns_.size() + std::size_t(most);
        const auto enough = [&](const BlockPattern& of, Index from, Index end) {
            for (Index at = from; at < end && columns_.size() < limit; ++at)
                if (of.column()[at] >= first) find(of.column()[at]);
            return columns_.size() == limit;
        };
        bool full = enough(own, own.row_begin()[i], own.row_begin()[i + 1]);
        for (Index at = p.row_begin()[i]; at < diagonal && !full; ++at) {
            const Index k = p.column()[at];
            full = enough(p, first_from(k, first), p.row_begin()[k + 1]);
        }
        return most - Index(limit - columns_.size());
    }
    /// Writes the `count` candidates of row i.
    void write(Index i, Index count, int* column, double* values) {
        collect(i);
        const int size = x_.dof * x_.dof;
        sizes_.resize(columns_.size());
        for (std::size_t at = 0; at < columns_.size(); ++at) sizes_[at] = square(&values_[at * size], size);
        choose(std::size_t(count));
        for (const int at : chosen_) {
            *column++ = columns_[at];
            values = std::copy_n(&values_[std::size_t(at) * size], size, values);
        }
    }
    /// The square of the norm of R's row i, after its candidates have been written: first what X has, then the rest, by
    /// columns.
    double squared_norm(Index i) {
        double norm = 0.0;
        const auto add = [&](Index at, int column) {
            norm += (x_.symmetric && column != i ? 2.0 : 1.0) * sizes_[std::size_t(at)];
        };
        const BlockPattern& p = x_.pattern();
        for (Index at = x_.symmetric ? x_.filled.diagonal[i] : p.row_begin()[i]; at < p.row_begin()[i + 1]; ++at)
            add(place_[p.column()[at]], p.column()[at]);
        chosen_.clear();
        for (std::size_t at = 0; at < columns_.size(); ++at)
            if (!held_[at]) chosen_.push_back(int(at));
        std::sort(chosen_.begin(), chosen_.end(), [&](int p, int q) { return columns_[p] < columns_[q]; });
        for (const int at : chosen_) add(at, columns_[at]);
        return norm;
    }

private:
    /// Chooses the `count` largest candidates, among equal ones those of the first columns, and puts them in the order
    /// of columns. A row that depends on a long one has candidates in most columns, of which it takes few: those that
    /// `count` others are known to precede are passed over.
    void choose(std::size_t count) {
        const auto by_column = [&](int p, int q) { return columns_[p] < columns_[q]; };
        const auto precedes = [&](int p, int q) {
            return sizes_[p] != sizes_[q] ? sizes_[p] > sizes_[q] : by_column(p, q);
        };
        const auto keep_largest = [&] {
            std::nth_element(chosen_.begin(), chosen_.begin() + std::ptrdiff_t(count) - 1, chosen_.end(), precedes);
            chosen_.resize(count);
        };
        chosen_.clear();
        int last = -1;  // of those that were the largest when they were last chosen
        for (int at = 0; at < int(columns_.size()) && count > 0; ++at) {
            if (held_[at] || (last >= 0 && !precedes(at, last))) continue;
            chosen_.push_back(at);
            if (chosen_.size() < 2 * count) continue;
            keep_largest();
            last = chosen_.back();
        }
        if (chosen_.size() > count) keep_largest();
        std::sort(chosen_.begin(), chosen_.end(), by_column);
    }
    /// Collects the columns of row i, their blocks, and which of them X has.
    void collect(Index i) {
        columns_.clear();
        values_.clear();
        held_.clear();
        const BlockPattern &own = *a_.pattern(), &p = x_.pattern();
        const int dof = x_.dof, size = dof * dof, first = x_.symmetric ? int(i) : 0;
        for (Index at = own.row_begin()[i]; at < own.row_begin()[i + 1]; ++at) {
            if (own.column()[at] < first) continue;
            double* const to = &values_[find_valued(own.column()[at]) * size];
            std::copy_n(a_.values() + at * size, size, to);
            for (int r = 0; r < dof && own.column()[at] == i; ++r) to[r * dof + r] *= 1.0 + alpha_;
        }
        with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(dof, [&](auto m) {
            for (Index at = p.row_begin()[i]; at < x_.filled.diagonal[i]; ++at) subtract_products<m.value>(at, first);
        });
        for (Index at = x_.symmetric ? x_.filled.diagonal[i] : p.row_begin()[i]; at < p.row_begin()[i + 1]; ++at) {
            const std::size_t place = find_valued(p.column()[at]);
            held_[place] = true;
            for (int entry = 0; entry < size; ++entry) values_[place * size + entry] -= x_.values[at * size + entry];
        }
    }
    /// Subtracts X_ik X_kk^-1 X_kj for all j from `first` on, where block `at` is X_ik; m is the dof, 0: any.
    template <int m>
    void subtract_products(Index at, int first) {
        const BlockPattern& p = x_.pattern();
        const int dof = m > 0 ? m : x_.dof, size = dof * dof;
        const Index k = p.column()[at], end = p.row_begin()[k + 1];
        std::array<double, max_dof * max_dof> w;
        std::fill_n(w.begin(), size, 0.0);
        general_cpu::add_product<m>(dof, 1.0, x_.values.data() + at * size, inverse_ + k * size, w.data());
        const Index begin = first_from(k, first);
        for (Index other = begin; other < end; ++other) find(p.column()[other]);
        add_values();
        for (Index other = begin; other < end; ++other)
            general_cpu::add_product<m>(dof, -1.0, w.data(), x_.values.data() + other * size,
                                        &values_[std::size_t(place_[p.column()[other]]) * size]);
    }
    /// The place of the first block of X above the diagonal of row k whose column is at least `column`.
    Index first_from(Index k, int column) const {
        const BlockPattern& p = x_.pattern();
        return general_cpu::place_from(p.column(), x_.filled.diagonal[k] + 1, p.row_begin()[k + 1], column);
    }
    /// The place of a column in the list, to which it is appended if it is not there.
    std::size_t find(int column) {
        const auto place = std::size_t(place_[column]);
        if (place < columns_.size() && columns_[place] == column) return place;
        place_[column] = int(columns_.size());
        columns_.push_back(column);
        return columns_.size() - 1;
    }
    /// Gives new columns a block, which is zero, and which X does not have.
    void add_values() {
        held_.resize(columns_.size(), false);
        values_.resize(columns_.size() * std::size_t(x_.dof * x_.dof), 0.0);
    }
    /// The place of a column in all lists.
    std::size_t find_valued(int column) {
        const std::size_t place = find(column);
        add_values();
        return place;
    }

    const BsrMatrix& a_;
    double alpha_;
    const GeneralFactors& x_;
    const double* inverse_;
    int most_;
    Buffer<int> place_;  ///< [column]: its place in the lists, if it is there
    std::vector<int> columns_, chosen_;
    std::vector<double> values_, sizes_;
    std::vector<bool> held_;
};

/// Candidates above the diagonal together with their mirror images.
Candidates with_mirror_images(const Candidates& upper, int dof) {
    const Index rows = upper.begin.size() - 1, count = upper.column.size(), size = dof * dof;
    const Context& host = upper.begin.context();
    Candidates all{Buffer<Index>(host, candidates_label, rows + 1), Buffer<int>(host, candidates_label, 2 * count),
                   Buffer<double>(host, candidates_label, 2 * count * size), upper.residual};
    for (const int j : upper.column) ++all.begin[j + 1];
    for (Index i = 0; i < rows; ++i) all.begin[i + 1] += all.begin[i] + upper.begin[i + 1] - upper.begin[i];
    Buffer<Index> next(host, candidates_label, rows);
    std::copy_n(all.begin.begin(), rows, next.begin());
    // The mirror images in row i come from the rows before it, so they precede the row's own.
    for (Index i = 0; i < rows; ++i)
        for (Index at = upper.begin[i]; at < upper.begin[i + 1]; ++at) {
            const int j = upper.column[at];
            const Index own = next[i]++, mirror = next[j]++;
            all.column[own] = j;
            all.column[mirror] = int(i);
            for (int r = 0; r < dof; ++r)
                for (int c = 0; c < dof; ++c)
                    all.values[own * size + r * dof + c] = all.values[mirror * size + c * dof + r] =
                        upper.values[at * size + r * dof + c];
        }
    return all;
}

}  // namespace

Candidates candidates_of(const BsrMatrix& a, double alpha, const GeneralFactors& x, const double* inverse, int most,
                         bool with_residual) {
    const Context& host = a.context();
    const Index rows = x.pattern().rows(), size = x.dof * x.dof;
    const int threads = host.threads_for(x.value_count());
    std::vector<ResidualRow> work;
    for (int thread = 0; thread < threads; ++thread) work.emplace_back(a, alpha, x, inverse, most);
    Candidates found;
    found.begin = Buffer<Index>(host, candidates_label, rows + 1);
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
    for (Index i = 0; i < rows; ++i) found.begin[i + 1] = work[omp_get_thread_num()].count(i);
    std::partial_sum(found.begin.begin(), found.begin.end(), found.begin.begin());
    found.column = Buffer<int>(host, candidates_label, found.begin[rows]);
    found.values = Buffer<double>(host, candidates_label, found.begin[rows] * size);
    Buffer<double> norm(host, candidates_label, with_residual ? rows : 0);
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
    for (Index i = 0; i < rows; ++i) {
        const Index begin = found.begin[i];
        ResidualRow& row = work[omp_get_thread_num()];
        row.write(i, found.begin[i + 1] - begin, found.column.data() + begin, found.values.data() + begin * size);
        if (with_residual) norm[i] = row.squared_norm(i);
    }
    found.residual = std::sqrt(std::accumulate(norm.begin(), norm.end(), 0.0));
    return x.symmetric ? with_mirror_images(found, x.dof) : std::move(found);
}

GeneralFactors with_candidates(const BsrMatrix& a, const GeneralFactors& x, const Candidates& more) {
    const Context& host = a.context();
    const BlockPattern& p = x.pattern();
    const Index rows = p.rows(), size = x.dof * x.dof;
    Buffer<Index> row_begin(host, candidates_label, rows + 1);
    for (Index i = 0; i <= rows; ++i) row_begin[i] = p.row_begin()[i] + more.begin[i];
    Buffer<int> column(host, candidates_label, row_begin[rows]);
    GeneralFactors larger;
    larger.dof = x.dof;
    larger.symmetric = x.symmetric;
    larger.values = Buffer<double>(host, candidates_label, row_begin[rows] * size);
#pragma omp parallel for schedule(static) num_threads(host.threads_for(larger.values.size()))
    for (Index i = 0; i < rows; ++i) {
        Index old = p.row_begin()[i], added = more.begin[i];
        for (Index to = row_begin[i]; to < row_begin[i + 1]; ++to) {
            const bool is_old =
                added == more.begin[i + 1] || (old < p.row_begin()[i + 1] && p.column()[old] < more.column[added]);
            column[to] = is_old ? p.column()[old] : more.column[added];
            std::copy_n(is_old ? x.values.data() + old++ * size : more.values.data() + added++ * size, size,
                        larger.values.data() + to * size);
        }
    }
    larger.filled = filled_as(
        *a.pattern(), std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column)), candidates_label);
    return larger;
}

Index most_candidates(const BlockPattern& a, bool symmetric, int most) {
    Index sum = 0;
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.rows())) reduction(+ : sum)
    for (Index i = 0; i < a.rows(); ++i)
        sum += std::min(most * considered(a, symmetric, i), symmetric ? a.rows() - 1 - i : a.rows() - 1);
    return symmetric ? 2 * sum : sum;
}

std::string about_long_rows(const BlockPattern& a, bool symmetric, bool in_rcm) {
    constexpr Index many = 50000000, many_of_entry = 50;
    Buffer<int> depend(a.context(), candidates_label, a.rows());  // on each row
    for (Index i = 0; i < a.rows(); ++i)
        for (Index at = a.row_begin()[i]; at < a.row_begin()[i + 1] && a.column()[at] < i; ++at)
            ++depend[a.column()[at]];
    // Row k gives its blocks beyond the diagonal to each row that depends on it; the products are X_ik X_kk^-1 X_kj.
    const auto beyond = [&](Index k) {
        const int* const end = a.column() + a.row_begin()[k + 1];
        return Index(end - std::upper_bound(a.column() + a.row_begin()[k], end, int(k)));
    };
    Index all = 0, most = 0, row = 0;
    for (Index k = 0; k < a.rows(); ++k) {
        const Index products = symmetric ? beyond(k) * (beyond(k) + 1) / 2 : beyond(k) * depend[k];
        all += products;
        if (products > most) most = products, row = k;
    }
    if (all < many || all <= many_of_entry * a.blocks()) return "";
    return fmt::format(
        "a round looks for candidates in at least {:.2g} products, {} for each block of the matrix, so the set-up "
        "takes long. Most come from row {}: it has {} blocks beyond its diagonal, and {} rows depend on it. "
        "{}sync_free_ilu looks for no candidates",
        double(all), all / a.blocks(), a.given_row(row) + 1, beyond(row), depend[row],
        in_rcm ? "" : "ordering.name = rcm may put such rows last; ");
}

std::string about_bare_rows(const BlockPattern& a, bool symmetric) {
    if (!symmetric) return "";
    Index bare = 0, first = 0;
    for (Index i = a.rows() - 2; i >= 0; --i)  // nothing lies beyond the last row's diagonal
        if (considered(a, true, i) == 0) ++bare, first = i;
    if (bare == 0) return "";
    return fmt::format(
        "no round adds entries beyond the diagonal of row {}{}, since a row of a symmetric matrix is given a multiple "
        "of "
        "its own entries from the diagonal on, and there are none. With ordering.rows = matching, or with zeros that "
        "the file stores on the diagonal, entries are added",
        a.given_row(first) + 1,
        bare > 1 ? fmt::format(", one of {} such rows, and so none where two of them meet", bare) : "");
}

Index list_bytes(Index rows, Index candidates, int dof) {
    return (rows + 1) * Index(sizeof(Index)) + candidates * (Index(sizeof(int)) + dof * dof * Index(sizeof(double)));
}

Index search_bytes(Index rows, Index candidates, int dof, bool symmetric, int threads, bool with_residual) {
    const Index norms = with_residual ? rows * Index(sizeof(double)) : 0, places = threads * rows * Index(sizeof(int));
    const Index mirrored = list_bytes(rows, candidates / 2, dof) + rows * Index(sizeof(Index));
    return list_bytes(rows, candidates, dof) + (symmetric ? mirrored : 0) + norms + places;
}

}  // namespace hyperplane::par_ilut
