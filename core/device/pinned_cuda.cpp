// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/pinned_cuda.hpp"

#include <mutex>
#include <vector>

#include "core/device/cuda.hpp"

namespace hyperplane::cuda {
namespace {

constexpr Index page = 512;  // values

/// The pages of the process that nobody has now.
struct Kept {
    std::mutex lock;
    std::vector<double*> pages;

    double* take() {
        const std::lock_guard guard(lock);
        if (pages.empty()) return nullptr;
        double* const last = pages.back();
        pages.pop_back();
        return last;
    }
    void give(double* one) {
        const std::lock_guard guard(lock);
        pages.push_back(one);
    }
};

/// It is never destroyed: the driver may be gone before it would be.
Kept& kept() {
    static Kept* const all = new Kept;
    return *all;
}

}  // namespace

Pinned::Pinned(Index count) : count_(count) {
    if (count <= page) data_ = kept().take();
    if (data_) return;
    void* made = nullptr;
    const Index values = count <= page ? page : count;
    check(cudaHostAlloc(&made, std::size_t(values) * sizeof(double), cudaHostAllocPortable), "cudaHostAlloc");
    data_ = static_cast<double*>(made);
}

Pinned::~Pinned() {
    if (!data_) return;
    if (count_ <= page)
        kept().give(data_);
    else
        cudaFreeHost(data_);  // unchecked: it may be part of unwinding after another error
}

}  // namespace hyperplane::cuda
