#include "ci/traces/trace_file.h"

#include "baselines/io/file_io.h"
#include "baselines/traces/reader.h"
#include "ci/traces/gzip.h"

namespace fusegate::ci {

std::string read_trace_text(const std::filesystem::path& path) {
  std::string text = baselines::read_file(path);
  return is_gzip(text) ? gunzip(text, path.string()) : text;
}

baselines::Trace read_trace_file(const std::filesystem::path& path) {
  return baselines::parse_trace(read_trace_text(path), path.string());
}

}  // namespace fusegate::ci
