// The commands: bloom_commands.cc and cuckoo_commands.cc.
#pragma once

#include "call.h"

namespace tamis_redis::commands {

int bf_reserve(Call& call);
int bf_add(Call& call);
int bf_madd(Call& call);
int bf_insert(Call& call);
int bf_exists(Call& call);
int bf_mexists(Call& call);
int bf_info(Call& call);
int bf_card(Call& call);
int bf_scandump(Call& call);
int bf_loadchunk(Call& call);
int cf_reserve(Call& call);
int cf_add(Call& call);
int cf_addnx(Call& call);
int cf_insert(Call& call);
int cf_insertnx(Call& call);
int cf_exists(Call& call);
int cf_mexists(Call& call);
int cf_count(Call& call);
int cf_del(Call& call);
int cf_info(Call& call);
int cf_scandump(Call& call);
int cf_loadchunk(Call& call);

}  // namespace tamis_redis::commands
