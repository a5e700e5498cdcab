# Libraries without a CMake package of their own, as targets tamis::NAME. Read by our build, and by find_package(tamis)
# for static libraries, so that an installation holds no path of the machine that built it.

# tamis_find_plain_library(NAME HEADER [REQUIRED]): tamis::NAME, if a library of that name with that header exists.
# TAMIS_PLAIN_LIBRARIES collects "NAME HEADER" of those found: the config file looks for the same.
macro(tamis_find_plain_library name header)
  if(NOT TARGET tamis::${name})
    find_path(TAMIS_${name}_INCLUDE ${header} ${ARGN})
    find_library(TAMIS_${name}_LIBRARY ${name} ${ARGN})
    mark_as_advanced(TAMIS_${name}_INCLUDE TAMIS_${name}_LIBRARY)
    if(TAMIS_${name}_INCLUDE AND TAMIS_${name}_LIBRARY)
      add_library(tamis::${name} UNKNOWN IMPORTED)
      set_target_properties(tamis::${name} PROPERTIES IMPORTED_LOCATION "${TAMIS_${name}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${TAMIS_${name}_INCLUDE}")
    endif()
  endif()
  if(TARGET tamis::${name})
    list(APPEND TAMIS_PLAIN_LIBRARIES "${name} ${header}")
  endif()
endmacro()
