// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/error.hpp"

namespace hyperplane::hdf5 {
namespace {

herr_t keep_innermost(unsigned /*n*/, const H5E_error2_t* error, void* message) {
    if (error->desc && *error->desc) *static_cast<std::string*>(message) = error->desc;
    return 0;
}

Id one_value() {
    return {H5Screate(H5S_SCALAR), H5Sclose, "make a data space"};
}

Id row_of(Index count) {
    const hsize_t extent = hsize_t(count);
    return {H5Screate_simple(1, &extent, nullptr), H5Sclose, "make a data space"};
}

Id space_for(Index count, bool scalar) {
    return scalar ? one_value() : row_of(count);
}

void (*log_message)(const std::string&) = nullptr;

/// Text of so many bytes, UTF-8, filled up with zeros. (Text of variable length lies in a heap of HDF5's, which crashes
/// where it is damaged.)
Id text_type(std::size_t bytes) {
    Id type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
    check(H5Tset_size(type, std::max<std::size_t>(bytes, 1)), "set the size of text");
    check(H5Tset_strpad(type, H5T_STR_NULLPAD), "set the padding of text");
    check(H5Tset_cset(type, H5T_CSET_UTF8), "set the encoding of text");
    return type;
}

/// The texts that `read` puts into the memory it is given, in the type they are stored in.
template <class Read>
std::vector<std::string> read_texts(hid_t type, std::size_t count, const Read& read) {
    std::vector<std::string> texts(count);
    if (count == 0) return texts;
    if (H5Tis_variable_str(type) > 0) {
        std::vector<char*> pointers(count, nullptr);
        read(pointers.data());
        for (std::size_t at = 0; at < count; ++at) texts[at] = pointers[at] ? pointers[at] : "";
        const Id space = row_of(Index(count));
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
        return texts;
    }
    const std::size_t bytes = H5Tget_size(type);
    std::vector<char> memory(count * bytes);
    read(memory.data());
    for (std::size_t at = 0; at < count; ++at) {
        const char* text = memory.data() + at * bytes;
        texts[at].assign(text, strnlen(text, bytes));
    }
    return texts;
}

/// An attribute has room for 64 KiB.
std::string cut(const std::string& text) {
    constexpr std::size_t most = 60000;
    if (text.size() <= most) return text;
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not within a character
    return text.substr(0, end) + " [...]";
}

Id create(const std::string& name, hid_t access, hid_t how) {
    // HDF5 crashes where memory ends while it creates a file.
    constexpr std::size_t room = 4 << 20;
    void* volatile tried = std::malloc(room);  // volatile: not left out
    if (!tried) throw std::bad_alloc();
    std::free(tried);
    return {H5Fcreate(name.c_str(), H5F_ACC_TRUNC, how, access), H5Fclose, "create an HDF5 file"};
}

/// All files are closed when their Ids end. What HDF5 does when the process ends can crash where memory was short.
const herr_t no_end_of_its_own = H5dont_atexit();

}  // namespace

Quiet::Quiet() {
    static std::recursive_mutex mutex;
    alone_ = std::unique_lock(mutex);
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Quiet::~Quiet() {
    H5Eset_auto2(H5E_DEFAULT, function_, data_);
}

void set_log(void (*log)(const std::string&)) {
    log_message = log;
}

void fail(const std::string& what) {
    std::string message;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &message);
    H5Eclear2(H5E_DEFAULT);
    if (log_message && !message.empty()) log_message(fmt::format("{}: HDF5 says: {}", what, message));
    throw FileError(what);
}

Id::Id(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
    if (id_ < 0) fail("cannot " + what);
}

Id create_on_disk(const std::string& name, Index before) {
    const Id how(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "make file properties");
    check(H5Pset_userblock(how, hsize_t(before)), "leave room before an HDF5 file");
    const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file access properties");
    check(H5Pset_fapl_stdio(access), "choose a driver");  // the default driver refuses files without a name
    return create(name, access, how);
}

Id create_in_memory() {
    constexpr std::size_t growth = 1 << 20;
    const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file access properties");
    check(H5Pset_fapl_core(access, growth, false), "keep a file in memory");
    return create("record", access, H5P_DEFAULT);
}

Id with_room() {
    Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties");
    check(H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY), "set the time of allocation");
    check(H5Pset_fill_time(how, H5D_FILL_TIME_NEVER), "do without fill values");
    return how;
}

Index place_of(hid_t data, const std::string& what) {
    const haddr_t offset = H5Dget_offset(data);
    check(offset == HADDR_UNDEF ? -1 : 0, "locate " + what);
    return Index(offset);
}

std::vector<char> image_of(hid_t file) {
    check(H5Fflush(file, H5F_SCOPE_GLOBAL), "flush a file in memory");
    const ssize_t size = H5Fget_file_image(file, nullptr, 0);
    check(size < 0 ? -1 : 0, "measure a file in memory");
    std::vector<char> image(static_cast<std::size_t>(size));
    check(H5Fget_file_image(file, image.data(), image.size()) < 0 ? -1 : 0, "copy a file in memory");
    return image;
}

Id open_to_read(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    char first = 0;
    const ssize_t got = fd < 0 ? -1 : read(fd, &first, 1);
    const int error = errno;
    if (fd >= 0) close(fd);
    if (got < 0) throw FileError(fmt::format("{}: cannot read: {}", path, std::strerror(error)));
    if (H5Fis_hdf5(path.c_str()) <= 0) throw FileError(path + ": not an HDF5 file, or not all of one");
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) fail(path + ": damaged: HDF5 cannot open it");
    return {file, H5Fclose, "open " + path};
}

void write_text_attribute(hid_t object, const std::string& name, const std::string& text) {
    const std::string value = cut(text);
    const Id type = text_type(value.size()), space = one_value();
    const Id attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                       "create attribute " + name);
    check(H5Awrite(attribute, type, value.c_str()), "write attribute " + name);
}

Group::Group(Id id, Mode mode, std::string file_name, std::string path)
    : id_(std::move(id)), mode_(mode), file_name_(std::move(file_name)), path_(std::move(path)) {}

Group Group::root(hid_t file, Mode mode, const std::string& file_name) {
    return {Id(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "open the root group of " + file_name), mode, file_name,
            "/"};
}

bool Group::has(const std::string& name) const {
    return H5Lexists(id_, name.c_str(), H5P_DEFAULT) > 0;
}

Group Group::group(const std::string& name) const {
    const std::string path = item(name);
    if (writing())
        return {
            Id(H5Gcreate2(id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "create group " + path),
            mode_, file_name_, path + "/"};
    if (!has(name)) wrong(name, "is missing");
    return {Id(H5Gopen2(id_, name.c_str(), H5P_DEFAULT), H5Gclose, "open group " + path + " of " + file_name_), mode_,
            file_name_, path + "/"};
}

void Group::wrong(const std::string& name, const std::string& what) const {
    throw FileError(fmt::format("{}: {} {}; this is no complete record of a run", file_name_, item(name), what));
}

Id Group::open_dataset(const std::string& name) const {
    if (H5Lexists(id_, name.c_str(), H5P_DEFAULT) <= 0) wrong(name, "is missing");
    return {H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose, "open " + item(name) + " of " + file_name_};
}

Id Group::open_attribute(const std::string& name) const {
    if (H5Aexists(id_, name.c_str()) <= 0) wrong(name, "(an attribute) is missing");
    return {H5Aopen(id_, name.c_str(), H5P_DEFAULT), H5Aclose, "open attribute " + item(name) + " of " + file_name_};
}

Index Group::length(const std::string& name) const {
    const Id data = open_dataset(name);
    const Id space(H5Dget_space(data), H5Sclose, "read the extent of " + item(name));
    if (H5Sget_simple_extent_ndims(space) > 1) wrong(name, "has more than one dimension");
    const Id type(H5Dget_type(data), H5Tclose, "read the type of " + item(name));
    const hsize_t count = hsize_t(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0));
    if (count > 0 && H5Dget_storage_size(data) / count < H5Tget_size(type)) wrong(name, "claims more than it holds");
    return Index(count);
}

void Group::numeric_attribute(const std::string& name, hid_t type, void* values, hsize_t count) const {
    const std::string what = "attribute " + item(name) + " of " + file_name_;
    if (writing()) {
        const Id space = space_for(Index(count), count == 1);
        const Id attribute(H5Acreate2(id_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                           "create " + what);
        return check(H5Awrite(attribute, type, values), "write " + what);
    }
    const Id attribute = open_attribute(name);
    const Id space(H5Aget_space(attribute), H5Sclose, "read the extent of " + what);
    if (H5Sget_simple_extent_npoints(space) != hssize_t(count)) wrong(name, "has another number of values");
    check(H5Aread(attribute, type, values), "read " + what);
}

void Group::attribute(const std::string& name, int& value) const {
    numeric_attribute(name, H5T_NATIVE_INT, &value, 1);
}

void Group::attribute(const std::string& name, std::string& value) const {
    if (writing()) return write_text_attribute(id_, name, value);
    const std::string what = "read attribute " + item(name) + " of " + file_name_;
    const Id attribute = open_attribute(name);
    const Id stored(H5Aget_space(attribute), H5Sclose, what), type(H5Aget_type(attribute), H5Tclose, what);
    if (H5Sget_simple_extent_npoints(stored) != 1) wrong(name, "has another number of values");
    if (H5Tget_class(type) != H5T_STRING) wrong(name, "(an attribute) is no text");
    value = read_texts(type, 1, [&](void* to) { check(H5Aread(attribute, type, to), what); })[0];
}

void Group::label(const std::string& name, std::string& units, std::string& description) const {
    const Group data(open_dataset(name), mode_, file_name_, item(name) + "/");
    data.attribute("units", units);
    data.attribute("description", description);
}

void Group::attributes(std::map<std::string, std::string>& values) const {
    if (!writing()) {
        const auto add = [](hid_t, const char* name, const H5A_info_t*, void* map) -> herr_t {
            (*static_cast<std::map<std::string, std::string>*>(map))[name];
            return 0;
        };
        check(H5Aiterate2(id_, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &values), "list attributes of " + path_);
    }
    for (auto& [name, value] : values) attribute(name, value);
}

void Group::numbers(const std::string& name, Label label, hid_t type, void* values, Index count, bool scalar) const {
    if (!writing())
        return check(H5Dread(open_dataset(name), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
                     "read " + item(name) + " of " + file_name_);
    const Id space = space_for(count, scalar);
    const Id data(H5Dcreate2(id_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                  "create " + item(name));
    if (count > 0) check(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write " + item(name));
    write_text_attribute(data, "units", label.units);
    write_text_attribute(data, "description", label.description);
}

Index Group::reserve(const std::string& name, Label label, Index count) const {
    const Id how = with_room(), space = row_of(count);
    const Id data(H5Dcreate2(id_, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose,
                  "create " + item(name));
    write_text_attribute(data, "units", label.units);
    write_text_attribute(data, "description", label.description);
    return count == 0 ? 0 : place_of(data, item(name));
}

void Group::read_some(const std::string& name, Index first, Index count, double* to) const {
    const std::string what = "read " + item(name) + " of " + file_name_;
    const Id data = open_dataset(name), space(H5Dget_space(data), H5Sclose, "read the extent of " + item(name));
    const hsize_t from = hsize_t(first), extent = hsize_t(count);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, nullptr, &extent, nullptr), what);
    check(H5Dread(data, H5T_NATIVE_DOUBLE, row_of(count), space, H5P_DEFAULT, to), what);
}

void Group::texts(const std::string& name, Label label, std::vector<std::string>& values, bool scalar) const {
    if (!writing()) {
        const Id data = open_dataset(name);
        const std::string what = "read " + item(name) + " of " + file_name_;
        const Id type(H5Dget_type(data), H5Tclose, what);
        if (H5Tget_class(type) != H5T_STRING) wrong(name, "is no text");
        values = read_texts(type, values.size(),
                            [&](void* to) { check(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to), what); });
        return;
    }
    std::size_t longest = 1;
    for (const std::string& value : values) longest = std::max(longest, value.size());
    std::vector<char> memory(values.size() * longest, '\0');
    for (std::size_t at = 0; at < values.size(); ++at)
        std::copy(values[at].begin(), values[at].end(), memory.begin() + std::ptrdiff_t(at * longest));
    numbers(name, label, text_type(longest), memory.data(), Index(values.size()), scalar);
}

void Group::dataset(const std::string& name, Label label, std::vector<std::string>& values) const {
    if (!writing()) values.resize(std::size_t(length(name)));
    texts(name, label, values, false);
}

void Group::scalar(const std::string& name, Label label, std::string& value) const {
    if (!writing() && length(name) != 1) wrong(name, "holds more than one value");
    std::vector<std::string> values{value};
    texts(name, label, values, true);
    value = values[0];
}

}  // namespace hyperplane::hdf5
