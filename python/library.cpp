// SPDX-License-Identifier: BSD-3-Clause
// The Python module hyperplane._library: hyperplane/linear_solver.hpp for python/hyperplane/linear.py, which checks and
// converts what users give. Arrays have the types named here and are read where they are; others are refused.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "hyperplane/linear_solver.hpp"

namespace hyperplane {
namespace {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;

template <class T>
std::span<const T> span_of(const Array<T>& array) {
    return {array.data(), std::size_t(array.size())};
}

std::span<double> writable_span_of(Array<double>& array) {
    return {array.mutable_data(), std::size_t(array.size())};  // throws where Python may not write
}

/// Whether a signal such as Ctrl-C has arrived and Python has set an exception for it. It is called by a thread without
/// the GIL, and takes the GIL at most every 50 ms, because it may have to wait for other threads of Python.
class Signals {
public:
    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(50)) return false;
        last_ = now;
        const py::gil_scoped_acquire gil;
        return PyErr_CheckSignals() != 0;
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// A LinearSolver of a SparseMatrix, which several threads of Python may use one after the other.
class Solver {
public:
    template <class Pointer>
    Solver(const Array<Pointer>& row_begin, const Array<std::int32_t>& columns, Array<double> values, int block,
           SolverSettings settings)
        : values_(std::move(values)) {
        settings.interrupted = Signals();
        const SparseMatrix a = matrix(row_begin, columns, values_, block);
        const py::gil_scoped_release released;
        solver_ = std::make_unique<LinearSolver>(a, settings);
    }

    template <class Pointer>
    void update(const Array<Pointer>& row_begin, const Array<std::int32_t>& columns, Array<double> values, int block) {
        const SparseMatrix a = matrix(row_begin, columns, values, block);
        alone([&] { solver_->update(a); });
        values_ = std::move(values);
    }

    SolveResult solve(const Array<double>& b, Array<double>& x) {
        SolveResult result;
        const auto from = span_of(b);
        const auto to = writable_span_of(x);
        alone([&] { result = solver_->solve(from, to); });
        if (PyErr_Occurred()) throw py::error_already_set();
        return result;
    }

    void precondition(const Array<double>& r, Array<double>& z) {
        const auto from = span_of(r);
        const auto to = writable_span_of(z);
        alone([&] { solver_->precondition(from, to); });
    }

    const LinearSolver& solver() const { return *solver_; }

private:
    template <class Pointer>
    static SparseMatrix matrix(const Array<Pointer>& row_begin, const Array<std::int32_t>& columns,
                               const Array<double>& values, int block) {
        return {span_of(row_begin), span_of(columns), span_of(values), block};
    }

    /// Releases the GIL, waits until no other thread uses the solver, and calls `work`.
    template <class Work>
    void alone(const Work& work) {
        const py::gil_scoped_release released;
        const std::scoped_lock lock(mutex_);
        work();
    }

    std::mutex mutex_;
    Array<double> values_;  ///< the values that the solver reads
    std::unique_ptr<LinearSolver> solver_;
};

template <class Pointer>
void define_with(py::class_<Solver>& solver) {
    const auto uncopied = [](const char* name) { return py::arg(name).noconvert(); };
    solver
        .def(py::init([](const Array<Pointer>& row_begin, const Array<std::int32_t>& columns, Array<double> values,
                         int block, std::map<std::string, std::string> keys, int threads, std::optional<int> gpu) {
                 return std::make_unique<Solver>(
                     row_begin, columns, std::move(values), block,
                     SolverSettings{.keys = std::move(keys), .threads = threads, .gpu = gpu});
             }),
             uncopied("row_begin"), uncopied("columns"), uncopied("values"), py::arg("block"), py::arg("keys"),
             py::arg("threads"), py::arg("gpu"))
        .def("update", &Solver::update<Pointer>, uncopied("row_begin"), uncopied("columns"), uncopied("values"),
             py::arg("block"));
}

/// Raises hyperplane.SolveError for an Error.
// NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 wants it by value
void raise_as_solve_error(std::exception_ptr thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
        const py::object type = py::module_::import("hyperplane.linear").attr("SolveError");
        PyErr_SetObject(type.ptr(), type(int(error.code()), error.what()).ptr());
    }
}

}  // namespace

PYBIND11_MODULE(_library, module) {
    py::register_exception_translator(raise_as_solve_error);
    module.attr("version") = version();
    py::class_<SolveResult>(module, "SolveResult")
        .def_readonly("converged", &SolveResult::converged)
        .def_readonly("reason", &SolveResult::reason)
        .def_readonly("explanation", &SolveResult::explanation)
        .def_readonly("iterations", &SolveResult::iterations)
        .def_readonly("right_hand_side", &SolveResult::right_hand_side)
        .def_readonly("residual", &SolveResult::residual)
        .def_readonly("seconds", &SolveResult::seconds)
        .def_readonly("history", &SolveResult::history);
    py::class_<Solver> solver(module, "Solver");
    define_with<std::int32_t>(solver);
    define_with<std::int64_t>(solver);
    solver.def("solve", &Solver::solve, py::arg("b").noconvert(), py::arg("x").noconvert())
        .def("precondition", &Solver::precondition, py::arg("r").noconvert(), py::arg("z").noconvert())
        .def_property_readonly("setup_seconds", [](const Solver& self) { return self.solver().setup_seconds(); })
        .def_property_readonly("peak_memory", [](const Solver& self) { return self.solver().peak_memory(); });
}

}  // namespace hyperplane
