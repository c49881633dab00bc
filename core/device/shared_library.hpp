// SPDX-License-Identifier: BSD-3-Clause
// SharedLibrary: a library that is loaded when it is first needed, so that the program starts, and runs on a CPU, where
// it is missing or where its size does not fit in the address space.
#pragma once

#include <string>

namespace hyperplane {

class SharedLibrary {
public:
    /// Loads `file`, such as "libnvrtc.so.13": where the system finds it, else from the toolkit that the program was
    /// built with. It stays loaded. Throws DeviceError that names `purpose` if it cannot be loaded.
    SharedLibrary(const std::string& file, const std::string& purpose);

    /// The function of this name. Throws DeviceError if there is none.
    template <class Function>
    Function* find(const char* name) const {
        return reinterpret_cast<Function*>(address(name));
    }

private:
    void* address(const char* name) const;

    std::string file_;
    void* library_;
};

}  // namespace hyperplane
