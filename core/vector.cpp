#include "core/vector.hpp"

#include <cstring>

namespace hyperplane {

void transfer(const Vector& from, Vector& to) {
    const Index bytes = from.size() * Index(sizeof(double));
    if (from.backend() == Backend::cuda || to.backend() == Backend::cuda)
        device::copy(from.data(), to.data(), bytes);
    else
        std::memcpy(to.data(), from.data(), std::size_t(bytes));
}

const Vector& on_host(const Vector& x, Vector& copy) {
    if (x.backend() == Backend::cpu) return x;
    copy = Vector(Context::cpu(), x.layout(), x.dof(), "host copy");
    transfer(x, copy);
    return copy;
}

}  // namespace hyperplane
