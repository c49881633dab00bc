// SPDX-License-Identifier: BSD-3-Clause
// NVRTC's functions, from the library of the toolkit's major version, which is loaded when a kernel is first compiled.
#pragma once

#include <cuda_runtime_api.h>
#include <nvrtc.h>

#include <string>

#include "core/device/shared_library.hpp"

namespace hyperplane {

struct Nvrtc {
    SharedLibrary library{"libnvrtc.so." + std::to_string(CUDART_VERSION / 1000), "compiling kernels for a GPU"};
    decltype(&nvrtcGetErrorString) error_string = library.find<decltype(nvrtcGetErrorString)>("nvrtcGetErrorString");
    decltype(&nvrtcVersion) version = library.find<decltype(nvrtcVersion)>("nvrtcVersion");
    decltype(&nvrtcGetNumSupportedArchs) count_of_supported =
        library.find<decltype(nvrtcGetNumSupportedArchs)>("nvrtcGetNumSupportedArchs");
    decltype(&nvrtcGetSupportedArchs) supported =
        library.find<decltype(nvrtcGetSupportedArchs)>("nvrtcGetSupportedArchs");
    decltype(&nvrtcCreateProgram) create = library.find<decltype(nvrtcCreateProgram)>("nvrtcCreateProgram");
    decltype(&nvrtcDestroyProgram) destroy = library.find<decltype(nvrtcDestroyProgram)>("nvrtcDestroyProgram");
    decltype(&nvrtcCompileProgram) compile = library.find<decltype(nvrtcCompileProgram)>("nvrtcCompileProgram");
    decltype(&nvrtcGetProgramLogSize) log_size =
        library.find<decltype(nvrtcGetProgramLogSize)>("nvrtcGetProgramLogSize");
    decltype(&nvrtcGetProgramLog) log = library.find<decltype(nvrtcGetProgramLog)>("nvrtcGetProgramLog");
    decltype(&nvrtcGetCUBINSize) cubin_size = library.find<decltype(nvrtcGetCUBINSize)>("nvrtcGetCUBINSize");
    decltype(&nvrtcGetCUBIN) cubin = library.find<decltype(nvrtcGetCUBIN)>("nvrtcGetCUBIN");

    /// Throws DeviceError if the library cannot be loaded.
    static const Nvrtc& get() {
        static const Nvrtc loaded;
        return loaded;
    }
};

}  // namespace hyperplane
