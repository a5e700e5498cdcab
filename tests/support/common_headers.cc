// Only the headers that most tests include: see tamis_test_headers in tests/CMakeLists.txt.
