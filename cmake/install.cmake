# cmake --install. Components: command, runtime (shared libraries), development (headers, static libraries, package
# files), leveldb (libleveldb.so.1d with a store behind it, in a folder of its own, and tamis-as-leveldb), redis (the
# module for redis-server).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
set(package_files ${PROJECT_BINARY_DIR}/package_files)

set(parts filter)
if(TAMIS_STORE)
  list(APPEND parts store)
else()
  set(headers_left_out REGEX
    "/(batch|bucket|call_options|caller|db|environment|expiry|iterator|keyspace|leveldb_folder|merge|options|pinned_value|prometheus|scale|snapshot|stats|table_file|tamis|transaction)\\.(h|hpp)$" EXCLUDE)
endif()

# One export set for each library, so that the filters alone need nothing of the store's. Static and shared ones have
# the same target names: the config file reads one of them.
function(tamis_install_library part sort target)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${target} EXPORT tamis-${part}-${sort}
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
    ARCHIVE COMPONENT development)
  install(EXPORT tamis-${part}-${sort} NAMESPACE tamis:: DESTINATION ${package_dir} COMPONENT development)
endfunction()
foreach(part ${parts})
  if(TAMIS_HAS_STATIC)
    tamis_install_library(${part} static tamis_${part})
  endif()
  if(TAMIS_HAS_SHARED)
    tamis_install_library(${part} shared tamis_${part}_shared)
  endif()
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tamis TYPE INCLUDE COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" ${headers_left_out})

# find_package(tamis CONFIG). Before 1.0 a new minor version may change the API.
list(TRANSFORM TAMIS_PLAIN_LIBRARIES REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE TAMIS_PLAIN_LIBRARIES_QUOTED)
list(JOIN TAMIS_PLAIN_LIBRARIES_QUOTED " " TAMIS_PLAIN_LIBRARIES_QUOTED)
configure_package_config_file(cmake/tamis-config.cmake.in ${package_files}/tamis-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${package_files}/tamis-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${package_files}/tamis-config.cmake ${package_files}/tamis-config-version.cmake cmake/plain_libraries.cmake
  DESTINATION ${package_dir} COMPONENT development)

# pkg-config. The prefix is relative to the file, so that an installation can be moved.
# The pkg-config names of the libraries that a target links.
function(tamis_pkg_config_names target variable)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  list(FILTER libraries EXCLUDE REGEX "^\\$<BUILD_INTERFACE|Threads::")
  list(TRANSFORM libraries REPLACE "^tamis_filter$" "tamis-filter")
  list(TRANSFORM libraries REPLACE "^fmt::fmt$" "fmt")
  list(TRANSFORM libraries REPLACE "^tamis::" "lib")  # The plain ones: liblz4, libzstd.
  list(JOIN libraries " " names)
  set(${variable} ${names} PARENT_SCOPE)
endfunction()
set(pkg_config_files tamis-filter)
tamis_pkg_config_names(tamis_filter FILTER_REQUIRES)
if(TAMIS_STORE)
  list(APPEND pkg_config_files tamis)
  tamis_pkg_config_names(tamis_store STORE_REQUIRES)
endif()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE LIBDIR_IN_PREFIX)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE INCLUDEDIR_IN_PREFIX)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE PREFIX_FROM_HERE)
foreach(name ${pkg_config_files})
  configure_file(cmake/${name}.pc.in ${package_files}/${name}.pc @ONLY)
  install(FILES ${package_files}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

# The command, its manual page and completions, where man and the shells look for them.
if(TARGET tamis)
  install(TARGETS tamis RUNTIME COMPONENT command)
  install(FILES ${PROJECT_SOURCE_DIR}/share/grafana/tamis.json DESTINATION ${CMAKE_INSTALL_DATADIR}/tamis/grafana COMPONENT command)
endif()
if(TARGET tamis-import-rocksdb)
  install(TARGETS tamis-import-rocksdb RUNTIME COMPONENT import_rocksdb OPTIONAL)  # In no package: it needs RocksDB.
endif()
if(TARGET tamis_said)
  set(TAMIS_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh looks for completions")
  set(said ${PROJECT_BINARY_DIR}/apps/cli/said)
  install(FILES ${said}/tamis.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  install(FILES ${said}/bash/tamis DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
  install(FILES ${said}/zsh/_tamis DESTINATION ${TAMIS_ZSH_COMPLETIONS} COMPONENT command)
  install(FILES ${said}/fish/tamis.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
endif()

# Where Debian's packages have modules of Redis, which loads none that is not executable.
if(TARGET tamis_redis)
  install(TARGETS tamis_redis LIBRARY DESTINATION lib/redis/modules COMPONENT redis PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()

# Its page, a program and a package of its own: it links an HTTP server.
if(TARGET tamis-web)
  install(TARGETS tamis-web RUNTIME COMPONENT web)
endif()

# LevelDB's own library stays what programs load by themselves.
if(TARGET tamis_leveldb)
  set(leveldb_folder ${CMAKE_INSTALL_FULL_LIBDIR}/tamis/leveldb)
  install(TARGETS tamis_leveldb LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tamis/leveldb COMPONENT leveldb NAMELINK_SKIP)
  cmake_path(RELATIVE_PATH leveldb_folder BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE leveldb_folder)
  tamis_as_leveldb(${package_files}/tamis-as-leveldb ${leveldb_folder})
  install(PROGRAMS ${package_files}/tamis-as-leveldb TYPE BIN COMPONENT leveldb)
endif()
