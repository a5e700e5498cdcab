// All of tamis: the store, the filters, and other systems' filter files. Including only the header you need compiles
// faster: <tamis/db.h>, <tamis/filter.h> or <tamis/foreign.h>.
#pragma once

#include "tamis/batch.h"
#include "tamis/call_options.h"
#include "tamis/caller.h"
#include "tamis/db.h"
#include "tamis/environment.h"
#include "tamis/export.h"
#include "tamis/filter.h"
#include "tamis/filter_math.h"
#include "tamis/foreign.h"
#include "tamis/iterator.h"
#include "tamis/keyspace.h"
#include "tamis/options.h"
#include "tamis/pinned_value.h"
#include "tamis/prefix_rule.h"
#include "tamis/scale.h"
#include "tamis/snapshot.h"
#include "tamis/stats.h"
#include "tamis/status.h"
#include "tamis/table_file.h"
#include "tamis/version.h"
