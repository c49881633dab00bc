// SPDX-License-Identifier: BSD-3-Clause
// The functions of core/device/device.hpp in a program built without CUDA, where no device is available.
#include "core/device/device.hpp"
#include "core/device/marks.hpp"
#include "core/device/place.hpp"
#include "core/error.hpp"

namespace hyperplane::device {

std::string unavailable() {
    return "this program was built without the CUDA backend";
}
std::vector<Properties> all() {
    return {};
}
Properties properties_of(int) {
    throw DeviceError("no GPU can be used: " + unavailable());
}
Index free_memory(int) {
    return 0;
}
std::unique_ptr<Stream> make_stream(int ordinal, Readers) {
    properties_of(ordinal);
    return nullptr;
}
double Stream::seconds_of(const std::function<void()>&) const {
    return 0.0;
}
Recording::Recording(const Stream& stream, const std::function<void()>&) : stream_(stream) {}
Recording::~Recording() = default;
void Recording::queue() const {}

struct Marks::Events {};
Marks::Marks(const Stream& stream) : stream_(stream) {}
Marks::~Marks() = default;
void Marks::reserve(int) {}
void Marks::set(int) {}
double Marks::seconds(int, int) const {
    return 0.0;
}
double Marks::seconds_after(const Marks&, int, int) const {
    return 0.0;
}
void open_range(const char*) {}
void close_range() {}

std::optional<int> place_of(const void*) {
    return std::nullopt;
}
void wait_for_all_work(int) {}

}  // namespace hyperplane::device
