# SPDX-License-Identifier: BSD-3-Clause
# Writes OUTPUT with the commit of SOURCE and its date, but only if either has changed. Run at every build.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE sha ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT sha)
  set(sha unknown)
endif()
execute_process(COMMAND git -C ${SOURCE} log -1 --format=%cs
                OUTPUT_VARIABLE date ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#pragma once\n\nnamespace hyperplane {\ninline constexpr const char* git_sha = \"${sha}\";\ninline constexpr const char* git_date = \"${date}\";\n}\n")
