#include "baselines/launches/elf_file.h"

#include <elf.h>

#include <algorithm>

namespace fusegate::baselines {
namespace {

using Bytes = std::span<const std::byte>;

std::string_view text_at(Bytes texts, std::uint64_t offset) {
  const Bytes text = slice(texts, offset, texts.size() - std::min(offset, texts.size()));
  const auto end = std::ranges::find(text, std::byte{0});
  return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(end - text.begin())};
}

Bytes content_of(Bytes file, const Elf64_Shdr& section) {
  const bool in_file = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
  return in_file ? slice(file, section.sh_offset, section.sh_size) : Bytes{};
}

std::vector<ElfSymbol> symbols_of(Bytes table, Bytes names) {
  std::vector<ElfSymbol> symbols;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = record_at<Elf64_Sym>(table, at);
    symbols.push_back({text_at(names, symbol.st_name), symbol.st_other});
  }
  return symbols;
}

}  // namespace

Bytes slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    throw std::runtime_error("ends before what its header names");
  }
  return bytes.subspan(offset, size);
}

bool is_elf(Bytes file) {
  return file.size() >= SELFMAG && std::memcmp(file.data(), ELFMAG, SELFMAG) == 0;
}

ElfFile read_elf(Bytes file) {
  const auto header = record_at<Elf64_Ehdr>(file, 0);
  if (!is_elf(file) || header.e_ident[EI_CLASS] != ELFCLASS64) {
    throw std::runtime_error("is not an ELF file of 64 bits");
  }
  ElfFile elf{.machine = header.e_machine,
              .type = header.e_type,
              .flags = header.e_flags,
              .abi_version = header.e_ident[EI_ABIVERSION]};
  if (header.e_shoff == 0) return elf;
  const auto entry = [&](std::uint64_t index) {
    const Bytes table =
        slice(file, header.e_shoff, file.size() - std::min(header.e_shoff, file.size()));
    if (index > table.size() / sizeof(Elf64_Shdr)) slice(table, table.size(), 1);
    return record_at<Elf64_Shdr>(table, index * sizeof(Elf64_Shdr));
  };
  // What does not fit the header's 16 bits stands in the first section's entry.
  const Elf64_Shdr first = entry(0);
  const std::uint64_t count = header.e_shnum == 0 ? first.sh_size : header.e_shnum;
  const Elf64_Shdr names =
      entry(header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx);
  const Bytes texts = slice(file, names.sh_offset, names.sh_size);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Elf64_Shdr section = entry(i);
    const Bytes content = content_of(file, section);
    // Empty relocations of ptxas do lie over each other; hashing others would take forever.
    bytes += content.size();
    if (bytes > 2 * file.size()) throw std::runtime_error("has sections that lie over each other");
    elf.sections.push_back({text_at(texts, section.sh_name), content, section.sh_size,
                            section.sh_addr, (section.sh_flags & SHF_ALLOC) != 0});
    if (section.sh_type == SHT_SYMTAB) {
      elf.symbols = symbols_of(content, content_of(file, entry(section.sh_link)));
    }
  }
  return elf;
}

}  // namespace fusegate::baselines
