#include "ci/trace_file.h"

#include "baselines/file_io.h"
#include "baselines/trace_reader.h"
#include "ci/gzip.h"

namespace fusegate {

std::string read_trace_text(const std::filesystem::path& path) {
  std::string text = read_file(path);
  return is_gzip(text) ? gunzip(text, path.string()) : text;
}

Trace read_trace_file(const std::filesystem::path& path) {
  return parse_trace(read_trace_text(path), path.string());
}

}  // namespace fusegate
