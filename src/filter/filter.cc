#include "tamis/filter.h"
