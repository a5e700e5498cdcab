#!/bin/bash
# One way to use tamis from a third-party program. Usage, by ctest: packaging_test.sh WAY
# In the environment: SOURCE and BUILD of tamis, WORK, CC, CXX, CMAKE, LAUNCHER.
set -euo pipefail
way=$1
prefix=$WORK/prefix
here=$SOURCE/tests/packaging
mkdir -p "$WORK"
rm -rf "${WORK:?}/$way"

fail() {
  printf 'FAILED: %s: %s\n' "$way" "$*" >&2
  exit 1
}

# expect_output OUTPUT COMMAND...
expect_output() {
  local expected=$1 output
  shift
  output=$("$@") || fail "$* ended with status $?"
  [ "$output" = "$expected" ] || fail "$* printed '$output'"
}

# run_consumers FOLDER: runs the programs built there.
run_consumers() {
  if [ -x "$1/consumer" ]; then
    expect_output $'paris: 2102650\n7: maybe, x: no' "$1/consumer" "$1/store"
    expect_output 'paris: 2102650' "$1/consumer_c" "$1/store"
  fi
  expect_output 'apple: maybe' "$1/filter_only"
}

# loads PROGRAM LIBRARY: whether the program needs it at run time. Not "readelf | grep -q", which breaks the pipe.
loads() { grep -qF "[$2]" <<<"$(readelf -d "$1")"; }

# loads_only FILE LIBRARY...: the program or library needs no other at run time. Each costs a command's start 0.1 ms and
# more (docs/decisions/0053-own-dispatch.md).
loads_only() {
  local file=$1 library
  shift
  for library in $(readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\.so\..*\]/\1/p'); do
    [[ " $* ld-linux-x86-64 ld-linux-aarch64 libc libgcc_s libm libstdc++ " == *" $library "* ]] || fail "${file##*/} loads $library"
  done
}

# Whether it was built: that takes LevelDB's headers.
has_leveldb() { [ -e "$BUILD/dropin/leveldb/libleveldb.so.1d" ]; }
# The same: it takes cpp-httplib.
has_web() { [ -e "$BUILD/tamis-web" ]; }

# Moves the installation: it must know neither where it was nor where it was built.
install_tree() {
  rm -rf "$prefix" "$WORK/elsewhere"
  "$CMAKE" --install "$BUILD" --prefix "$WORK/elsewhere" >/dev/null
  mv "$WORK/elsewhere" "$prefix"
  if grep -rlF -e "$SOURCE" -e "$BUILD" -e "$WORK" -e /usr/lib "$prefix/lib/cmake" "$prefix/lib/pkgconfig"; then
    fail "these files name folders of the machine that built them"
  fi
  local file
  for file in bin/tamis lib/libtamis.a lib/libtamis-filter.a lib/libtamis.so lib/libtamis-filter.so include/tamis/db.h \
      include/tamis/tamis.h include/tamis/tamis.hpp include/tamis/c/db.h \
      share/man/man1/tamis.1 share/tamis/grafana/tamis.json share/bash-completion/completions/tamis; do
    [ -s "$prefix/$file" ] || fail "$file was not installed"
  done
  for file in tamis tamis-filter; do
    grep -qF "[lib$file.so.0]" <<<"$(readelf -d "$prefix/lib/lib$file.so" | grep SONAME)" || fail "lib$file.so has another SONAME"
  done
  if has_leveldb; then
    file=$(echo "$prefix"/lib*/tamis/leveldb/libleveldb.so.1d)
    grep -qF "[libleveldb.so.1d]" <<<"$(readelf -d "$file" | grep SONAME)" || fail "libleveldb.so.1d has another SONAME"
    loads_only "$file" libfmt liblz4 libzstd liburing
    expect_output "$(dirname "$(readlink -f "$file")")" "$prefix/bin/tamis-as-leveldb" sh -c 'echo "$LD_LIBRARY_PATH"'
    [ ! -e "$(dirname "$file")/../../libleveldb.so.1d" ] || fail "it is where all programs look for LevelDB"
  fi
  loads_only "$prefix/lib/redis/modules/libtamis-redis.so" libfmt
  [ -x "$prefix/lib/redis/modules/libtamis-redis.so" ] || fail "Redis loads no module that is not executable"
  expect_output "$("$BUILD/tamis" version)" "$prefix/bin/tamis" version
  loads_only "$prefix/bin/tamis" libfmt liblz4 libzstd liburing
  loads_only "$prefix/lib/libtamis.so" libfmt liblz4 libzstd liburing
}

# find_package BUILD_SHARED_LIBS [PROJECT]
find_package() {
  "$CMAKE" -S "$here/${2:-find_package}" -B "$WORK/$way" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$CXX" \
    -DBUILD_SHARED_LIBS="$1" >/dev/null
  "$CMAKE" --build "$WORK/$way" >"$WORK/$way.log" || { cat "$WORK/$way.log"; fail "the build failed"; }
  run_consumers "$WORK/$way"
}

# What the filter library must not need.
stores_only='lz4|zstd|liburing|_uring|snappy|nlohmann'

# only_filters FILE: none of these names is in a file that CMake wrote.
only_filters() { ! grep -qiE "$stores_only" "$1" || fail "$1 asks for $(grep -iEm 1 "$stores_only" "$1")"; }

# filter_needs: xxhash, highway and fmt to build, fmt alone to use it, whatever else is installed.
filter_needs() {
  "$CMAKE" -S "$SOURCE" -B "$WORK/$way.source" -G Ninja -DTAMIS_STORE=OFF -DCMAKE_CXX_COMPILER="$CXX" >/dev/null
  only_filters "$WORK/$way.source/CMakeCache.txt"
  local headers
  headers=$("$CMAKE" --build "$BUILD" -- -t deps | awk '/^[^ ]/ { ours = /tamis_filter\.dir/ } ours' | grep -v -e '^[^ ]' -e /src/)
  [ -n "$headers" ] || fail "no object of the filter library was found"
  ! grep -qE "$stores_only" <<<"$headers" || fail "a header of others is included: $(grep -E "$stores_only" <<<"$headers")"
  loads_only "$prefix/lib/libtamis-filter.so" libfmt
  if command -v pkg-config >/dev/null; then
    expect_output fmt env PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --print-requires-private tamis-filter
  fi
  find_package OFF find_filter
  only_filters "$WORK/$way/CMakeCache.txt"
}

# filter_alone: built, installed and used without a store.
filter_alone() {
  prefix=$WORK/$way.prefix
  rm -rf "$prefix"
  "$CMAKE" -S "$SOURCE" -B "$WORK/$way.source" -G Ninja -DTAMIS_STORE=OFF -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$LAUNCHER" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 >/dev/null
  "$CMAKE" --build "$WORK/$way.source" >"$WORK/$way.log" || { cat "$WORK/$way.log"; fail "the build failed"; }
  "$CMAKE" --install "$WORK/$way.source" --prefix "$prefix" >/dev/null
  find_package OFF find_filter
  local header
  for header in db tamis keyspace c/db c/keyspace; do
    [ ! -e "$prefix/include/tamis/$header.h" ] || fail "headers of the store were installed: $header.h"
  done
  [ -e "$prefix/include/tamis/c/filter.h" ] || fail "the C API of the filters was not installed"
  [ ! -e "$prefix/lib/pkgconfig/tamis.pc" ] || fail "tamis.pc was installed"
  sed 's/COMPONENTS filter/COMPONENTS store/' "$here/find_filter/CMakeLists.txt" >"$WORK/$way/CMakeLists.txt"
  if "$CMAKE" -S "$WORK/$way" -B "$WORK/$way/store" -DCMAKE_PREFIX_PATH="$prefix" >"$WORK/$way.log" 2>&1; then
    fail "a store was found that was not installed"
  fi
  grep -qF "has not all of the components asked for: store" "$WORK/$way.log" || fail "the reason is missing"
}

# deb PACKAGE: it exists, with these contents and dependencies.
deb() { cat "$WORK/$way/$1.contents" "$WORK/$way/$1.depends"; }

make_debs() {
  (cd "$BUILD" && cpack -G DEB -B "$WORK/$way" >"$WORK/$way.log" 2>&1) || { cat "$WORK/$way.log"; fail "cpack failed"; }
  local package
  local packages=(tamis libtamis0 libtamis-dev libtamis-redis)
  has_leveldb && packages+=(libtamis-leveldb)
  has_web && packages+=(tamis-web)
  for package in "${packages[@]}"; do
    dpkg-deb -c "$WORK/$way/$package"_*.deb >"$WORK/$way/$package.contents"
    dpkg-deb -f "$WORK/$way/$package"_*.deb Depends >"$WORK/$way/$package.depends"
  done
}

# has PACKAGE TEXT...
has() {
  local package=$1 text
  shift
  for text in "$@"; do grep -qF -- "$text" <<<"$(deb "$package")" || fail "$package: no $text"; done
}

# add_subdirectory: only configures; what it must not change is checked there.
add_subdirectory() {
  "$CMAKE" -S "$here/add_subdirectory" -B "$WORK/$way" -G Ninja -DTAMIS="$SOURCE" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$LAUNCHER" "$@" >/dev/null
}

case $way in
  install) install_tree ;;
  find_package_static)
    find_package OFF
    if loads "$WORK/$way/consumer" libtamis.so.0; then fail "it was linked with the shared library"; fi
    ;;
  find_package_shared)
    find_package ON
    loads "$WORK/$way/consumer" libtamis.so.0 || fail "it was not linked with the shared library"
    loads "$WORK/$way/filter_only" libtamis-filter.so.0 || fail "it was not linked with the shared library"
    ;;
  filter_needs) filter_needs ;;
  filter_alone) filter_alone ;;
  pkg_config_static)
    command -v pkg-config >/dev/null || { echo "skipped: there is no pkg-config"; exit 77; }
    mkdir -p "$WORK/$way/lib/pkgconfig"
    # A linker prefers the shared library if it finds both: only the static ones are here.
    ln -s "$prefix"/lib/*.a "$WORK/$way/lib"
    ln -s "$prefix"/include "$WORK/$way"
    cp "$prefix"/lib/pkgconfig/*.pc "$WORK/$way/lib/pkgconfig"
    export PKG_CONFIG_PATH=$WORK/$way/lib/pkgconfig
    cd "$here/consumer"
    folder=$WORK/$way
    # shellcheck disable=SC2046
    {
      # [pkg_config_static]
      $CXX -std=c++20 main.cc -o "$folder/consumer" $(pkg-config --static --cflags --libs tamis)
      $CC -std=c11 main.c -o "$folder/consumer_c" $(pkg-config --static --cflags --libs tamis)
      $CXX -std=c++20 filter_only.cc -o "$folder/filter_only" $(pkg-config --static --cflags --libs tamis-filter)
      # [/pkg_config_static]
    }
    run_consumers "$folder"
    if loads "$folder/consumer" libtamis.so.0; then fail "it was linked with the shared library"; fi
    ;;
  pkg_config_shared)
    command -v pkg-config >/dev/null || { echo "skipped: there is no pkg-config"; exit 77; }
    mkdir -p "$WORK/$way"
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
    cd "$here/consumer"
    folder=$WORK/$way
    # shellcheck disable=SC2046
    {
      # [pkg_config]
      $CXX -std=c++20 main.cc -o "$folder/consumer" $(pkg-config --cflags --libs tamis)
      $CC -std=c11 main.c -o "$folder/consumer_c" $(pkg-config --cflags --libs tamis)
      $CXX -std=c++20 filter_only.cc -o "$folder/filter_only" $(pkg-config --cflags --libs tamis-filter)
      # [/pkg_config]
    }
    run_consumers "$folder"
    loads "$folder/consumer" libtamis.so.0 || fail "it was not linked with the shared library"
    if loads "$folder/consumer" libfmt.so.9; then fail "a private dependency was linked as well"; fi
    ;;
  deb)
    for tool in dpkg-shlibdeps file; do
      command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
    done
    make_debs
    has tamis /usr/bin/tamis man1/tamis.1 completions/tamis libstdc++6 libfmt9 libzstd1
    has libtamis0 libtamis.so.0.1.0 libtamis-filter.so.0.1.0 libzstd1
    has libtamis-dev tamis/db.h tamis/tamis.h tamis/tamis.hpp tamis/c/db.h libtamis.a libtamis.so tamis-config.cmake tamis.pc "libtamis0 (= 0.1.0-1)" libzstd-dev
    has libtamis-redis -rwxr-xr-x /usr/lib/redis/modules/libtamis-redis.so libfmt9 doc/libtamis-redis/copyright
    if has_leveldb; then
      has libtamis-leveldb /usr/bin/tamis-as-leveldb tamis/leveldb/libleveldb.so.1d libstdc++6 doc/libtamis-leveldb/copyright
      ! grep -qF libleveldb1d "$WORK/$way/libtamis-leveldb.depends" || fail "libtamis-leveldb depends on what it stands in for"
    fi
    if has_web; then
      has tamis-web /usr/bin/tamis-web "tamis (= 0.1.0-1)" libcpp-httplib
      ! grep -qF httplib "$WORK/$way/tamis.depends" || fail "tamis depends on an HTTP server"
    fi
    for package in tamis libtamis0 libtamis-dev; do
      ! grep -qF libhwy "$WORK/$way/$package.depends" || fail "$package depends on libhwy, which is slow to load"
    done
    ! grep -qF tamis-bench <<<"$(deb tamis)" || fail "tamis holds the program that links the rivals"
    ;;
  add_subdirectory_is_a_quiet_guest)
    add_subdirectory
    add_subdirectory -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=ON -DEXPECTED_CMAKE_BUILD_TYPE=Debug -DEXPECTED_BUILD_SHARED_LIBS=ON
    ;;
  add_subdirectory)
    add_subdirectory
    "$CMAKE" --build "$WORK/$way" >"$WORK/$way.log" || { cat "$WORK/$way.log"; fail "the build failed"; }
    run_consumers "$WORK/$way"
    ;;
  *) fail "there is no such way" ;;
esac
echo "ok"
