# cpack -G DEB: tamis (the command), libtamis0 (the shared libraries), libtamis-dev, libtamis-leveldb,
# libtamis-redis, tamis-web. scripts/package runs it.
set(CPACK_PACKAGE_NAME tamis)
set(CPACK_PACKAGE_VENDOR "The tamis authors")
set(CPACK_PACKAGE_CONTACT "The tamis authors")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL command runtime development)
if(TARGET tamis_leveldb)
  list(APPEND CPACK_COMPONENTS_ALL leveldb)
endif()
if(TARGET tamis_redis)
  list(APPEND CPACK_COMPONENTS_ALL redis)
endif()

if(TARGET tamis-web)
  list(APPEND CPACK_COMPONENTS_ALL web)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(library_package libtamis${TAMIS_SOVERSION})
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME tamis)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION database)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS libcurl4)  # Opened when a bucket is.
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "The command: loads, reads, explains, verifies and repairs stores; sizes, builds,
probes and inspects filters, those of other systems included.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The shared libraries: an embedded, durable, ordered store, and its filters alone.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtamis-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "For programs that use it: headers, static libraries, and files for find_package
and pkg-config.")
# What static libraries are linked with; pkg-config requires all of it even for the shared ones.
set(development_depends "${library_package} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})" libfmt-dev)
foreach(library ${TAMIS_PLAIN_LIBRARIES})
  string(REGEX REPLACE " .*" "" library ${library})
  list(APPEND development_depends lib${library}-dev)
endforeach()
list(JOIN development_depends ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_LEVELDB_PACKAGE_NAME libtamis-leveldb)
set(CPACK_DEBIAN_LEVELDB_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LEVELDB_DESCRIPTION "For programs that use LevelDB: tamis-as-leveldb runs them with a tamis store
behind LevelDB's interface.")
set(CPACK_DEBIAN_REDIS_PACKAGE_NAME libtamis-redis)
set(CPACK_DEBIAN_REDIS_PACKAGE_SECTION database)
set(CPACK_DEBIAN_REDIS_PACKAGE_RECOMMENDS "redis-server (>= 5:7.0)")
set(CPACK_COMPONENT_REDIS_DESCRIPTION "A module for redis-server: Bloom and cuckoo filters with the commands of RedisBloom
(BF.*, CF.*).")
set(CPACK_DEBIAN_WEB_PACKAGE_NAME tamis-web)
set(CPACK_DEBIAN_WEB_PACKAGE_SECTION database)
set(CPACK_DEBIAN_WEB_PACKAGE_DEPENDS "tamis (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_COMPONENT_WEB_DESCRIPTION "Shows a store in a browser on this machine: tamis web.")

# The licence, where Debian looks for it.
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
    RENAME copyright COMPONENT ${component})
endforeach()
include(CPack)
