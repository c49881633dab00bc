// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/side_work.hpp"

#include "core/device/capture_cuda.hpp"

namespace hyperplane::device {

struct SideWork::Handles {
    cudaStream_t of_work = nullptr;  ///< the stream's; Stream::handle() may throw, and join() may not
    cudaStream_t beside = nullptr;
    cudaEvent_t before = nullptr, after = nullptr;
    cudaGraphExec_t first = nullptr, step = nullptr;
    bool joined = true;

    ~Handles() {  // unchecked: it may be part of unwinding after another error
        if (beside) cudaStreamSynchronize(beside);
        if (first) cudaGraphExecDestroy(first);
        if (step) cudaGraphExecDestroy(step);
        if (before) cudaEventDestroy(before);
        if (after) cudaEventDestroy(after);
        if (beside) cudaStreamDestroy(beside);
    }
};

namespace {

cudaStream_t own(const Stream& stream) {
    return static_cast<cudaStream_t>(stream.handle());
}

cudaGraphExec_t recorded(const Stream& stream, const std::function<void()>& call) {
    cuda::Capture capture(own(stream));
    call();
    return capture.instantiate();
}

}  // namespace

SideWork::SideWork(const Stream& stream, const std::function<void()>& first, const std::function<void()>& step)
    : stream_(stream), handles_(std::make_unique<Handles>()) {
    handles_->of_work = own(stream);
    handles_->first = recorded(stream, first);
    handles_->step = recorded(stream, step);
    cuda::check(cudaStreamCreateWithFlags(&handles_->beside, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    for (cudaEvent_t* event : {&handles_->before, &handles_->after})
        cuda::check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
}

SideWork::~SideWork() = default;

void SideWork::queue(int steps) {
    cuda::check(cudaEventRecord(handles_->before, own(stream_)), "cudaEventRecord");
    cuda::check(cudaStreamWaitEvent(handles_->beside, handles_->before, 0), "cudaStreamWaitEvent");
    handles_->joined = false;
    cuda::check(cudaGraphLaunch(handles_->first, handles_->beside), "cudaGraphLaunch");
    for (int step = 0; step < steps; ++step)
        cuda::check(cudaGraphLaunch(handles_->step, handles_->beside), "cudaGraphLaunch");
    cuda::check(cudaEventRecord(handles_->after, handles_->beside), "cudaEventRecord");
}

void SideWork::join() noexcept {
    if (handles_->joined) return;
    cudaStreamWaitEvent(handles_->of_work, handles_->after, 0);
    handles_->joined = true;
}

}  // namespace hyperplane::device
