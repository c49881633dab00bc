// SPDX-License-Identifier: BSD-3-Clause
#include <nvtx3/nvToolsExt.h>

#include <vector>

#include "core/device/cuda.hpp"
#include "core/device/marks.hpp"

namespace hyperplane::device {
namespace {

double seconds_between(cudaEvent_t from, cudaEvent_t to) {
    float milliseconds = 0.0f;
    cuda::check(cudaEventSynchronize(to), "cudaEventSynchronize");
    cuda::check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
    return 1e-3 * double(milliseconds);
}

}  // namespace

struct Marks::Events {
    std::vector<cudaEvent_t> list;
};

Marks::Marks(const Stream& stream) : stream_(stream), events_(std::make_unique<Events>()) {}

Marks::~Marks() {
    for (cudaEvent_t event : events_->list) cudaEventDestroy(event);
}

void Marks::reserve(int count) {
    stream_.handle();
    while (int(events_->list.size()) < count) {
        cudaEvent_t made = nullptr;
        cuda::check(cudaEventCreate(&made), "cudaEventCreate");
        events_->list.push_back(made);
    }
}

void Marks::set(int number) {
    const auto stream = static_cast<cudaStream_t>(stream_.handle());
    reserve(number + 1);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cuda::check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
    const unsigned flags = status == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
    cuda::check(cudaEventRecordWithFlags(events_->list[number], stream, flags), "cudaEventRecordWithFlags");
}

double Marks::seconds(int from, int to) const {
    return seconds_between(events_->list.at(from), events_->list.at(to));
}

double Marks::seconds_after(const Marks& others, int from, int to) const {
    return seconds_between(others.events_->list.at(from), events_->list.at(to));
}

void open_range(const char* name) {
    nvtxRangePushA(name);
}

void close_range() {
    nvtxRangePop();
}

}  // namespace hyperplane::device
