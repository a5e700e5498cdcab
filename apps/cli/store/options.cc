// tamis options: the options of a store.
#include <string>

#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "tamis/options.h"

namespace tamis::cli {

int run_options(Arguments arguments) {
  CommandLine line({.name = "options",
                    .summary = "Lists the options of a store with their defaults, values and effects. They are not "
                               "stored: a store may be opened with others next time.",
                    .usage = "",
                    .example = "  tamis options\n"
                               "  tamis load cities cities.txt --option codec_last=zstd --option fanout=8",
                    .common = kJson});
  if (!line.read(arguments)) return kExitOk;
  Output& out = standard_output();
  Table table({{"option", Table::Align::kLeft}, {"default", Table::Align::kLeft}, {"effect", Table::Align::kWrap}});
  for (const OptionInfo& option : option_table()) {
    if (line.common().json) {
      out.print("{}\n", JsonObject()
                            .add("name", option.name)
                            .add("default", option.default_value)
                            .add("range", option.range)
                            .add("effect", option.effect)
                            .text());
    } else {
      table.add({std::string(option.name), option.default_value, std::string(option.effect)});
      table.add({"", "", option.range});
    }
  }
  if (!line.common().json) out.write(table.text());
  return kExitOk;
}

}  // namespace tamis::cli
