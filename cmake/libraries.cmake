# Each library is compiled once, as a static one; the shared one is linked from the same objects.

set(TAMIS_SOVERSION ${PROJECT_VERSION_MAJOR})
if(BUILD_SHARED_LIBS OR TAMIS_BOTH_LIBRARIES)
  set(TAMIS_HAS_SHARED ON)
endif()
if(NOT BUILD_SHARED_LIBS OR TAMIS_BOTH_LIBRARIES)
  set(TAMIS_HAS_STATIC ON)
endif()

# tamis_library(NAME STATIC_TARGET OUTPUT_NAME FILE [CONTAINS STATIC_TARGET...]): tamis::NAME, which is the static
# target or its shared twin, depending on BUILD_SHARED_LIBS. The twin also holds the objects of CONTAINS: one shared
# library cannot call hidden functions of another.
function(tamis_library name static)
  cmake_parse_arguments(PARSE_ARGV 2 library "" OUTPUT_NAME CONTAINS)
  target_compile_features(${static} PUBLIC cxx_std_20)
  # Rates are computed with doubles and stored in filters. Fused multiplications round differently, and a compiler uses
  # them where the processor has them: on arm64, or with -march=native.
  target_compile_options(${static} PRIVATE -ffp-contract=off)
  target_include_directories(${static} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  set_target_properties(${static} PROPERTIES OUTPUT_NAME ${library_OUTPUT_NAME} EXPORT_NAME ${name}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(TAMIS_HAS_SHARED)
    tamis_shared_library(${name} ${static} ${library_OUTPUT_NAME} ${library_CONTAINS})
  endif()
  if(BUILD_SHARED_LIBS)
    add_library(tamis::${name} ALIAS ${static}_shared)
  else()
    add_library(tamis::${name} ALIAS ${static})
  endif()
  if(NOT TAMIS_HAS_STATIC)
    set_target_properties(${static} PROPERTIES EXCLUDE_FROM_ALL ON)  # Our tests still use its internals.
  endif()
endfunction()

# tamis_write_exports(FILE NAME): the linker's map of tamis::NAME: the C++ symbols, and the C functions by version.
function(tamis_write_exports file name)
  set(symbols ${PROJECT_SOURCE_DIR}/src/capi/symbols.txt)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${symbols} ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  file(READ ${PROJECT_SOURCE_DIR}/cmake/exports.map map)
  set(libraries filter|store)
  if(name STREQUAL "filter")
    set(libraries filter)
  endif()
  file(STRINGS ${symbols} lines REGEX "^TAMIS_[0-9.]+ (${libraries}) ")
  list(TRANSFORM lines REPLACE " .*" "" OUTPUT_VARIABLE versions)
  list(REMOVE_DUPLICATES versions)
  foreach(version ${versions})
    set(names ${lines})
    list(FILTER names INCLUDE REGEX "^${version} ")
    list(TRANSFORM names REPLACE "^.* " "    ")
    string(REPLACE ";" ";\n" names "${names}")
    string(APPEND map "${version} {\n  global:\n${names};\n};\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${map}" @ONLY)
endfunction()

function(tamis_shared_library name static output_name)
  set(shared ${static}_shared)
  set(exports ${PROJECT_BINARY_DIR}/${output_name}.map)
  tamis_write_exports(${exports} ${name})
  add_library(${shared} SHARED)
  target_compile_features(${shared} PUBLIC cxx_std_20)
  target_include_directories(${shared} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  foreach(part ${static} ${ARGN})
    target_sources(${shared} PRIVATE $<TARGET_OBJECTS:${part}>)
    get_target_property(needs ${part} LINK_LIBRARIES)
    list(REMOVE_ITEM needs ${static} ${ARGN})
    target_link_libraries(${shared} PRIVATE ${needs})
  endforeach()
  target_link_options(${shared} PRIVATE -Wl,--version-script=${exports})
  if(NOT TAMIS_SANITIZE)
    target_link_options(${shared} PRIVATE -Wl,--no-undefined)  # Only programs link the sanitizers' runtime.
  endif()
  set_target_properties(${shared} PROPERTIES OUTPUT_NAME ${output_name} EXPORT_NAME ${name} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${TAMIS_SOVERSION} LINK_DEPENDS ${exports})
endfunction()
