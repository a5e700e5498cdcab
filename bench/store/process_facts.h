// What the kernel knows about this process and its files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::bench {

/// Bytes of pages dirtied by the process, through calls or mappings; 0 where the kernel does not tell.
std::uint64_t bytes_written();
/// Page faults that had to wait for storage.
std::uint64_t major_faults();
/// Memory that is no file's, in bytes.
std::uint64_t anonymous_memory();
/// Gives freed memory back first, so that differences mean something.
void trim_memory();
/// Bytes that the files of a folder, those with this ending, take on disk; holes take none.
std::uint64_t disk_bytes(const std::string& directory, std::string_view ending = {});
/// Asks the kernel to forget what it has cached of the files of a folder.
void drop_cached_pages(const std::string& directory);

}  // namespace tamis::bench
