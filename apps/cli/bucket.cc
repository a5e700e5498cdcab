// tamis bucket check: can this bucket hold a store?
#include "tamis/bucket.h"

#include <string>

#include "cli/verbs.h"

namespace tamis::cli {

int run_bucket_check(Arguments arguments) {
  std::string url;
  BucketOptions options;
  CommandLine line({.summary =
                        "Asks an S3 server whether a bucket can hold a store, one line per question, and how long "
                        "requests take. Exits with status 1 if something needed is missing. Keys and region are read "
                        "as other S3 clients do: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_PROFILE, "
                        "~/.aws/credentials. Leaves nothing behind.",
                    .usage = "URL [--endpoint URL]",
                    .example = "  tamis bucket check s3://my-bucket/stores\n"
                               "  tamis bucket check s3://my-bucket/stores --endpoint http://127.0.0.1:7480",
                    .common = kJson | kQuiet});
  line.operand("URL", "s3://BUCKET or s3://BUCKET/PREFIX", url);
  line.option("--endpoint", "URL", "the server, if it is not AWS; else AWS_ENDPOINT_URL", options.endpoint);
  if (!line.read(arguments)) return kExitOk;
  const BucketReport report = need(check_bucket(url, options));
  if (line.common().json) {
    standard_output().write(report.to_json() + "\n");
  } else if (!line.common().quiet) {
    standard_output().write(report.to_text());
  }
  return report.ok() ? kExitOk : kExitNo;
}

}  // namespace tamis::cli
