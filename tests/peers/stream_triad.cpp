// SPDX-License-Identifier: BSD-3-Clause
// The speed of the memory, a_i = b_i + s c_i (McCalpin's STREAM triad), for docs/performance.md.
//
//   OMP_NUM_THREADS=2 stream_triad [millions of elements, 64] [repeats, 15]
//
// Counts 24 bytes an element as STREAM does; a cache that reads the line it writes moves 32.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

int main(int argc, char** argv) {
    const long n = (argc > 1 ? std::atol(argv[1]) : 64) * 1000000L;
    const int repeats = argc > 2 ? std::atoi(argv[2]) : 15;
    if (n <= 0 || repeats <= 0) {
        std::fprintf(stderr, "usage: stream_triad [millions of elements] [repeats]\n");
        return 2;
    }
    // Not std::vector: the threads that use a page must be the first to touch it.
    const std::unique_ptr<double[]> a(new double[n]), b(new double[n]), c(new double[n]);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) a[i] = 0.0, b[i] = 2.0, c[i] = 1.0;

    std::vector<double> seconds;
    for (int r = 0; r < repeats; ++r) {
        const double begin = omp_get_wtime();
#pragma omp parallel for simd schedule(static)
        for (long i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
        seconds.push_back(omp_get_wtime() - begin);
    }
    if (a[0] != 5.0 || a[n - 1] != 5.0) return 1;
    std::sort(seconds.begin(), seconds.end());
    const double bytes = 24.0 * double(n);
    std::printf("triad, %d thread(s), 3 x %.0f MB: %.1f GB/s best, %.1f GB/s median\n", omp_get_max_threads(),
                8e-6 * double(n), bytes / seconds.front() * 1e-9, bytes / seconds[seconds.size() / 2] * 1e-9);
    return 0;
}
