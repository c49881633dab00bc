// SPDX-License-Identifier: BSD-3-Clause
// The kernels that find candidates (precond/par_ilut/candidates_cuda.cu says how).
#pragma once

#include <cstdint>

#include "precond/par_ilut/rows_cuda.cuh"

namespace hyperplane::par_ilut {
namespace {

using Key = std::uint64_t;

/// One summand. Block `first` of the row of X times block `second` of the row of its column, or block `second` of the
/// row of A; all counted within the row.
struct Item {
    unsigned first, second;
};
constexpr unsigned of_a = ~0u;

/// What is searched.
struct Search {
    CompressedRows a, x;
    const double* a_values;
    const double* x_values;
    const double* scaled;        ///< X_ik X_kk^-1 in the places of X's lower triangle
    const Index* product_begin;  ///< [block of X]: products with the blocks before; one more
    double alpha;
    int dof, column_bits, most;
    bool symmetric;

    __device__ int size() const { return dof * dof; }
    __device__ Index first_column(Index row) const { return symmetric ? row : 0; }
    /// The items of the rows before.
    __device__ Index items_before(Index row) const { return a.begin[row] + product_begin[x.begin[row]]; }
    /// The most candidates of a row.
    __device__ Index most_of(Index row) const {
        const Index begin = a.begin[row], end = a.begin[row + 1];
        return most * (end - (symmetric ? first_from(a.column, begin, end, row) : begin));
    }
};

/// Some rows, and their sorted items.
struct Batch {
    Index first, rows;
    const Key* keys;
    const Item* items;
    int count;

    __device__ Index row(Key key, int column_bits) const { return first + Index(key >> column_bits); }
};

/// The product of an element of two blocks, summed over q from `sum` on.
template <class X, class Y>
__device__ double fused_sum(int dof, double sum, const X& x, const Y& y) {
    for (int q = 0; q < dof; ++q) sum = __fma_rn(x(q), y(q), sum);
    return sum;
}

__global__ void scale_lower(CompressedRows x, const double* values, const double* inverse, int dof, Index count,
                            double* scaled) {
    const Index own = own_index();
    if (own >= count) return;
    const int size = dof * dof, r = int(own % size) / dof, c = int(own % size) % dof;
    const Index at = own / size, k = x.column[at];
    if (k >= x.row_of(at)) return;
    const double *left = values + at * size + r * dof, *right = inverse + k * size + c;
    scaled[own] = fused_sum(
        dof, 0.0, [&](int q) { return left[q]; }, [&](int q) { return right[q * dof]; });
}

__global__ void count_products(CompressedRows x, bool symmetric, Index blocks, Index* count) {
    const Index at = own_index();
    if (at > blocks) return;
    Index products = 0;
    if (at < blocks) {
        const Index row = x.row_of(at), k = x.column[at];
        if (k < row) {
            const Index from = x.diagonal[k] + 1, end = x.begin[k + 1];
            products = end - (symmetric ? first_from(x.column, from, end, row) : from);
        }
    }
    count[at] = products;
}

/// The most rows from `first` on whose items are at most `most`, but one at least; and the number of their items.
__global__ void find_batch(Search s, Index first, Index most, Index* found) {
    const Index before = s.items_before(first);
    const Index last =
        max(first + 1, last_up_to([&](Index row) { return s.items_before(row) - before; }, first, s.x.rows + 1, most));
    found[0] = last - first;
    found[1] = s.items_before(last) - before;
}

__global__ void make_items(Search s, Index first, Index rows, int count, Key* keys, Item* items) {
    const Index own = own_index();
    if (own >= count) return;
    const Index item = s.items_before(first) + own;
    const Index row = last_up_to([&](Index one) { return s.items_before(one); }, first, first + rows, item);
    Index local = item - s.items_before(row);
    const Index blocks_of_a = s.a.begin[row + 1] - s.a.begin[row];
    Index column = 0;
    if (local < blocks_of_a) {
        column = s.a.column[s.a.begin[row] + local];
        items[own] = {of_a, unsigned(local)};
    } else {
        const Index begin = s.x.begin[row], product = s.product_begin[begin] + local - blocks_of_a;
        const Index at = last_up_to([&](Index one) { return s.product_begin[one]; }, begin, s.x.diagonal[row], product);
        const Index k = s.x.column[at], other = s.x.begin[k + 1] - (s.product_begin[at + 1] - product);
        column = s.x.column[other];
        items[own] = {unsigned(at - begin), unsigned(other - s.x.begin[k])};
    }
    const bool counts = column >= s.first_column(row);
    keys[own] = (Key(counts ? row - first : rows) << s.column_bits) + (counts ? Key(column) : 0);
}

/// Whether the items of a block that X does not have begin here.
struct IsFree {
    Search s;
    Batch batch;

    __device__ bool operator()(int at) const {
        const Key key = batch.keys[at];
        const Index row = batch.row(key, s.column_bits);
        if (row == batch.first + batch.rows || (at > 0 && batch.keys[at - 1] == key)) return false;
        const int column = int(key & ((Key(1) << s.column_bits) - 1));
        return find(s.x.column, s.x.begin[row], s.x.begin[row + 1], column) < 0;
    }
};

/// Adds up element e of the items with the key of item `at`; the diagonal of A is scaled, if it is among them.
__device__ double sum_of_items(const Search& s, const Batch& batch, int at, int e) {
    const Key key = batch.keys[at];
    const Index row = batch.row(key, s.column_bits);
    const int dof = s.dof, size = s.size(), r = e / dof, c = e % dof;
    double sum = 0.0;
    for (; at < batch.count && batch.keys[at] == key; ++at) {
        const Item item = batch.items[at];
        if (item.first == of_a) {
            const Index block = s.a.begin[row] + item.second;
            sum = s.a_values[block * size + e] * (r == c && s.a.column[block] == row ? 1.0 + s.alpha : 1.0);
            continue;
        }
        const Index left = s.x.begin[row] + item.first, right = s.x.begin[s.x.column[left]] + item.second;
        const double *w = s.scaled + left * size + r * dof, *u = s.x_values + right * size + c;
        sum = fused_sum(
            dof, sum, [&](int q) { return -w[q]; }, [&](int q) { return u[q * dof]; });
    }
    return sum;
}

__global__ void add_up(Search s, Batch batch, const int* starts, Index numbers, double* values) {
    const Index own = own_index();
    const int size = s.size();
    if (own < numbers) values[own] = sum_of_items(s, batch, starts[own / size], int(own % size));
}

__device__ double square_of(const double* block, int size) {
    double sum = 0.0;
    for (int e = 0; e < size; ++e) sum = __fma_rn(block[e], block[e], sum);
    return sum;
}
/// The squares of norms, as integers, which are ordered like them.
__global__ void find_sizes(const double* values, int size, Index count, Key* sizes, int* number) {
    const Index own = own_index();
    if (own >= count) return;
    sizes[own] = Key(__double_as_longlong(square_of(values + own * size, size)));
    number[own] = int(own);
}

/// [row of the batch]: its first candidate, one value more than there are rows.
__global__ void find_firsts(Search s, Batch batch, const int* starts, Index free, int* firsts) {
    const Index row = own_index();
    if (row <= batch.rows)
        firsts[row] =
            int(first_from([&](Index at) { return Index(batch.keys[starts[at]] >> s.column_bits); }, 0, free, row));
}
/// Writes how many are taken to `taken` [row of the batch], and whether they are fewer than there are.
__global__ void count_taken(Search s, Batch batch, const int* firsts, Index* taken, int* too_many) {
    const Index row = own_index();
    if (row >= batch.rows) return;
    const Index here = firsts[row + 1] - firsts[row], most = s.most_of(batch.first + row);
    taken[row] = min(here, most);
    if (here > most) *too_many = 1;
}

__global__ void find_rows(Search s, Batch batch, const int* starts, const int* number, Index free, unsigned* rows) {
    if (const Index own = own_index(); own < free)
        rows[own] = unsigned(batch.keys[starts[number[own]]] >> s.column_bits);
}
/// Candidates in the order of rows and, within them, of sizes.
__global__ void choose(const unsigned* rows, const int* number, const int* firsts, const Index* taken, Index free,
                       int* chosen) {
    if (const Index own = own_index(); own < free)
        chosen[number[own]] = own - firsts[rows[own]] < taken[rows[own]] ? 1 : 0;
}
__global__ void set_ones(Index count, int* chosen) {
    if (const Index own = own_index(); own < count) chosen[own] = 1;
}

/// `position`: of the candidate among those that are chosen, from 1.
__global__ void write_chosen(Search s, Batch batch, const int* starts, const int* position, const double* values,
                             Index numbers, Index before, int* column, double* to) {
    const Index own = own_index();
    if (own >= numbers) return;
    const Index size = s.size(), one = own / size;
    if (position[one] == (one > 0 ? position[one - 1] : 0)) return;
    const Index place = before + position[one] - 1;
    to[place * size + own % size] = values[own];
    if (own % size == 0) column[place] = int(batch.keys[starts[one]] & ((Key(1) << s.column_bits) - 1));
}

/// [block of X in the rows of the batch]: what it adds to the square of the norm of R.
__global__ void find_held_sizes(Search s, Batch batch, Index begin, Index blocks, double* sizes) {
    const Index own = own_index();
    if (own >= blocks) return;
    const Index at = begin + own, row = s.x.row_of(at), column = s.x.column[at];
    const bool counts = column >= s.first_column(row);
    const Key key = (Key(row - batch.first) << s.column_bits) + Key(column);
    const int start = int(first_from([&](Index item) { return Index(batch.keys[item]); }, 0, batch.count, Index(key)));
    const bool has_items = start < batch.count && batch.keys[start] == key;
    double square = 0.0;
    for (int e = 0; counts && e < s.size(); ++e) {
        const double value = (has_items ? sum_of_items(s, batch, start, e) : 0.0) - s.x_values[at * s.size() + e];
        square = __fma_rn(value, value, square);
    }
    sizes[own] = (s.symmetric && column != row ? 2.0 : 1.0) * square;
}
/// The squares of the norms of rows of R: first what X has, then what it does not.
__global__ void add_sizes(Search s, Batch batch, const double* held, const int* firsts, const double* values,
                          double* norms) {
    const Index row = own_index();
    if (row >= batch.rows) return;
    const Index own = batch.first + row, begin = s.x.begin[batch.first];
    double norm = 0.0;
    for (Index at = s.x.begin[own]; at < s.x.begin[own + 1]; ++at) norm += held[at - begin];
    for (int at = firsts[row]; at < firsts[row + 1]; ++at)
        norm += (s.symmetric ? 2.0 : 1.0) * square_of(values + Index(at) * s.size(), s.size());
    norms[own] = norm;
}

}  // namespace
}  // namespace hyperplane::par_ilut
