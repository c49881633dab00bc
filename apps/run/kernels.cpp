// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/kernels.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "apps/base/log.hpp"
#include "core/counted.hpp"
#include "core/device/loading.hpp"
#include "core/matrix/bsr_product_cuda.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "core/timer.hpp"
#include "precond/scaling/scaled.hpp"
#include "solvers/eisenstat_cg.hpp"

namespace hyperplane {
namespace {

/// The kernels of products and residuals; those of a matrix on a grid in the layouts.
[[maybe_unused]] rtc::Programs products_of(const MatrixShape& shape, const IndexSpace& space,
                                           const std::vector<LayoutKind>& layouts) {
    rtc::Programs programs;
    if constexpr (cuda_built) {
        if (shape.kind() == MatrixKind::general)
            return BsrProductCuda::programs(BsrProductCuda::row_threads(*shape.pattern(), shape.dof()), shape.dof());
        const MatrixStorage storage = shape.symmetric() ? MatrixStorage::lower : MatrixStorage::full;
        const Layout& own = space.layout();
        for (const LayoutKind kind : layouts)
            for (rtc::Program& program : StructMatrixCuda::programs(Layout(kind, own.grid(), own.levels()),
                                                                    shape.stencil(), shape.dof(), storage))
                programs.push_back(std::move(program));
    }
    return programs;
}

/// The layout of the vectors; none without a grid.
[[maybe_unused]] std::vector<LayoutKind> layouts_of(const IndexSpace& space) {
    if (!space.has_grid()) return {};
    return {space.layout().kind()};
}

}  // namespace

rtc::Programs preconditioner_programs([[maybe_unused]] const Parameters& parameters,
                                      [[maybe_unused]] const PreconditionerSetting& setting) {
    rtc::Programs programs;
    if constexpr (cuda_built) {
        const PreconditionerRow& row = find_preconditioner(parameters.text("preconditioner", "name"));
        const PreconditionerSetting inner = scaled_setting(parameters, setting);
        if (row.kernels)
            for (const KernelSet& set : row.kernels(parameters, inner))
                std::ranges::move(set.programs(), std::back_inserter(programs));
        // Scaling multiplies with diagonal blocks.
        if (scales(parameters))
            std::ranges::move(BsrProductCuda::programs(1.0, setting.matrix.dof()), std::back_inserter(programs));
    }
    return programs;
}

void prepare_now([[maybe_unused]] const Context& context, [[maybe_unused]] const rtc::Programs& programs) {
    if constexpr (cuda_built) {
        const device::Properties gpu = context.stream().properties();
        rtc::prepare(programs, rtc::architecture_of(gpu), context.threads());
        rtc::load(programs, gpu);
    }
}

rtc::Programs programs_of([[maybe_unused]] const Case& a_case,
                          [[maybe_unused]] const std::vector<LayoutKind>& layouts) {
    rtc::Programs programs;
    if constexpr (cuda_built) {
        const auto add = [&](rtc::Programs more) {
            for (rtc::Program& program : more) programs.push_back(std::move(program));
        };
        const MatrixShape shape = a_case.shape().matrix();
        add(products_of(shape, a_case.space, layouts));
        PreconditionerSetting setting{a_case.context, shape, asks_for_eisenstat(a_case.parameters)};
        if (layouts.size() == 1) setting.chosen_layout = layouts.front();
        add(preconditioner_programs(a_case.parameters, setting));
    }
    return programs;
}

KernelPreparation::KernelPreparation([[maybe_unused]] const std::vector<const Case*>& cases) {
    if constexpr (cuda_built) {
        rtc::Programs programs;
        device::Properties gpu;
        for (const Case* one : cases)
            if (one->context.backend() == Backend::cuda) {
                gpu = one->context.stream().properties();
                for (rtc::Program& program : programs_of(*one, layouts_of(one->space)))
                    programs.push_back(std::move(program));
            }
        if (programs.empty()) return;
        const int threads = cases.front()->context.threads();
        running_ = std::async(std::launch::async, [programs = std::move(programs), gpu, threads] {
            const rtc::Compilation done = rtc::prepare(programs, rtc::architecture_of(gpu), threads);
            const auto begin = std::chrono::steady_clock::now();
            rtc::load(programs, gpu);
            return std::pair(done, seconds_since(begin));
        });
    }
}

rtc::Compilation KernelPreparation::wait() {
    if (!running_.valid()) return {};
    const auto [done, seconds] = running_.get();
    loading_ = seconds;
    return done;
}

double compile_seconds() {
    if constexpr (cuda_built) return rtc::compiler_seconds();
    return 0.0;
}

void warn_of_unprepared_kernels() {
    if constexpr (cuda_built)
        if (const rtc::Compilation late = rtc::unprepared(); late.compiled > 0)
            logging::warn("{} compiled after the clocks had started: {:.2g} s of the times are the compiler's",
                          late.compiled == 1 ? "a kernel was" : counted(late.compiled, "kernel") + " were",
                          late.seconds);
}

}  // namespace hyperplane
