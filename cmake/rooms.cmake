# SPDX-License-Identifier: BSD-3-Clause
# add_room(NAME [FOLDER NAME] SOURCES ... BOTH ... [TOGETHER n] [COMMON ...] LINKS ...): a static library whose headers
# are included as "FOLDER/x.hpp". BOTH are C++ files with loops over points (core/device/for_each_point.hpp), compiled as
# CUDA where the CUDA backend is built. n of the other sources are compiled at a time, where reading headers takes most
# of the time. COMMON are headers of libraries that many of its sources read.
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
# the preset asan has it, so that sources are seen to include what they use).
set(common_headers <algorithm> <cmath> <functional> <map> <memory> <optional> <string> <vector> <fmt/format.h>)

function(room_include_root name folder)
  set(link ${CMAKE_BINARY_DIR}/include/${name}/${folder})
  get_filename_component(above ${link} DIRECTORY)
  file(MAKE_DIRECTORY ${above})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${link} SYMBOLIC)
endfunction()

function(add_room name)
  cmake_parse_arguments(ROOM "" "FOLDER;TOGETHER" "SOURCES;BOTH;COMMON;LINKS" ${ARGN})
  if(NOT ROOM_FOLDER)
    set(ROOM_FOLDER ${name})
  endif()
  room_include_root(${name} ${ROOM_FOLDER})
  add_library(hyperplane_${name} STATIC ${ROOM_SOURCES} ${ROOM_BOTH})
  if(HYPERPLANE_TIDY)
    set_source_files_properties(${ROOM_BOTH} PROPERTIES COMPILE_OPTIONS
      "-UHYPERPLANE_CUDA_BUILT;-DHYPERPLANE_CUDA_BUILT=0")
  elseif(HYPERPLANE_CUDA_BUILT)
    set_source_files_properties(${ROOM_BOTH} PROPERTIES LANGUAGE CUDA
      COMPILE_OPTIONS "--expt-relaxed-constexpr;-Xcompiler=${OpenMP_CXX_FLAGS}")
  endif()
  if(ROOM_TOGETHER AND NOT HYPERPLANE_TIDY)
    set_target_properties(hyperplane_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ROOM_TOGETHER})
  endif()
  target_precompile_headers(hyperplane_${name} PRIVATE ${common_headers} ${ROOM_COMMON})
  target_include_directories(hyperplane_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include/${name}>)
  target_link_libraries(hyperplane_${name} PUBLIC ${ROOM_LINKS} PRIVATE hyperplane_flags)
endfunction()

# room_families(NAME SHARED ... FAMILIES ... [SEES family=other ...]): inside a room, sources of one family's folder see
# the folders and files that are SHARED and their own folder, so including another family's header does not compile.
# Sources outside the families see the whole room, and so do other rooms. SEES names exceptions.
function(room_families name)
  cmake_parse_arguments(ROOM "" "" "SHARED;FAMILIES;SEES" ${ARGN})
  set(roots ${CMAKE_BINARY_DIR}/include)
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
    elseif(NOT folder IN_LIST ROOM_SHARED)
      set_property(SOURCE ${source} APPEND PROPERTY INCLUDE_DIRECTORIES ${roots}/${name})
    endif()
  endforeach()
endfunction()

# Links a folder or file of a room into an include root of its own.
function(room_part_root name part entry)
  set(root ${CMAKE_BINARY_DIR}/include/${name}_${part}/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${name}/${entry} ${root}/${entry} SYMBOLIC)
endfunction()
