// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {

SharedLibrary::SharedLibrary(const std::string& file, const std::string& purpose) : file_(file) {
    library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_) return;
    const std::string why = dlerror();  // of the first attempt: the second one's folder may not exist
    library_ = dlopen((HYPERPLANE_CUDA_LIBRARIES "/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_)
        throw DeviceError(
            fmt::format("{} needs {}, which cannot be loaded: {}; set LD_LIBRARY_PATH to the folder of "
                        "CUDA's libraries, or device.backend = cpu",
                        purpose, file, why));
}

void* SharedLibrary::address(const char* name) const {
    void* const found = dlsym(library_, name);
    if (!found) throw DeviceError(fmt::format("{} has no function {}", file_, name));
    return found;
}

}  // namespace hyperplane
