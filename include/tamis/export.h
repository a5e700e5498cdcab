// What the shared libraries show; everything else in them is hidden.
#pragma once

/// Before every public class that has functions of its own in a .cc, and every public function.
/// tests/packaging/exports_test.py fails where one is forgotten.
#define TAMIS_EXPORT [[gnu::visibility("default")]]
