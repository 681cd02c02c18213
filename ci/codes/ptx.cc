#include "ci/codes/ptx.h"

#include <algorithm>

#include "baselines/io/content_hash.h"

namespace fusegate::ci {
namespace {

bool is_about_sources(std::string_view line) {
  constexpr std::string_view kSkipped[] = {"//", ".loc", ".file"};
  return line.empty() ||
         std::ranges::any_of(kSkipped, [&](auto start) { return line.starts_with(start); });
}

// Names in anonymous namespaces have a number of their source file's text, of eight digits.
void add_without_numbers(std::string_view line, baselines::ContentHash& hash) {
  constexpr std::string_view kAnonymous = "_GLOBAL__N__";
  constexpr std::size_t kDigits = 8;
  for (std::size_t at = line.find(kAnonymous); at != line.npos; at = line.find(kAnonymous)) {
    hash.add(line.substr(0, at));
    line.remove_prefix(std::min(at + kAnonymous.size() + kDigits, line.size()));
  }
  hash.add(line);
}

}  // namespace

Ptx read_ptx(std::string_view text) {
  constexpr std::string_view kEntry = ".entry ", kBlank = " \t\r";
  text = text.substr(0, text.find('\0'));
  Ptx ptx;
  baselines::ContentHash hash;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    if (is_about_sources(line)) continue;
    add_without_numbers(line, hash);
    const std::size_t entry = line.find(kEntry);
    if (entry == line.npos) continue;
    const std::string_view name = line.substr(entry + kEntry.size());
    ptx.kernels.emplace_back(name.substr(0, name.find_first_of("( \t\r")));
  }
  ptx.hash = hash.hex();
  return ptx;
}

}  // namespace fusegate::ci
