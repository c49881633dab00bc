// SPDX-License-Identifier: BSD-3-Clause
// The functions of core/device/device.hpp in a program built without CUDA, where no device is available.
#include "core/device/device.hpp"
#include "core/error.hpp"

namespace hyperplane::device {

std::string unavailable() {
    return "this program was built without the CUDA backend";
}
std::vector<Properties> all() {
    return {};
}
void require(int) {
    throw DeviceError("no GPU can be used: " + unavailable());
}
bool chosen() {
    return false;
}
const Properties& properties() {
    throw Error(ExitCode::internal, "the properties of a GPU were asked for before one was chosen");
}
Index free_memory() {
    return 0;
}
void* allocate(Index) {
    return nullptr;
}
void release(void*) {}
void zero(void*, Index) {}
void copy(const void*, void*, Index) {}
void synchronize() {}
Recording::Recording(const std::function<void()>&) {
    require();
}
Recording::~Recording() = default;
void Recording::queue() const {}
double seconds_of(const std::function<void()>&) {
    return 0.0;
}

}  // namespace hyperplane::device
