# SPDX-License-Identifier: BSD-3-Clause
# The CUDA backend is optional: HYPERPLANE_CUDA_BUILT says whether it is part of the program.
#
# Kernels that depend on stencil and dof are text, compiled by NVRTC for the device at hand (core/device/rtc.hpp);
# the others are .cu files, compiled here.

set(HYPERPLANE_CUDA_BUILT 0)
if(HYPERPLANE_CUDA)  # OFF is false; AUTO and ON are not
  # nvcc is often installed without being on the PATH.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(HYPERPLANE_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
    if(HYPERPLANE_NVCC)
      set(CMAKE_CUDA_COMPILER ${HYPERPLANE_NVCC})
    endif()
  endif()
  # What nvcc compiles is the same for every architecture, so one front end serves all of them.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES OFF)
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--generate-code=arch=compute_80,code=[compute_80,sm_90]>")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # CMake 3.25.1 does not know that nvcc has it
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    # nvcc writes its own -O after what it hands on, so that a source's level (compile_quickly) would not count; kernels are
    # always compiled at nvcc's highest level.
    string(REGEX REPLACE "(^| )(-O[0-3])" "\\1-Xcompiler=\\2" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
    find_package(CUDAToolkit REQUIRED)
    set(HYPERPLANE_CUDA_BUILT 1)
  elseif(NOT HYPERPLANE_CUDA STREQUAL AUTO)
    message(FATAL_ERROR "HYPERPLANE_CUDA is ${HYPERPLANE_CUDA}, but no CUDA compiler was found: "
                        "set CMAKE_CUDA_COMPILER or put nvcc on the PATH")
  else()
    message(STATUS "No CUDA compiler found: the program is built for the CPU alone")
  endif()
endif()

# embed_kernels(ROOM [USES room] TEXTS ...): the texts of the room's kernels, which the program hands to NVRTC
# (core/device/rtc.hpp), with all of the room's that they include. They may include those of the room used, too. The build
# fails where a text includes one that is not embedded.
function(embed_kernels room)
  cmake_parse_arguments(K "" "USES" "TEXTS" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${room}_kernels.cpp)
  list(TRANSFORM K_TEXTS PREPEND ${room}/ OUTPUT_VARIABLE names)
  list(TRANSFORM names PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  if(K_USES)
    get_target_property(used_names hyperplane_${K_USES} HYPERPLANE_KERNEL_NAMES)
  endif()
  set_target_properties(hyperplane_${room} PROPERTIES HYPERPLANE_KERNEL_NAMES ${output}.names)
  add_custom_command(OUTPUT ${output} ${output}.names
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${CMAKE_SOURCE_DIR} -DROOM=${room} "-DFILES=${names}"
            -DUSED=${K_USES} -DUSED_NAMES=${used_names} -P ${CMAKE_SOURCE_DIR}/cmake/embed_kernels.cmake
    DEPENDS ${files} ${used_names} ${CMAKE_SOURCE_DIR}/cmake/embed_kernels.cmake
    DEPFILE ${output}.d VERBATIM)
  target_sources(hyperplane_${room} PRIVATE ${output})
endfunction()
