#include "layout/samples.h"
namespace tamis::layout {
Report bench_memtable(const Settings&) { return {}; }
}  // namespace tamis::layout
