// SPDX-License-Identifier: BSD-3-Clause
// Products y = A x of a general matrix on a CPU, for compare_products.py.
//
//     products FILE BLOCK THREADS
//
// FILE is a Matrix Market or PETSc binary file, BLOCK the number of unknowns a row, x_i = 1 + (i mod 7) / 8. When the
// matrix is there, the program prints its rows, its entries and ||y||. For each number n that it then reads it makes n
// products and prints the seconds of the shortest one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "core/error.hpp"
#include "core/timer.hpp"
#include "core/vector/vector.hpp"
#include "io/matrix_files.hpp"
#include "problems/matrix_blocks.hpp"

namespace {

using namespace hyperplane;

void answer(const char* file, int block, int threads) {
    const Context context = Context::cpu(threads);
    const CsrMatrix rows = read_matrix(file, FileSymmetry::by_file, threads).csr;
    const std::unique_ptr<BsrMatrix> a = in_blocks(context, rows, block, file, "matrix");
    Vector x(context, a->space(), block, "x"), y(context, a->space(), block, "y");
    for (Index i = 0; i < rows.rows; ++i) x.data()[i] = 1.0 + double(i % 7) / 8.0;
    a->apply(x, y);
    double sum = 0.0;
    for (Index i = 0; i < rows.rows; ++i) sum += y.data()[i] * y.data()[i];
    std::printf("%lld %lld %.17g\n", (long long)rows.rows, (long long)rows.value.size(), std::sqrt(sum));
    std::fflush(stdout);
    for (int products = 0; std::scanf("%d", &products) == 1;) {
        double least = std::numeric_limits<double>::infinity();
        for (int at = 0; at < products; ++at) {
            const auto begin = std::chrono::steady_clock::now();
            a->apply(x, y);
            least = std::min(least, seconds_since(begin));
        }
        std::printf("%.9g\n", least);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        std::fprintf(stderr, "usage: products FILE BLOCK THREADS\n");
        return 2;
    }
    try {
        answer(words[1], std::atoi(words[2]), std::atoi(words[3]));
    } catch (const Error& error) {
        std::fprintf(stderr, "products: %s\n", error.what());
        return 1;
    }
    return 0;
}
