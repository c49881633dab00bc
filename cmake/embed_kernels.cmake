# SPDX-License-Identifier: BSD-3-Clause
# Writes OUTPUT: the text of each FILE as a rtc::KernelText named like the file (core/device/rtc.hpp).
set(content "#include \"core/device/rtc.hpp\"\n\nnamespace hyperplane::rtc {\n")
foreach(file ${FILES})
  string(MAKE_C_IDENTIFIER ${file} identifier)
  file(READ ${FOLDER}/${file} text)
  string(APPEND content "extern const KernelText ${identifier};\nconst KernelText ${identifier}{\"${file}\", R\"kernel(${text})kernel\"};\n")
endforeach()
string(APPEND content "}  // namespace hyperplane::rtc\n")
file(WRITE ${OUTPUT} "${content}")
