#include "ci/codes/instruction_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "baselines/launches/elf_file.h"

namespace fusegate::ci {
namespace {

constexpr std::size_t kBytes = 16;
// Of an instruction's lowest twelve bits the upper three say where its operands are.
constexpr std::size_t kOpcodes = 0x200;

struct Named {
  std::uint16_t opcode;
  std::string_view name;
};
constexpr Named kNames[] = {
    // clang-format off
    {0x002, "MOV"}, {0x003, "P2R"}, {0x004, "R2P"}, {0x005, "CS2R"}, {0x006, "VOTE"},
    {0x007, "SEL"}, {0x008, "FSEL"}, {0x009, "FMNMX"}, {0x00b, "FSETP"}, {0x00c, "ISETP"},
    {0x010, "IADD3"}, {0x011, "LEA"}, {0x012, "LOP3"}, {0x013, "IABS"}, {0x014, "VABSDIFF"},
    {0x015, "VABSDIFF4"}, {0x016, "PRMT"}, {0x017, "IMNMX"}, {0x019, "SHF"}, {0x01c, "PLOP3"},
    {0x020, "FMUL"}, {0x021, "FADD"}, {0x023, "FFMA"}, {0x024, "IMAD"}, {0x025, "IMAD"},
    {0x026, "IDP"}, {0x027, "IMAD"}, {0x028, "DMUL"}, {0x029, "DADD"}, {0x02a, "DSETP"},
    {0x02b, "DFMA"}, {0x02d, "PREEXIT"}, {0x02e, "ACQBULK"}, {0x02f, "ELECT"}, {0x030, "HADD2"},
    {0x031, "HFMA2"}, {0x032, "HMUL2"}, {0x033, "HSET2"}, {0x034, "HSETP2"}, {0x035, "HFMA2"},
    {0x036, "VIADD"}, {0x037, "IMMA"}, {0x03a, "MOVM"}, {0x03b, "LDSM"}, {0x03c, "HMMA"},
    {0x03e, "F2FP"}, {0x03f, "DMMA"}, {0x040, "HMNMX2"}, {0x044, "STSM"}, {0x045, "I2FP"},
    {0x046, "VIADDMNMX"}, {0x048, "VIMNMX"}, {0x082, "UMOV"}, {0x086, "VOTEU"}, {0x087, "USEL"},
    {0x08c, "UISETP"}, {0x090, "UIADD3"}, {0x091, "ULEA"}, {0x092, "ULOP3"}, {0x096, "UPRMT"},
    {0x097, "UIADD3"}, {0x099, "USHF"}, {0x0a4, "UIMAD"}, {0x0a5, "UIMAD"}, {0x0b9, "ULDC"},
    {0x0bd, "UFLO"}, {0x0ca, "R2UR"}, {0x100, "FLO"}, {0x101, "BREV"}, {0x102, "FCHK"},
    {0x105, "F2I"}, {0x106, "I2F"}, {0x107, "FRND"}, {0x108, "MUFU"}, {0x109, "POPC"},
    {0x110, "F2F"}, {0x111, "F2I"}, {0x112, "I2F"}, {0x113, "FRND"}, {0x118, "NOP"}, {0x119, "S2R"},
    {0x11a, "DEPBAR"}, {0x11b, "ENDCOLLECTIVE"}, {0x11c, "B2R"}, {0x11d, "BAR"}, {0x141, "BSYNC"},
    {0x143, "CALL"}, {0x144, "CALL"}, {0x145, "BSSY"}, {0x146, "YIELD"}, {0x147, "BRA"},
    {0x148, "WARPSYNC"}, {0x149, "BRX"}, {0x14d, "EXIT"}, {0x14e, "LEPC"}, {0x150, "RET"},
    {0x15c, "BPT"}, {0x15d, "NANOSLEEP"}, {0x180, "LD"}, {0x181, "LDG"}, {0x182, "LDC"},
    {0x183, "LDL"}, {0x184, "LDS"}, {0x185, "ST"}, {0x186, "STG"}, {0x187, "STL"}, {0x188, "STS"},
    {0x189, "SHFL"}, {0x18a, "ATOM"}, {0x18b, "ATOM"}, {0x18c, "ATOMS"}, {0x18d, "ATOMS"},
    {0x18e, "RED"}, {0x18f, "CCTL"}, {0x192, "MEMBAR"}, {0x1a1, "MATCH"}, {0x1a3, "ATOMG"},
    {0x1a6, "REDG"}, {0x1a7, "SYNCS"}, {0x1a8, "ATOMG"}, {0x1a9, "ATOMG"}, {0x1aa, "QSPC"},
    {0x1ab, "ERRBAR"}, {0x1ae, "LDGSTS"}, {0x1af, "LDGDEPBAR"}, {0x1b2, "SYNCS"},
    {0x1b4, "UTMALDG"}, {0x1b5, "UTMASTG"}, {0x1b6, "UTMAREDG"}, {0x1b7, "UTMACMDFLUSH"},
    {0x1b8, "UTMAPF"}, {0x1b9, "UTMACCTL"}, {0x1ba, "UBLKCP"}, {0x1bb, "UBLKRED"},
    {0x1bc, "UBLKPF"}, {0x1bd, "STAS"}, {0x1c3, "S2UR"}, {0x1c4, "REDUX"}, {0x1c5, "WARPGROUP"},
    {0x1c6, "FENCE"}, {0x1c7, "UCGABAR"}, {0x1c8, "USETMAXREG"}, {0x1f0, "HGMMA"}, {0x1f1, "IGMMA"},
    {0x1f3, "QGMMA"},
    // clang-format on
};

bool has_names(std::string_view architecture) {
  constexpr std::string_view kSeen[] = {"sm_80", "sm_86", "sm_89", "sm_90"};
  return std::ranges::any_of(kSeen, [&](auto seen) { return architecture.starts_with(seen); });
}

std::string kind_name(std::size_t opcode, bool is_named) {
  const auto* const found = std::ranges::find(kNames, opcode, &Named::opcode);
  return is_named && found != std::end(kNames) ? std::string(found->name)
                                               : fmt::format("opcode 0x{:03x}", opcode);
}

}  // namespace

InstructionKinds instruction_kinds(std::span<const std::byte> code, std::string_view architecture) {
  std::array<int, kOpcodes> counts{};
  for (std::size_t at = 0; at + kBytes <= code.size(); at += kBytes) {
    ++counts[baselines::record_at<std::uint64_t>(code, at) % kOpcodes];
  }
  InstructionKinds kinds;
  const bool is_named = has_names(architecture);
  for (std::size_t opcode = 0; opcode < kOpcodes; ++opcode) {
    if (counts[opcode] > 0) kinds[kind_name(opcode, is_named)] += counts[opcode];
  }
  return kinds;
}

std::string kinds_text(const InstructionKinds& before, const InstructionKinds& after) {
  constexpr std::size_t kMost = 4;
  InstructionKinds differences = after;
  for (const auto& [kind, count] : before) differences[kind] -= count;
  std::erase_if(differences, [](const auto& kind) { return kind.second == 0; });
  std::vector<std::pair<std::string, int>> changed(differences.begin(), differences.end());
  std::ranges::stable_sort(changed, std::greater(), [](const auto& kind) {
    return std::pair(kind.first == "STL" || kind.first == "LDL", std::abs(kind.second));
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, changed.size()); ++i) {
    text += fmt::format("{}{} {:+d}", i == 0 ? "" : ", ", changed[i].first, changed[i].second);
  }
  return changed.size() > kMost ? fmt::format("{}, and {} more kinds", text, changed.size() - kMost)
                                : text;
}

}  // namespace fusegate::ci
