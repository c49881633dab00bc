// SPDX-License-Identifier: BSD-3-Clause
// The capture of a stream's work into a CUDA graph.
#pragma once

#include "core/device/cuda.hpp"

namespace hyperplane::cuda {

/// The destructor ends the capture if an exception has left it open.
class Capture {
public:
    explicit Capture(cudaStream_t stream) : stream_(stream) {
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    }
    ~Capture() {
        if (open_) end();
        if (graph_) cudaGraphDestroy(graph_);
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    cudaGraphExec_t instantiate() {
        check(end(), "cudaStreamEndCapture");
        cudaGraphExec_t graph = nullptr;
        check(cudaGraphInstantiate(&graph, graph_, 0), "cudaGraphInstantiate");
        return graph;
    }

private:
    cudaError_t end() {
        open_ = false;
        return cudaStreamEndCapture(stream_, &graph_);
    }

    cudaStream_t stream_;
    cudaGraph_t graph_ = nullptr;
    bool open_ = true;
};

}  // namespace hyperplane::cuda
