#include "ci/trace_file.h"

#include "baselines/file_io.h"
#include "baselines/trace_reader.h"
#include "ci/gzip.h"

namespace fusegate {

Trace read_trace_file(const std::filesystem::path& path) {
  std::string text = read_file(path);
  if (is_gzip(text)) text = gunzip(text, path.string());
  return parse_trace(text, path.string());
}

}  // namespace fusegate
