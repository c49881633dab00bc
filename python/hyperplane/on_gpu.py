# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in a GPU's memory: where they lie, and new ones of the same library (CuPy or PyTorch)."""

import sys

from .errors import refusal

HOST, PINNED = 1, 3  # DLPack's device types of the host's memory
DOUBLE, INT32, INT64 = "<f8", "<i4", "<i8"


def lies_there(array):
    """Whether an object says that it is an array in a GPU's memory."""
    if module_of(array) == "torch":
        return bool(getattr(array, "is_cuda", False))
    if hasattr(array, "__cuda_array_interface__"):
        return True
    device = getattr(array, "__dlpack_device__", lambda: (HOST, 0))()
    return device[0] not in (HOST, PINNED)


def imported(array, name):
    """An array with __cuda_array_interface__: the array itself, or what CuPy makes of its DLPack capsule."""
    if hasattr(array, "__cuda_array_interface__"):
        return array
    try:
        import cupy
    except ImportError:
        raise refusal(f"{name} lies in a GPU's memory and has no __cuda_array_interface__; its DLPack capsule is read "
                      "through CuPy, which is not installed") from None
    return cupy.from_dlpack(array)


def of_type(array, wanted, name):
    """The array, with elements of a type and without gaps; copied on its GPU if it is not so."""
    if module_of(array) == "torch":
        array = array.detach()  # a tensor that is differentiated has no __cuda_array_interface__
    array = imported(array, name)
    interface = array.__cuda_array_interface__
    found = interface.get("typestr", "")
    if "c" in found:
        raise refusal(f"{name} is complex; matrices and vectors are real")
    if found == wanted and is_dense(interface):
        return array
    if module_of(array) == "torch":
        import torch
        kinds = {DOUBLE: torch.float64, INT32: torch.int32, INT64: torch.int64}
        return array.to(kinds[wanted]).contiguous()
    if not hasattr(array, "astype"):
        raise refusal(f"{name} has elements of type {found}, or gaps between them; expected {wanted} without gaps")
    return array.astype(wanted, order="C")


def is_dense(interface):
    """Whether the elements lie one after the other, in the order of C."""
    strides, step = interface.get("strides"), int(interface["typestr"][2:])
    for length, stride in reversed(list(zip(interface["shape"], strides or ()))):
        if length > 1 and stride != step:
            return False
        step *= length
    return True


def place_of(array):
    """Address and number of elements."""
    interface = array.__cuda_array_interface__
    size = 1
    for length in interface["shape"]:
        size *= length
    return int(interface["data"][0]), size


def module_of(array):
    return type(array).__module__.split(".")[0]


def zeros_like(array, name):
    """Zeros in float64 on the same GPU, of the same library."""
    if module_of(array) == "torch":
        import torch
        return torch.zeros_like(array, dtype=torch.float64)
    cupy = sys.modules.get("cupy")
    if cupy is None or not isinstance(array, cupy.ndarray):
        raise refusal(f"{name} is a {type(array).__name__}; the result can be an array of CuPy or PyTorch: "
                      f"cupy.asarray({name})")
    with array.device:
        return cupy.zeros(array.shape)


def copy_of(array):
    return array.clone() if module_of(array) == "torch" else array.copy()
