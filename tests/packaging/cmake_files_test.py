#!/usr/bin/env python3
"""Checks what the build files promise to those who build from source.

    cmake_files_test.py SOURCE_FOLDER

CMake 3.22 (Ubuntu 22.04) can read them: the presets have version 3, and no file requires a newer CMake or uses its
features. Only the presets that build tests set -Werror.
"""
import json
import pathlib
import re
import sys

# What build files like ours could use of CMake 3.23 to 3.25, from the release notes.
NEWER = re.compile(r"\b(?:end)?block\(|\bPROPAGATE\b|\bFILE_SET\b|\bPATH_EQUAL\b|\bWARNING_AS_ERROR\b|COMPILE_WARNING_AS_ERROR"
                   r"|\b(?:CMAKE_HOST_)?(?:LINUX|BSD)\b|\$<(?:LINK_LIBRARY|LINK_GROUP|PATH|PATH_EQUAL)\b|TARGETS_GLOBAL"
                   r"|find_package\([^)]*\bGLOBAL\b|\bSYSTEM ON\b|EXPORT_NO_SYSTEM|SOURCE_FROM_")
MINIMUM = re.compile(r"cmake_minimum_required\(VERSION (\d+)\.(\d+)")


def check_file(path, errors):
    text = re.sub(r"#.*", "", path.read_text())
    for found in MINIMUM.finditer(text):
        if (int(found.group(1)), int(found.group(2))) > (3, 22):
            errors.append(f"{path}: {found.group(0)}: newer than 3.22")
    for found in NEWER.finditer(text):
        errors.append(f"{path}: {found.group(0)}: not in CMake 3.22")


def value_of(preset, name, presets):
    """A cache variable of a preset, its own or inherited."""
    if name in preset.get("cacheVariables", {}):
        return preset["cacheVariables"][name]
    return value_of(presets[preset["inherits"]], name, presets) if "inherits" in preset else None


def check_presets(path, errors):
    content = json.loads(path.read_text())
    if content["version"] > 3:
        errors.append(f"{path}: version {content['version']}: CMake 3.22 reads up to 3")
    presets = {preset["name"]: preset for preset in content["configurePresets"]}
    for name, preset in presets.items():
        if preset.get("hidden"):
            continue
        builds_tests = value_of(preset, "TAMIS_TESTS", presets) == "ON"
        if (value_of(preset, "TAMIS_WERROR", presets) == "ON") != builds_tests:
            errors.append(f"{path}: {name}: TAMIS_WERROR is for the presets that build tests")
    return len(presets)


def main():
    source = pathlib.Path(sys.argv[1])
    errors = []
    files = [source / "CMakeLists.txt"]
    for folder in ("apps", "bench", "cmake", "examples", "fuzz", "tests"):
        files += [path for path in sorted((source / folder).rglob("*"))
                  if path.name == "CMakeLists.txt" or path.name.endswith((".cmake", ".cmake.in"))]
    for path in files:
        check_file(path, errors)
    presets = check_presets(source / "CMakePresets.json", errors)
    if len(files) < 10 or presets < 5:
        errors.append(f"only {len(files)} files and {presets} presets were found")
    print("\n".join(errors))
    print(f"{len(files)} files, {presets} presets, {len(errors)} errors")
    sys.exit(1 if errors else 0)


main()
