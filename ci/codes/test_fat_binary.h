// For tests: fat binaries and cubins, made byte by byte.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ci/codes/fat_binary.h"

namespace fusegate::ci {

template <typename Record>
std::string bytes_of(const Record& record) {
  return std::string(reinterpret_cast<const char*>(&record), sizeof(record));
}

// An ELF file of these sections, which are loaded; ".text.k" is kernel k.
inline std::string made_elf(const std::vector<std::pair<std::string, std::string>>& sections,
                            std::uint16_t machine = 190, std::uint16_t type = ET_DYN) {
  std::string names(1, '\0'), contents, table = bytes_of(Elf64_Shdr{});
  const auto add = [&](const std::string& name, const std::string& content, std::uint32_t type) {
    Elf64_Shdr head{};
    head.sh_name = static_cast<std::uint32_t>(names.size());
    head.sh_type = type;
    head.sh_flags = type == SHT_STRTAB ? 0 : SHF_ALLOC;
    names += name + '\0';
    const std::string& stored = type == SHT_STRTAB ? names : content;
    head.sh_offset = sizeof(Elf64_Ehdr) + contents.size();
    head.sh_size = stored.size();
    head.sh_addr = head.sh_offset;
    contents += stored;
    table += bytes_of(head);
  };
  for (const auto& [name, content] : sections) add(name, content, SHT_PROGBITS);
  add(".shstrtab", "", SHT_STRTAB);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_machine = machine;
  header.e_type = type;
  header.e_flags = 90 << 8;
  header.e_shoff = sizeof(header) + contents.size();
  header.e_shnum = static_cast<std::uint16_t>(sections.size() + 2);
  header.e_shstrndx = static_cast<std::uint16_t>(sections.size() + 1);
  return bytes_of(header) + contents + table;
}

// A cubin with kernels and their code.
inline std::string made_cubin(const std::vector<std::pair<std::string, std::string>>& kernels) {
  std::vector<std::pair<std::string, std::string>> sections;
  for (const auto& [kernel, code] : kernels) sections.emplace_back(".text." + kernel, code);
  return made_elf(sections);
}

struct MadeEntry {
  std::string bytes;
  std::uint16_t kind = 2;
  std::uint32_t architecture = 90;
  std::uint64_t flags = 0;
  std::uint64_t unpacked = 0;
};

inline std::string made_fat_binary(const std::vector<MadeEntry>& entries) {
  std::string body;
  for (const MadeEntry& entry : entries) {
    const std::uint64_t padded = (entry.bytes.size() + 7) / 8 * 8;
    body += bytes_of(entry.kind) + bytes_of(std::uint16_t{0x101}) + bytes_of(std::uint32_t{64}) +
            bytes_of(padded) + bytes_of(static_cast<std::uint32_t>(entry.bytes.size())) +
            std::string(8, '\0') + bytes_of(entry.architecture) + std::string(8, '\0') +
            bytes_of(entry.flags) + std::string(8, '\0') + bytes_of(entry.unpacked) + entry.bytes +
            std::string(padded - entry.bytes.size(), '\0');
  }
  return bytes_of(kFatBinaryMagic) + bytes_of(std::uint16_t{1}) + bytes_of(std::uint16_t{16}) +
         bytes_of(std::uint64_t{body.size()}) + body;
}

inline std::span<const std::byte> bytes_in(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace fusegate::ci
