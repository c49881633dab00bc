# SPDX-License-Identifier: BSD-3-Clause
# Writes OUTPUT, a function ROOM_texts() (core/device/rtc.hpp) that returns the texts FILES, all of ROOM's that they
# include, and those of the room USED where it is given, whose texts they may include, too. OUTPUT.names lists them, one a
# line; OUTPUT.d names the files that OUTPUT depends on. ROOT is the folder of the rooms.
cmake_policy(VERSION 3.25)
set(embedded "")
if(USED)
  file(STRINGS ${USED_NAMES} embedded)
endif()

list(APPEND embedded ${FILES})
set(waiting ${FILES})
while(waiting)
  list(POP_FRONT waiting name)
  file(READ ${ROOT}/${name} text)
  string(APPEND entries "        texts.emplace(\"${name}\", R\"kernel(${text})kernel\");\n")
  string(APPEND made_of " ${ROOT}/${name}")
  file(STRINGS ${ROOT}/${name} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" included "${line}")
    if(included IN_LIST embedded)
      continue()
    endif()
    if(NOT included MATCHES "^${ROOM}/")
      message(FATAL_ERROR "${name} includes ${included}, which NVRTC would not find since no room embeds it: name it in "
                          "embed_kernels(...) of its room's CMakeLists.txt")
    endif()
    if(NOT EXISTS ${ROOT}/${included})
      message(FATAL_ERROR "${name} includes ${included}, which does not exist")
    endif()
    list(APPEND embedded ${included})
    list(APPEND waiting ${included})
  endforeach()
endwhile()

if(USED)
  set(others "const Texts& ${USED}_texts();\n")
  set(initial " = ${USED}_texts()")
endif()
file(WRITE ${OUTPUT} "// Made by cmake/embed_kernels.cmake.
#include \"core/device/rtc.hpp\"

namespace hyperplane::rtc {
${others}const Texts& ${ROOM}_texts();
const Texts& ${ROOM}_texts() {
    static const Texts all = [] {
        Texts texts${initial};
${entries}        return texts;
    }();
    return all;
}
}  // namespace hyperplane::rtc
")
string(REPLACE ";" "\n" embedded "${embedded}")
file(WRITE ${OUTPUT}.names "${embedded}\n")
file(WRITE ${OUTPUT}.d "${OUTPUT}:${made_of}\n")
