// SPDX-License-Identifier: BSD-3-Clause
// Multicolour solves of small grids on a GPU, one unknown a point. There the time of a step is not that of its bytes
// but of its loads one after another: with few warps a multiprocessor waits for each. So a step loads its coefficients,
// which do not depend on the step before, before it waits for that step, and then all its neighbours' values at once.
//
// `together` computes all steps of a solve in one launch: a cluster of thread blocks has a thread for each place, and a
// barrier of the cluster takes the place of a launch. It needs compute capability 9.0. Its argument is copied to shared
// memory first: it is larger than the cache of kernels' arguments, and to wait for each term of each step takes longer
// than all else.
//
// The arithmetic is that of precond/multicolor/solve.cuh, term by term, so the results have the same bits.
//
// Definitions, besides those of solve.cuh, which includes this text: AHEAD (1: as above).
#pragma once

namespace hyperplane {

#if AHEAD

/// Calls act(t, coefficient) for the terms of a step at one place; null where a mirrored coefficient does not exist.
/// `part` is W in a lower and G in an upper step.
template <int part, class Act>
__device__ __forceinline__ void for_coefficients(const Step& s, int place, Act act) {
    constexpr bool mirrored = part == of_g && SYMMETRIC;
#pragma unroll
    for (int t = 0; t < MOST_TERMS; ++t) {
        if (t >= s.terms) continue;
        const int there = place + s.term[t].shift;
        const bool known = !mirrored || unsigned(there) < unsigned(s.stride);
        act(t, known ? coefficient(s, s.term[t].block, 0, 0, mirrored ? there : place) : nullptr);
    }
}

/// Subtracts the terms of a step from `sum`; weight(t) is a term's coefficient. Values are loaded `at_once`.
template <int at_once, class Weight>
__device__ __forceinline__ void subtract_loaded(const Step& s, double& sum, int place, const double* x, Weight weight) {
#pragma unroll
    for (int begin = 0; begin < MOST_TERMS; begin += at_once) {
        double value[at_once];
#pragma unroll
        for (int n = 0; n < at_once; ++n) {
            const int t = begin + n;
            if (t >= MOST_TERMS || t >= s.terms) continue;
            const int there = place + s.term[t].shift;
            value[n] = x[s.term[t].base + (unsigned(there) < unsigned(s.stride) ? there : place)];
        }
#pragma unroll
        for (int n = 0; n < at_once; ++n)
            if (begin + n < MOST_TERMS && begin + n < s.terms) sum -= weight(begin + n) * value[n];
    }
}

/// The coefficients of a step at one place, in registers.
struct Ahead {
    double inverse, weight[MOST_TERMS];

    /// Also the coefficient of D^-1, if `inverts`.
    template <int part>
    __device__ __forceinline__ void load(const Step& s, int place, bool inverts) {
        if (inverts) inverse = widened(__ldcs(coefficient(s, s.inverse, 0, 0, place)));
        for_coefficients<part>(s, place,
                               [&](int t, const Value* from) { weight[t] = from ? widened(__ldcs(from)) : 0.0; });
    }
    template <int part>
    __device__ __forceinline__ void subtract(const Step& s, double (&sum)[ROWS], int /*first*/, int place,
                                             const double* x) const {
        subtract_loaded<13>(s, sum[0], place, x, [&](int t) { return weight[t]; });
    }
    /// sum = D^-1 v - G z
    __device__ __forceinline__ void upper_sum(const Step& s, double (&sum)[ROWS], int first, int place) const {
        sum[0] += inverse * s.v[s.colour * s.stride + place];
        subtract<of_g>(s, sum, first, place, s.w);
    }
};

#else

/// Coefficients are loaded when they are needed.
struct Ahead {
    template <int part>
    __device__ __forceinline__ void load(const Step&, int, bool) {}
    template <int part>
    __device__ __forceinline__ void subtract(const Step& s, double (&sum)[ROWS], int first, int place,
                                             const double* x) const {
        subtract_terms<part>(s, sum, first, place, x);
    }
    __device__ __forceinline__ void upper_sum(const Step& s, double (&sum)[ROWS], int first, int place) const {
        hyperplane::upper_sum(s, sum, first, place);
    }
};

#endif

#if AHEAD && __CUDA_ARCH__ >= 900

/// A thread's coefficients of one step in shared memory, which copies reach without a register.
class Fetched {
public:
    __device__ explicit Fetched(Value* of_thread) : of_thread_(of_thread) {}
    template <int part>
    __device__ __forceinline__ void fetch(const Step& s, int place) {
        copy(MOST_TERMS, coefficient(s, s.inverse, 0, 0, place), sizeof(Value));
        for_coefficients<part>(
            s, place, [&](int t, const Value* from) { copy(t, from ? from : s.factors, from ? sizeof(Value) : 0); });
    }
    /// Waits for all coefficients.
    __device__ __forceinline__ void wait() const { asm volatile("cp.async.wait_all;" ::: "memory"); }
    __device__ __forceinline__ double weight(int t) const { return widened(of_thread_[t * together_threads]); }
    __device__ __forceinline__ double inverse() const { return weight(MOST_TERMS); }

private:
    /// Fills up with zeros what is not copied.
    __device__ __forceinline__ void copy(int t, const Value* from, int bytes) {
        const unsigned to = unsigned(__cvta_generic_to_shared(of_thread_ + t * together_threads));
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(__cvta_generic_to_global(from)),
                     "n"(int(sizeof(Value))), "r"(bytes)
                     : "memory");
    }
    Value* of_thread_;  // consecutive coefficients are together_threads apart
};

__device__ __forceinline__ void arrive_in_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void wait_for_cluster() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

using AllSteps = AllColours<const Value, MOST_TERMS>;

/// Copies a kernel's argument to shared memory, past the cache of arguments.
__device__ __forceinline__ void copy_argument(const AllSteps& argument, AllSteps& to) {
    static_assert(sizeof(AllSteps) % sizeof(long long) == 0);
    for (int at = threadIdx.x; at < int(sizeof(AllSteps) / sizeof(long long)); at += together_threads) {
        long long value;
        asm volatile("ld.s64 %0, [%1];" : "=l"(value) : "l"(reinterpret_cast<const long long*>(&argument) + at));
        reinterpret_cast<long long*>(&to)[at] = value;
    }
    __syncthreads();
}

/// All steps of a solve. The first one is `enter`, then come those of the lower and of the upper solve.
extern "C" __global__ void __cluster_dims__(together_blocks) __launch_bounds__(together_threads, 1)
    together(const __grid_constant__ AllSteps argument) {
    __shared__ AllSteps all;
    copy_argument(argument, all);
    const int place = blockIdx.x * together_threads + threadIdx.x;
    const bool has_place = place < all.step[0].stride;
    const auto leave_point = [&](const Step& s, double value) {
        const Point p(s, COLOURS * place + s.colour);
        if (p.inside(s)) s.z[p.slot(s)] = value;
    };
    extern __shared__ Value fetched_by_threads[];
    Fetched fetched(fetched_by_threads + threadIdx.x);
    const auto fetch = [&](int n) {
        if (!has_place || n >= all.steps) return;
        if (n < COLOURS - 1)
            fetched.fetch<of_w>(all.step[n], place);
        else
            fetched.fetch<of_g>(all.step[n], place);
    };
    const auto weight = [&](int t) { return fetched.weight(t); };
    if (has_place) enter_place(all.step[0], place, 0, nullptr);
    arrive_in_cluster();
    fetch(1);
#pragma unroll 1
    for (int n = 1; n < all.steps; ++n) {
        const Step& s = all.step[n];
        const bool is_lower = n < COLOURS - 1;
        const int slot = s.colour * s.stride + place;
        double sum = 0.0;
        fetched.wait();
        wait_for_cluster();
        if (has_place) {
            if (is_lower)
                sum = s.v[slot];
            else
                sum += fetched.inverse() * s.v[slot];
            subtract_loaded<MOST_TERMS>(s, sum, place, is_lower ? s.v : s.w, weight);
            if (is_lower && s.colour == COLOURS - 1) {
                double z = 0.0;
                z += fetched.inverse() * sum;
                sum = z;
            }
            (is_lower && s.colour < COLOURS - 1 ? s.v : s.w)[slot] = sum;
        }
        arrive_in_cluster();
        fetch(n + 1);
        if (has_place && n >= COLOURS - 2) leave_point(s, sum);
    }
    wait_for_cluster();
}

#endif

}  // namespace hyperplane
