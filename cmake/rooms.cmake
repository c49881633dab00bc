# SPDX-License-Identifier: BSD-3-Clause
# add_room(NAME [FOLDER NAME] [HEADERS_OF_CORE] SOURCES ... BOTH ... [COMMON ...] LINKS ...): a static library whose headers are included as
# "FOLDER/x.hpp". BOTH are C++ files with loops over points (core/device/for_each_point.hpp), compiled as CUDA where the
# CUDA backend is built. COMMON are headers of libraries that many of its sources read. HEADERS_OF_CORE: the room's options
# are those of core, so that it can share core's precompiled headers.
#
# Each room's folder is reached through its own include root, so including the header of a room
# that is not linked does not compile.

add_library(hyperplane_flags INTERFACE)
# Options of the C++ compiler; nvcc takes the same ones for its host code.
function(host_options)
  target_compile_options(hyperplane_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${ARGN}>)
  list(JOIN ARGN "," joined)
  target_compile_options(hyperplane_flags INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${joined}>")
endfunction()

# gcc 12 sees an overflow in fmt 9 and overlaps in assignments of literals to strings that are not there.
host_options(-Wall -Wextra -Wno-sign-compare -Wno-stringop-overflow -Wno-restrict)
# g++ looks for memory that it can use again whenever its heap has grown, from 128 MiB on. With 1 GiB it hardly ever does,
# and few units take as much. The code is the same.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT HYPERPLANE_TIDY)  # clang-tidy does not know it
  host_options(--param=ggc-min-heapsize=1048576)
endif()
if(HYPERPLANE_NATIVE)
  host_options(-march=native -mprefer-vector-width=512)
else()
  host_options(-march=x86-64-v3)
endif()
if(HYPERPLANE_SANITIZE)
  host_options(-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(hyperplane_flags INTERFACE -fsanitize=address,undefined)
endif()

# Headers that most sources read are compiled once for a room (`-D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON`: not at all, as
# the preset tidy has it, so that sources are seen to include what they use).
set(common_headers <algorithm> <cmath> <functional> <map> <memory> <optional> <string> <vector> <fmt/format.h>)

function(room_include_root name folder)
  set(link ${CMAKE_BINARY_DIR}/include/${name}/${folder})
  get_filename_component(above ${link} DIRECTORY)
  file(MAKE_DIRECTORY ${above})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${link} SYMBOLIC)
endfunction()

# Options of all sources that nvcc compiles.
set(cuda_source_options --expt-relaxed-constexpr -Xcompiler=${OpenMP_CXX_FLAGS})

function(add_room name)
  cmake_parse_arguments(ROOM "HEADERS_OF_CORE" "FOLDER" "SOURCES;BOTH;COMMON;LINKS" ${ARGN})
  if(NOT ROOM_FOLDER)
    set(ROOM_FOLDER ${name})
  endif()
  room_include_root(${name} ${ROOM_FOLDER})
  add_library(hyperplane_${name} STATIC ${ROOM_SOURCES} ${ROOM_BOTH})
  set_source_files_properties(${ROOM_BOTH} PROPERTIES HYPERPLANE_BOTH ON)
  if(HYPERPLANE_TIDY)
    set_source_files_properties(${ROOM_BOTH} PROPERTIES COMPILE_OPTIONS
      "-UHYPERPLANE_CUDA_BUILT;-DHYPERPLANE_CUDA_BUILT=0")
  elseif(HYPERPLANE_CUDA_BUILT)
    set_source_files_properties(${ROOM_BOTH} PROPERTIES LANGUAGE CUDA COMPILE_OPTIONS "${cuda_source_options}")
  endif()
  if(ROOM_HEADERS_OF_CORE)
    target_precompile_headers(hyperplane_${name} REUSE_FROM hyperplane_core)
  else()
    target_precompile_headers(hyperplane_${name} PRIVATE ${common_headers} ${ROOM_COMMON})
  endif()
  target_include_directories(hyperplane_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include/${name}>)
  target_link_libraries(hyperplane_${name} PUBLIC ${ROOM_LINKS} PRIVATE hyperplane_flags)
endfunction()

# room_families(NAME SHARED ... FAMILIES ... [SEES family=other ...]): inside a room, sources of one family's folder see
# the folders and files that are SHARED and their own folder, so including another family's header does not compile.
# Sources outside the families see the whole room, and so do other rooms. SEES names exceptions. Every folder of the room
# is SHARED or a family. The test habits.families reads these lists and checks the includes of headers and kernel texts, too.
function(room_families name)
  cmake_parse_arguments(ROOM "" "" "SHARED;FAMILIES;SEES" ${ARGN})
  set(roots ${CMAKE_BINARY_DIR}/include)
  file(GLOB entries RELATIVE ${CMAKE_SOURCE_DIR}/${name} CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*)
  foreach(entry ${entries})
    if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/${name}/${entry} AND NOT entry IN_LIST ROOM_SHARED AND NOT entry IN_LIST ROOM_FAMILIES)
      message(FATAL_ERROR "${name}/${entry} is neither SHARED nor one of the FAMILIES of room_families(${name} ...) in "
                          "${name}/CMakeLists.txt: name it there, so that it is known which headers its sources may see")
    endif()
  endforeach()
  foreach(entry ${ROOM_SHARED})
    room_part_root(${name} shared ${entry})
  endforeach()
  foreach(family ${ROOM_FAMILIES})
    room_part_root(${name} ${family} ${family})
    set(sees_${family} ${roots}/${name}_${family})
  endforeach()
  foreach(exception ${ROOM_SEES})
    string(REPLACE "=" ";" pair ${exception})
    list(GET pair 0 family)
    list(GET pair 1 other)
    list(APPEND sees_${family} ${roots}/${name}_${other})
  endforeach()
  set_property(TARGET hyperplane_${name} PROPERTY INCLUDE_DIRECTORIES ${roots}/${name}_shared)
  get_target_property(sources hyperplane_${name} SOURCES)
  foreach(source ${sources})
    string(REGEX REPLACE "/.*" "" folder ${source})
    if(folder IN_LIST ROOM_FAMILIES)
      set_property(SOURCE ${source} APPEND PROPERTY INCLUDE_DIRECTORIES ${sees_${folder}})
      refuse_other_families(${name} ${source} "${ROOM_FAMILIES}" "${sees_${folder}}")
    elseif(NOT folder IN_LIST ROOM_SHARED)
      set_property(SOURCE ${source} APPEND PROPERTY INCLUDE_DIRECTORIES ${roots}/${name})
    endif()
  endforeach()
endfunction()

# Stops where a family's source names a header of another family that it does not see: the compiler refuses that only where
# the source's unit is of one family (in_one_unit).
function(refuse_other_families name source families sees)
  file(STRINGS ${source} lines REGEX "^#include \"${name}/")
  foreach(line ${lines})
    string(REGEX REPLACE "^#include \"${name}/([^/\"]*).*" "\\1" family "${line}")
    if(family IN_LIST families AND NOT "${CMAKE_BINARY_DIR}/include/${name}_${family}" IN_LIST sees)
      message(FATAL_ERROR "${name}/${source} must not see the family ${family} (room_families): ${line}")
    endif()
  endforeach()
endfunction()

# Links a folder or file of a room into an include root of its own.
function(room_part_root name part entry)
  set(root ${CMAKE_BINARY_DIR}/include/${name}_${part}/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${name}/${entry} ${root}/${entry} SYMBOLIC)
endfunction()

# compile_together(NAME n [COMPUTES] [ALONE ...]): up to n sources of a room are compiled at a time, as one unit that
# includes them, since reading headers takes most of the time. A unit holds sources of one kind (BOTH or not) with the
# same options, definitions and include roots: those of one family, where the room has families. Sources named as ALONE,
# and generated ones, are compiled by themselves. The call must follow everything that adds sources to the room or sets
# their properties.
#
# Where a source is larger than these parameters say, g++ limits by how much inlining may enlarge it. In a room that
# COMPUTES they are so large that no unit is limited, so that g++ inlines there as it does in the sources by themselves,
# and neither speed nor the rounding of sums depends on which sources share a unit.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT HYPERPLANE_TIDY)  # clang-tidy does not know it
  set(as_if_alone_CXX --param=large-unit-insns=1000000 --param=ipa-cp-large-unit-insns=1000000)
  set(as_if_alone_CUDA -Xcompiler=--param=large-unit-insns=1000000,--param=ipa-cp-large-unit-insns=1000000)
endif()

function(compile_together name n)
  cmake_parse_arguments(UNIT "COMPUTES" "" "ALONE" ${ARGN})
  if(NOT HYPERPLANE_TOGETHER)
    return()
  endif()
  set(properties COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES)
  get_target_property(sources hyperplane_${name} SOURCES)
  foreach(source ${UNIT_ALONE})
    if(NOT source IN_LIST sources)
      message(FATAL_ERROR "compile_together: ${source}, listed as ALONE, is no source of hyperplane_${name}")
    endif()
  endforeach()
  set(units "")
  set(keys "")
  foreach(source ${sources})
    get_source_file_property(unit ${source} HYPERPLANE_UNIT)
    if(IS_ABSOLUTE ${source} OR (source IN_LIST UNIT_ALONE AND NOT unit))
      list(APPEND units ${source})
      continue()
    endif()
    loops_on_gpus(key ${source})
    foreach(property ${properties})
      get_source_file_property(value ${source} ${property})
      string(APPEND key "|${value}")
    endforeach()
    if(unit)
      set(key ${unit})
    endif()
    string(MD5 key "${key}")
    list(APPEND keys ${key})
    list(APPEND sources_${key} ${source})
  endforeach()
  list(REMOVE_DUPLICATES keys)
  foreach(key ${keys})
    list(LENGTH sources_${key} count)
    list(GET sources_${key} 0 first)
    get_source_file_property(unit ${first} HYPERPLANE_UNIT)
    if(unit)
      set(parts 1)
    else()
      math(EXPR parts "(${count} + ${n} - 1) / ${n}")
    endif()
    math(EXPR most "(${count} + ${parts} - 1) / ${parts}")
    foreach(part RANGE 1 ${parts})
      math(EXPR begin "(${part} - 1) * ${most}")
      list(SUBLIST sources_${key} ${begin} ${most} together)
      compilation_unit(unit "${together}" "${properties}")
      list(APPEND units ${unit})
    endforeach()
  endforeach()
  set_property(TARGET hyperplane_${name} PROPERTY SOURCES ${units})
endfunction()

# in_one_unit(SOURCE ...): compile_together makes one unit of these sources of equal options, however many and of whichever
# families they are, those named as ALONE, too. It is meant for loops on GPUs: nvcc reads all headers three times, which
# takes 3 s before a unit's first own line. Such a unit sees what any of its sources sees; refuse_other_families and the preset
# tidy still keep families apart.
function(in_one_unit first)
  set_property(SOURCE ${first} ${ARGN} PROPERTY HYPERPLANE_UNIT ${first})
endfunction()

# compile_quickly([WITHOUT_COMPUTING] SOURCE ...): sources of this folder that compute nothing on a CPU but read decks, write
# text, plan, or queue kernels on a GPU; at -O1 they compile in two thirds of the time. An inline function that other sources emit,
# too, may be linked from here: those are constructors, destructors and other short ones, since what computes is inlined or no
# inline function. WITHOUT_COMPUTING takes -Og, in three quarters of that time, and is for a room whose products and sums are
# rounded separately: -O1 may fuse them and -Og never does, so elsewhere results could depend on which function is linked.
function(compile_quickly)
  cmake_parse_arguments(QUICK "WITHOUT_COMPUTING" "" "" ${ARGN})
  set(level -O1)
  if(QUICK_WITHOUT_COMPUTING)
    set(level -Og)
  endif()
  foreach(source ${QUICK_UNPARSED_ARGUMENTS})
    set(option ${level})
    if(source MATCHES "[.]cu$")
      set(option -Xcompiler=${level},-Wno-maybe-uninitialized)  # below -O3 g++ suspects objects of CUB
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release>:${option}>")
  endforeach()
endfunction()

# Whether a source has loops for GPUs: those under BOTH, and .cu files.
function(loops_on_gpus out source)
  get_source_file_property(both ${source} HYPERPLANE_BOTH)
  set(${out} OFF PARENT_SCOPE)
  if(both OR source MATCHES "[.]cu$")
    set(${out} ON PARENT_SCOPE)
  endif()
endfunction()

# Writes a unit that includes the sources, named after the first of them, and gives it their properties.
function(compilation_unit out sources properties)
  list(LENGTH sources count)
  list(GET sources 0 first)
  if(count EQUAL 1)
    set(${out} ${first} PARENT_SCOPE)
    return()
  endif()
  set(text "// Made by compile_together (cmake/rooms.cmake).\n")
  foreach(source ${sources})
    string(APPEND text "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${source}\"\n")
  endforeach()
  set(language CXX)
  set(ending cpp)
  loops_on_gpus(loops ${first})
  if(loops AND HYPERPLANE_CUDA_BUILT)
    set(language CUDA)
    set(ending cu)
  endif()
  string(REGEX REPLACE "[.][a-z]+$" "_and_others.${ending}" unit ${first})
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/together/${unit})
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
  foreach(property ${properties})
    set(values "")
    foreach(source ${sources})
      get_source_file_property(value ${source} ${property})
      if(NOT value MATCHES "NOTFOUND$")
        list(APPEND values ${value})
      endif()
      if(property STREQUAL COMPILE_OPTIONS)
        break()
      endif()
    endforeach()
    list(REMOVE_DUPLICATES values)
    set_property(SOURCE ${unit} PROPERTY ${property} ${values})
  endforeach()
  if(UNIT_COMPUTES)
    set_property(SOURCE ${unit} APPEND PROPERTY COMPILE_OPTIONS ${as_if_alone_${language}})
  endif()
  set(${out} ${unit} PARENT_SCOPE)
endfunction()
