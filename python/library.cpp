// SPDX-License-Identifier: BSD-3-Clause
// The Python module hyperplane._library: hyperplane/linear_solver.hpp for python/hyperplane/linear.py. What users
// give is checked and converted in python/hyperplane/arrays.py. Arrays have the types named here and are read where
// they are; others are refused. Arrays in a GPU's memory are given by address and length (python/hyperplane/on_gpu.py).
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
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

/// An array in a GPU's memory: its address and the number of its elements.
using Place = std::pair<std::uintptr_t, std::size_t>;

template <class T>
std::span<T> span_at(const Place& place) {
    return {reinterpret_cast<T*>(place.first), place.second};  // NOLINT(performance-no-int-to-ptr): Python's address
}

/// Never returns once Python has begun to end. A thread that then takes the GIL is unwound by force, through functions
/// that cannot throw, and the process would abort; a daemon thread may stay where it is until the process has gone.
void stay_if_python_ends() {
#if PY_VERSION_HEX >= 0x030d0000
    while (Py_IsFinalizing()) pause();
#else
    while (_Py_IsFinalizing()) pause();
#endif
}

/// Calls `work` without the GIL. The threads of a parent's OpenMP do not exist in a process that was forked, and
/// libgomp would wait for them for ever; another thread than the one that was forked gets threads of its own.
template <class Work>
void without_gil(const Work& work) {
    static const pid_t loaded_in = getpid();
    const py::gil_scoped_release released;
    std::exception_ptr thrown;
    if (getpid() == loaded_in) {
        work();
    } else {
        std::thread([&] {
            try {
                work();
            } catch (...) {
                thrown = std::current_exception();
            }
        }).join();
    }
    stay_if_python_ends();
    if (thrown) std::rethrow_exception(thrown);
}

/// Whether a signal such as Ctrl-C has arrived and Python has set an exception for it. It is made with the GIL and
/// called by a thread without it. Python's main thread, which alone handles signals, takes the GIL at most every 50 ms,
/// because it may have to wait for other threads of Python. Others do not take it: Python could begin to end while they
/// wait.
class Signals {
public:
    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(50)) return false;
        last_ = now;
        stay_if_python_ends();
        if (PyThread_get_thread_ident() != main_thread_) return false;
        const py::gil_scoped_acquire gil;
        return PyErr_CheckSignals() != 0;
    }

private:
    unsigned long main_thread_ =
        py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
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
        without_gil([&] { solver_ = std::make_unique<LinearSolver>(a, settings); });
    }

    template <class Pointer>
    void update(const Array<Pointer>& row_begin, const Array<std::int32_t>& columns, Array<double> values, int block) {
        const SparseMatrix a = matrix(row_begin, columns, values, block);
        alone([&] { solver_->update(a); });
        values_ = std::move(values);
    }

    SolveResult solve(const Array<double>& b, Array<double>& x) { return solve(span_of(b), writable_span_of(x)); }
    void precondition(const Array<double>& r, Array<double>& z) { precondition(span_of(r), writable_span_of(z)); }

    // The same with arrays in a GPU's memory, which the caller keeps.

    Solver(const SparseMatrix& a, SolverSettings settings) {
        settings.interrupted = Signals();
        without_gil([&] { solver_ = std::make_unique<LinearSolver>(a, settings); });
    }
    void update_there(const SparseMatrix& a) {
        alone([&] { solver_->update(a); });
    }
    SolveResult solve_there(const Place& b, const Place& x) {
        return solve(span_at<const double>(b), span_at<double>(x));
    }
    void precondition_there(const Place& r, const Place& z) {
        precondition(span_at<const double>(r), span_at<double>(z));
    }

    const LinearSolver& solver() const { return *solver_; }

private:
    template <class Pointer>
    static SparseMatrix matrix(const Array<Pointer>& row_begin, const Array<std::int32_t>& columns,
                               const Array<double>& values, int block) {
        return {span_of(row_begin), span_of(columns), span_of(values), block};
    }

    SolveResult solve(std::span<const double> b, std::span<double> x) {
        SolveResult result;
        alone([&] { result = solver_->solve(b, x); });
        if (PyErr_Occurred()) throw py::error_already_set();
        return result;
    }
    void precondition(std::span<const double> r, std::span<double> z) {
        alone([&] { solver_->precondition(r, z); });
    }

    /// Releases the GIL, waits until no other thread uses the solver, and calls `work`.
    template <class Work>
    void alone(const Work& work) {
        without_gil([&] {
            const std::scoped_lock lock(mutex_);
            work();
        });
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

/// A matrix whose arrays lie in a GPU's memory; `bytes` is the size of a row pointer.
SparseMatrix matrix_there(const Place& row_begin, int bytes, const Place& columns, const Place& values, int block) {
    SparseMatrix a{
        .columns = span_at<const std::int32_t>(columns), .values = span_at<const double>(values), .block = block};
    if (bytes == 4)
        a.row_begin = span_at<const std::int32_t>(row_begin);
    else
        a.row_begin = span_at<const std::int64_t>(row_begin);
    return a;
}

void define_there(py::class_<Solver>& solver) {
    solver
        .def_static(
            "there",
            [](const Place& row_begin, int bytes, const Place& columns, const Place& values, int block,
               std::map<std::string, std::string> keys, int threads, std::optional<int> gpu) {
                return std::make_unique<Solver>(
                    matrix_there(row_begin, bytes, columns, values, block),
                    SolverSettings{.keys = std::move(keys), .threads = threads, .gpu = gpu});
            },
            py::arg("row_begin"), py::arg("bytes"), py::arg("columns"), py::arg("values"), py::arg("block"),
            py::arg("keys"), py::arg("threads"), py::arg("gpu"))
        .def("update_there",
             [](Solver& self, const Place& row_begin, int bytes, const Place& columns, const Place& values, int block) {
                 self.update_there(matrix_there(row_begin, bytes, columns, values, block));
             })
        .def("solve_there", &Solver::solve_there)
        .def("precondition_there", &Solver::precondition_there);
}

/// Raises hyperplane.SolveError for an Error.
// NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 wants it by value
void raise_as_solve_error(std::exception_ptr thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
        const py::object type = py::module_::import("hyperplane.errors").attr("SolveError");
        PyErr_SetObject(type.ptr(), type(int(error.code()), error.what()).ptr());
    }
}

}  // namespace

PYBIND11_MODULE(_library, module) {
    without_gil([] {});  // the module is loaded in this process
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
    define_there(solver);
    module.def("gpu_of", [](std::uintptr_t address) {
        return gpu_of(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr)
    });
    using Vectors = SolveResult (Solver::*)(const Array<double>&, Array<double>&);
    using Apply = void (Solver::*)(const Array<double>&, Array<double>&);
    solver.def("solve", static_cast<Vectors>(&Solver::solve), py::arg("b").noconvert(), py::arg("x").noconvert())
        .def("precondition", static_cast<Apply>(&Solver::precondition), py::arg("r").noconvert(),
             py::arg("z").noconvert())
        .def_property_readonly("setup_seconds", [](const Solver& self) { return self.solver().setup_seconds(); })
        .def_property_readonly("peak_memory", [](const Solver& self) { return self.solver().peak_memory(); });
}

}  // namespace hyperplane
