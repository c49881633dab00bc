// SPDX-License-Identifier: BSD-3-Clause
// A reference to something that can be called. A loop whose body is such a reference is compiled once, and the body
// once, however often the loop's text calls it; a template would be compiled with each body, and the body inlined at
// each call.
#pragma once

#include <utility>

namespace hyperplane {

template <class Signature>
class FunctionRef;

/// Refers to a body that must live as long as this.
template <class... Arguments>
class FunctionRef<void(Arguments...)> {
public:
    template <class Body>
    FunctionRef(const Body& body)
        : body_(&body), call_([](const void* what, Arguments... arguments) {
              (*static_cast<const Body*>(what))(std::forward<Arguments>(arguments)...);
          }) {}

    void operator()(Arguments... arguments) const { call_(body_, std::forward<Arguments>(arguments)...); }

private:
    const void* body_;
    void (*call_)(const void*, Arguments...);
};

}  // namespace hyperplane
