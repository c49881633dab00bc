// SPDX-License-Identifier: BSD-3-Clause
// The kernels that NVRTC compiles for a case on a GPU, compiled before anything is timed.
#pragma once

#include <future>
#include <utility>
#include <vector>

#include "apps/run/case.hpp"
#include "core/device/rtc.hpp"

namespace hyperplane {

/// What NVRTC compiles for a case on a GPU, whether there is one or not: the products of its matrix in each of these
/// layouts, and the kernels of its preconditioner. Empty if the program was built without CUDA.
rtc::Programs programs_of(const Case& a_case, const std::vector<LayoutKind>& layouts);

/// The programs that NVRTC compiles for the preconditioner that a deck names, of a matrix that the deck may scale. The
/// list is empty if the program was built without CUDA.
rtc::Programs preconditioner_programs(const Parameters& parameters, const PreconditionerSetting& setting);

/// Compiles what was not kept from earlier, and loads all of it onto the context's GPU.
void prepare_now(const Context& context, const rtc::Programs& programs);

/// Compiles the kernels of cases in other threads while this one goes on, and loads them onto the GPU. Does nothing for
/// cases on a CPU.
class KernelPreparation {
public:
    /// The cases share one device. They are not used after the constructor has returned.
    explicit KernelPreparation(const std::vector<const Case*>& cases);

    /// Waits for the compiler; throws what it threw. `compiled` is 0 where everything was kept from earlier.
    rtc::Compilation wait();
    /// Seconds that it took to load them; known after wait().
    double loading() const { return loading_; }

private:
    std::future<std::pair<rtc::Compilation, double>> running_;
    double loading_ = 0.0;
};

/// Seconds in which this process has compiled kernels so far; 0 on a CPU, and where all of them were kept from earlier.
double compile_seconds();

/// Warns if kernels were compiled after the preparation, so that times contain the compiler's.
void warn_of_unprepared_kernels();

}  // namespace hyperplane
