#include "ci/codes/host_code.h"

#include <elf.h>
#include <re2/re2.h>

#include <algorithm>
#include <string_view>

#include "baselines/io/content_hash.h"
#include "ci/codes/ptx.h"

namespace fusegate::ci {
namespace {

using baselines::ElfSection;
using Bytes = std::span<const std::byte>;

constexpr std::string_view kFatBinaries = ".nvFatBinSegment";  // pointers to them, a source each

bool is_left_out(std::string_view section) {
  constexpr std::string_view kLeftOut[] = {".nv_fatbin", "__nv_relfatbin",    kFatBinaries,
                                           ".note",      ".gcc_except_table", ".eh_frame"};
  return std::ranges::any_of(kLeftOut, [&](auto start) { return section.starts_with(start); });
}

// Addresses that the loader writes, but those of fat binaries.
void add_relocations(Bytes content, const ElfSection* fat_binaries, baselines::ContentHash& hash) {
  for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= content.size(); at += sizeof(Elf64_Rela)) {
    const auto entry = baselines::record_at<Elf64_Rela>(content, at);
    const bool is_left = fat_binaries != nullptr && entry.r_offset >= fat_binaries->address &&
                         entry.r_offset - fat_binaries->address < fat_binaries->size;
    if (!is_left) hash.add(content.subspan(at, sizeof(entry)));
  }
}

std::string without_commits(Bytes constants) {
  static const re2::RE2 commit("[0-9a-f]{40,}", re2::RE2::Latin1);
  std::string text =
      without_source_numbers({reinterpret_cast<const char*>(constants.data()), constants.size()});
  re2::RE2::GlobalReplace(&text, commit, "");
  return text;
}

}  // namespace

std::map<std::string, std::string> host_code(const baselines::ElfFile& program) {
  if (program.type != ET_EXEC && program.type != ET_DYN) return {};
  const auto found = std::ranges::find(program.sections, kFatBinaries, &ElfSection::name);
  const ElfSection* const fat_binaries = found == program.sections.end() ? nullptr : &*found;
  std::map<std::string, baselines::ContentHash> hashes;
  for (const ElfSection& section : program.sections) {
    if (!section.is_loaded || is_left_out(section.name)) continue;
    baselines::ContentHash& hash = hashes[std::string(section.name)];
    hash.add(section.size);
    if (section.name == ".rela.dyn") {
      add_relocations(section.content, fat_binaries, hash);
    } else if (section.name.starts_with(".rodata")) {
      hash.add(without_commits(section.content));
    } else {
      hash.add(section.content);
    }
  }
  std::map<std::string, std::string> code;
  for (const auto& [section, hash] : hashes) code[section] = hash.hex();
  return code;
}

}  // namespace fusegate::ci
