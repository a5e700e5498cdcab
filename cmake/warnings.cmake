# Warnings for our own targets. -Werror only in the presets that build tests (TAMIS_WERROR), so that a newer compiler
# does not break a user's build.
option(TAMIS_WERROR "Treat warnings as errors" OFF)

function(tamis_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
    -Wcast-align -Woverloaded-virtual -Wdouble-promotion)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -Wthread-safety)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # g++ 12 sees overlaps in "text" + std::string (PR 105651).
  endif()
  if(TAMIS_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# tamis_c_program(TARGET LIBRARY): a program in C11, which warns of anything that is not. The linker of C++ adds what the
# static library needs.
function(tamis_c_program target library)
  set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF LINKER_LANGUAGE CXX)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic)
  if(TAMIS_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  target_link_libraries(${target} PRIVATE ${library})
endfunction()
