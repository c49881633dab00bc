// SPDX-License-Identifier: BSD-3-Clause
// A thin layer on HDF5's C interface: identifiers that close themselves, errors as FileError, and groups whose items
// are written and read by the same list of calls.
#pragma once

#include <hdf5.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace hyperplane::hdf5 {

/// Keeps HDF5 from printing its error stack; its innermost message goes to the log. Only one thread has such an object
/// at a time, since HDF5 as Debian builds it must not be called by several.
class Quiet {
public:
    Quiet();
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    std::unique_lock<std::recursive_mutex> alone_;
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

/// Where the innermost messages of HDF5's error stack go that failures leave behind; nowhere until it is called.
void set_log(void (*log)(const std::string&));

/// Throws FileError: `what`; HDF5's innermost message goes to the log.
[[noreturn]] void fail(const std::string& what);

/// Throws FileError ("cannot `what`") for a negative status.
inline void check(herr_t status, const std::string& what) {
    if (status < 0) fail("cannot " + what);
}

/// Owns an identifier.
class Id {
public:
    using Close = herr_t (*)(hid_t);

    /// Throws FileError ("cannot `what`") for a negative identifier.
    Id(hid_t id, Close close, const std::string& what);
    Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    Id(const Id&) = delete;
    Id& operator=(const Id&) = delete;
    ~Id() {
        if (id_ >= 0) close_(id_);
    }
    operator hid_t() const { return id_; }

private:
    hid_t id_;
    Close close_;
};

/// Creates a file, or writes over it, behind `before` bytes that HDF5 leaves alone. Throws std::bad_alloc if memory is
/// short, FileError.
Id create_on_disk(const std::string& name, Index before);
/// A new file in memory. Throws as create_on_disk does.
Id create_in_memory();
/// Properties of a dataset for whose values there is room at once, so that they can be written without HDF5.
Id with_room();
/// The place of these values in bytes from the beginning of the file; `what` is for the message. Throws FileError.
Index place_of(hid_t data, const std::string& what);
/// The bytes of an open file.
std::vector<char> image_of(hid_t file);
/// Opens a file. Throws FileError, also if the file is truncated or not an HDF5 file.
Id open_to_read(const std::string& path);

/// The HDF5 type of a number in memory.
template <class T>
hid_t native_type() {
    static_assert(std::is_same_v<T, int> || std::is_same_v<T, Index> || std::is_same_v<T, double>);
    if constexpr (std::is_same_v<T, int>) return H5T_NATIVE_INT;
    if constexpr (std::is_same_v<T, Index>) return H5T_NATIVE_INT64;
    return H5T_NATIVE_DOUBLE;
}

enum class Mode { write, read };

/// The attributes that every dataset has.
struct Label {
    const char* units;  ///< "1" if it has none
    const char* description;
};

/// A group that is being written or read. Each call either stores its argument or replaces it by what is stored.
/// Reading throws a FileError that names the group, attribute or dataset that is missing or wrong.
class Group {
public:
    /// The root of a file; `file_name` is for messages.
    static Group root(hid_t file, Mode mode, const std::string& file_name);
    Group group(const std::string& name) const;
    bool writing() const { return mode_ == Mode::write; }
    const std::string& file_name() const { return file_name_; }
    /// The path of an item of this group in the file.
    std::string item(const std::string& name) const { return path_ + name; }
    /// Whether a group or dataset exists.
    bool has(const std::string& name) const;
    bool has_attribute(const std::string& name) const { return H5Aexists(id_, name.c_str()) > 0; }
    /// Whether an item that not every file has is transferred: written if `written`, read if it is there.
    bool transfers(const std::string& name, bool written = true) const { return writing() ? written : has(name); }
    bool transfers_attribute(const std::string& name, bool written = true) const {
        return writing() ? written : has_attribute(name);
    }
    /// Reads the units and the description of a dataset.
    void label(const std::string& name, std::string& units, std::string& description) const;

    void attribute(const std::string& name, int& value) const;
    void attribute(const std::string& name, std::string& value) const;
    template <class T, std::size_t N>
    void attribute(const std::string& name, T (&values)[N]) const {
        numeric_attribute(name, native_type<T>(), values, N);
    }
    /// Makes a dataset of numbers that are written later, and returns their place in bytes from the beginning of the
    /// file, of no numbers 0.
    Index reserve(const std::string& name, Label label, Index count) const;
    /// Number of values of a dataset. Throws FileError if it has more than one dimension or claims more than it holds.
    Index length(const std::string& name) const;
    /// Reads the numbers [first, first + count) of a dataset.
    void read_some(const std::string& name, Index first, Index count, double* to) const;
    /// All attributes of the group, which must be text.
    void attributes(std::map<std::string, std::string>& values) const;

    void dataset(const std::string& name, Label label, std::vector<std::string>& values) const;
    template <class T>
    void dataset(const std::string& name, Label label, std::vector<T>& values) const {
        if (!writing()) values.resize(std::size_t(length(name)));
        numbers(name, label, native_type<T>(), values.data(), Index(values.size()), false);
    }
    /// Writes or reads a dataset of one value.
    void scalar(const std::string& name, Label label, std::string& value) const;
    template <class T>
    void scalar(const std::string& name, Label label, T& value) const {
        if (!writing() && length(name) != 1) wrong(name, "holds more than one value");
        numbers(name, label, native_type<T>(), &value, 1, true);
    }
    /// Writes or reads a dataset with one value for each row: the member `field` of the row, or the value to which
    /// `field(row)` refers. The first column that is read sets the number of rows; all others must have the same.
    template <class Row, class Field>
    void column(const std::string& name, Label label, std::vector<Row>& rows, Field field) const {
        std::vector<std::decay_t<std::invoke_result_t<Field, Row&>>> values;
        if (writing())
            for (Row& row : rows) values.push_back(std::invoke(field, row));
        dataset(name, label, values);
        if (writing()) return;
        if (rows_ < 0) rows.resize(values.size());
        rows_ = Index(rows.size());
        if (rows.size() != values.size()) wrong(name, "has another number of rows than its neighbours");
        for (std::size_t at = 0; at < rows.size(); ++at) std::invoke(field, rows[at]) = values[at];
    }

    /// Throws FileError with the path of the item `name` of this group, then `what`.
    [[noreturn]] void wrong(const std::string& name, const std::string& what) const;

private:
    Group(Id id, Mode mode, std::string file_name, std::string path);
    void numeric_attribute(const std::string& name, hid_t type, void* values, hsize_t count) const;
    void numbers(const std::string& name, Label label, hid_t type, void* values, Index count, bool scalar) const;
    void texts(const std::string& name, Label label, std::vector<std::string>& values, bool scalar) const;
    Id open_dataset(const std::string& name) const;
    Id open_attribute(const std::string& name) const;

    Id id_;
    Mode mode_;
    std::string file_name_, path_;  ///< the path ends in '/'
    mutable Index rows_ = -1;       ///< length of the columns that have been read; -1: none yet
};

/// Writes a text attribute, UTF-8; of one longer than 60000 bytes its beginning.
void write_text_attribute(hid_t object, const std::string& name, const std::string& text);

}  // namespace hyperplane::hdf5
