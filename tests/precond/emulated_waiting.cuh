// SPDX-License-Identifier: BSD-3-Clause
// What the texts of kernels that factor general matrices need, besides emulated_threads.hpp, to be compiled for the
// host: how thread blocks wait for each other, and arguments in the host's memory.
#pragma once

#include <bit>

#include "core/matrix/bsr_matrix.hpp"
#include "precond/emulated_threads.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/general/factors/arguments.hpp"
#include "precond/general/pattern/fill.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/sync_free_ilu/table_arguments.hpp"

// Thread blocks pass on by PTX what others wait for, and the host leaves the PTX out. The number of its line takes its
// place, so that clang-tidy sees no two branches that do the same.
namespace waiting_text::hyperplane {
using ::hyperplane::EpochRecord, ::hyperplane::TicketState;
inline long long __double_as_longlong(double value) {  // NOLINT(clang-diagnostic-reserved-*): CUDA's name
    return std::bit_cast<long long>(value);
}
inline double __longlong_as_double(long long bits) {  // NOLINT(clang-diagnostic-reserved-*): CUDA's name
    return std::bit_cast<double>(bits);
}
inline unsigned atomicAdd(unsigned* at, unsigned value) {
    return emulated::replaced(*at, [&](unsigned before) { return before + value; });
}
}  // namespace waiting_text::hyperplane
#define asm
#define volatile(...) (void)__LINE__
namespace waiting_text {
#include "precond/general/solves/waiting.cuh"
}
namespace polled_text {
namespace hyperplane {
using ::hyperplane::PivotRatio, ::hyperplane::unfinished;
using waiting_text::hyperplane::__double_as_longlong;  // NOLINT(clang-diagnostic-reserved-*): CUDA's name
using waiting_text::hyperplane::__longlong_as_double;  // NOLINT(clang-diagnostic-reserved-*): CUDA's name
}  // namespace hyperplane
#include "precond/sync_free_ilu/polled.cuh"
}  // namespace polled_text
#undef asm
#undef volatile
namespace search_text {
#include "precond/general/pattern/search.cuh"
}

namespace emulated {
inline void wait_for(const unsigned long long* finished, unsigned long long epoch) {
    while (*finished != epoch) fibers::give_way();
}
inline void publish(unsigned long long* finished, unsigned long long epoch) {
    *finished = epoch;
}
inline double look_at(const double* at) {
    const double found = *at;
    if (!polled_text::hyperplane::is_finished(found)) fibers::give_way();
    return found;
}
inline double await(const double* at) {
    double value = look_at(at);
    while (!polled_text::hyperplane::is_finished(value)) value = look_at(at);
    return value;
}
inline void finish(double* at, double value) {
    *at = value;
}
}  // namespace emulated

namespace hyperplane::testing_support {

/// The factors of A on the pattern `filled`, before a launch, and what a kernel logs.
struct HostFactorisation {
    HostFactorisation(const BsrMatrix& a, const FilledPattern& filled, Index parts)
        : a_(a),
          filled_(filled),
          values(std::size_t(filled.pattern->blocks() * a.dof() * a.dof()), -7.0),
          ratios(static_cast<std::size_t>(parts)),
          finished_(static_cast<std::size_t>(filled.pattern->rows()), 0) {
        for (Index row = 0; row < filled.pattern->rows(); ++row)
            a_diagonal_.push_back(a.pattern()->find(row, int(row)));
    }

    GeneralFactorArguments arguments(const int* order, double shift) {
        const bool same = filled_.place.size() == 0;
        return {.row_begin = as_pointers(filled_.pattern->row_begin()),
                .column = filled_.pattern->column(),
                .diagonal = as_pointers(filled_.diagonal.data()),
                .values = values.data(),
                .others = values.data(),
                .a_row_begin = as_pointers(a_.pattern()->row_begin()),
                .a_values = a_.values(),
                .place = same ? nullptr : filled_.place.data(),
                .a_diagonal = same ? nullptr : as_pointers(a_diagonal_.data()),
                .order = order,
                .finished = finished_.data(),
                .state = &state,
                .ratios = ratios.data(),
                .rule = {1e-14, 0.0, a_.symmetric()},
                .log = &log,
                .shift = shift,
                .rows = filled_.pattern->rows(),
                .parts = unsigned(ratios.size())};
    }

private:
    const BsrMatrix& a_;
    const FilledPattern& filled_;

public:
    std::vector<double> values;
    std::vector<PivotRatio> ratios;
    TicketState state{0, 0, 1};
    PivotLog log = empty_pivot_log();

private:
    std::vector<unsigned long long> finished_;
    std::vector<Index> a_diagonal_;
};

}  // namespace hyperplane::testing_support
