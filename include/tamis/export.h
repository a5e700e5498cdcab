// Symbol visibility: the shared libraries hide everything else.
#pragma once

/// Marks every public function, and every public class with functions in a .cc. tests/packaging/exports_test.py fails
/// if one is missing.
#define TAMIS_EXPORT [[gnu::visibility("default")]]
