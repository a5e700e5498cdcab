#include "tamis/filter.h"
#include <gtest/gtest.h>
