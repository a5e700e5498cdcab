// The kernel's figures about this process and its files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::bench {

/// Bytes that the process has had fetched from storage; 0 if the kernel does not tell.
std::uint64_t bytes_read();
/// Bytes of pages dirtied by the process, through calls or mappings; 0 if the kernel does not tell.
std::uint64_t bytes_written();
/// Page faults that had to wait for storage.
std::uint64_t major_faults();
/// The size of a file mapped into the process whose path contains this; 0 if there is none.
std::uint64_t mapped_file_bytes(std::string_view part_of_path);
/// Anonymous memory, in bytes.
std::uint64_t anonymous_memory();
/// Returns freed memory to the kernel first, so that differences are meaningful.
void trim_memory();
/// Disk space of a folder's files with this ending; holes take none.
std::uint64_t disk_bytes(const std::string& directory, std::string_view ending = {});
/// Asks the kernel to drop the cached pages of a folder's files.
void drop_cached_pages(const std::string& directory);

}  // namespace tamis::bench
