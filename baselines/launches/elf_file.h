// The sections and symbols of an ELF file of 64 bits: a host's program, library or object, or a
// cubin. What the file says is checked against where it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

struct ElfSection {
  std::string_view name;
  std::span<const std::byte> content{};  // empty where it takes no room in the file
  std::uint64_t size = 0;                // in memory
  std::uint64_t address = 0;             // sh_addr
  bool is_loaded = false;                // SHF_ALLOC: it is there while the program runs
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t other = 0;  // st_other
};

struct ElfFile {
  std::uint16_t machine = 0;     // e_machine
  std::uint16_t type = 0;        // e_type
  std::uint32_t flags = 0;       // e_flags
  std::uint8_t abi_version = 0;  // e_ident[EI_ABIVERSION]
  std::vector<ElfSection> sections{};
  std::vector<ElfSymbol> symbols{};  // of .symtab; empty in a stripped file
};

bool is_elf(std::span<const std::byte> file);

// Refers to the file's bytes. Throws std::runtime_error for a file that is not ELF of 64 bits or
// is cut short.
ElfFile read_elf(std::span<const std::byte> file);

// Throws std::runtime_error where the bytes end before.
std::span<const std::byte> slice(std::span<const std::byte> bytes, std::uint64_t offset,
                                 std::uint64_t size);

// A copy, since nothing says that the file lies aligned in memory. Throws as slice() does.
template <typename Record>
Record record_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  Record record;
  std::memcpy(&record, slice(bytes, offset, sizeof(Record)).data(), sizeof(Record));
  return record;
}

}  // namespace fusegate::baselines
