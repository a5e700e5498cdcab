// Other systems' filter files in C: <tamis/foreign.h> and docs/FOREIGN.md say which.
#pragma once

#include "tamis/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The name of one format; NULL after the last. `index` counts from 0.
TAMIS_API const char* tamis_foreign_format_name(size_t index, size_t* size);

/// Parameters that a file may lack.
typedef struct tamis_foreign_options tamis_foreign_options_t;
/// None set: the format is detected.
TAMIS_API tamis_foreign_options_t* tamis_foreign_options_create(void);
/// Frees the options; nothing refers to them.
TAMIS_API void tamis_foreign_options_free(tamis_foreign_options_t* options);
/// The format, a name of tamis_foreign_format_name.
TAMIS_API void tamis_foreign_options_set_format(tamis_foreign_options_t* options, const char* format);
/// The number of bits.
TAMIS_API void tamis_foreign_options_set_bits(tamis_foreign_options_t* options, uint64_t bits);
/// The number of probes per key.
TAMIS_API void tamis_foreign_options_set_hashes(tamis_foreign_options_t* options, uint32_t hashes);
/// parquet: the column, as a path in the schema, joined by '.'.
TAMIS_API void tamis_foreign_options_set_column(tamis_foreign_options_t* options, const char* column);
/// parquet: the row group.
TAMIS_API void tamis_foreign_options_set_row_group(tamis_foreign_options_t* options, uint32_t row_group);

/// A filter written by another system.
///
/// Threads: any number may probe concurrently.
typedef struct tamis_foreign_filter tamis_foreign_filter_t;
/// Maps a file and checks it; NULL: no options. TAMIS_INVALID_ARGUMENT names the formats if several fit.
TAMIS_API tamis_code_t tamis_foreign_filter_open(const char* path, const tamis_foreign_options_t* options,
                                                 tamis_foreign_filter_t** filter, char** errptr);
/// The same for bytes in memory, which are copied.
TAMIS_API tamis_code_t tamis_foreign_filter_from_bytes(const void* bytes, size_t size,
                                                       const tamis_foreign_options_t* options,
                                                       tamis_foreign_filter_t** filter, char** errptr);
/// Releases the bytes.
TAMIS_API void tamis_foreign_filter_free(tamis_foreign_filter_t* filter);
/// False: the key was never added. Pass the bytes that the other system hashes.
TAMIS_API bool tamis_foreign_filter_may_contain(const tamis_foreign_filter_t* filter, const char* key, size_t key_size);
/// What header and bits reveal, as a JSON object; free it with tamis_free.
TAMIS_API char* tamis_foreign_filter_info_json(const tamis_foreign_filter_t* filter);
/// The same bits as a file of another format, if that format sets the same bits; free it with tamis_free.
TAMIS_API tamis_code_t tamis_foreign_filter_convert(const tamis_foreign_filter_t* filter, const char* format,
                                                    char** bytes, size_t* size, char** errptr);

#ifdef __cplusplus
}
#endif
