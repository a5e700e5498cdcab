// tamis for C: the store, the filters, and other systems' filter files. <tamis/c/filter.h> and <tamis/c/foreign.h>
// alone need only the filter library. C++ programs include <tamis/tamis.hpp>.
#pragma once

#include "tamis/c/batch.h"
#include "tamis/c/db.h"
#include "tamis/c/filter.h"
#include "tamis/c/foreign.h"
#include "tamis/c/iterator.h"
#include "tamis/c/keyspace.h"
#include "tamis/c/options.h"
#include "tamis/c/status.h"
#include "tamis/c/transaction.h"
#include "tamis/version.h"
