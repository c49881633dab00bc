# SPDX-License-Identifier: BSD-3-Clause
# HYPERPLANE_DEFLATE: whether libdeflate is there, which expands gzip files in about half of zlib's time
# (io/gzip.hpp); a portable build links it in. Without it zlib alone expands them, to the same bytes.
if(HYPERPLANE_PORTABLE)
  set(deflate_name libdeflate.a)
else()
  set(deflate_name deflate)
endif()
find_path(HYPERPLANE_DEFLATE_INCLUDE libdeflate.h)
find_library(HYPERPLANE_DEFLATE_LIBRARY ${deflate_name})
mark_as_advanced(HYPERPLANE_DEFLATE_INCLUDE HYPERPLANE_DEFLATE_LIBRARY)
if(HYPERPLANE_DEFLATE_INCLUDE AND HYPERPLANE_DEFLATE_LIBRARY)
  set(HYPERPLANE_DEFLATE ON)
  message(STATUS "libdeflate: ${HYPERPLANE_DEFLATE_LIBRARY}")
else()
  set(HYPERPLANE_DEFLATE OFF)
  message(STATUS "libdeflate: not found, so zlib expands gzip files, more slowly (libdeflate-dev)")
endif()
