// NVIDIA's fat binaries: containers of cubins and PTX, one after the other in section ".nv_fatbin"
// of a program. Their format is not documented; what is read here is what fatbinary of CUDA 13.0
// writes: a head of 16 bytes, then entries, each with a head of 64 bytes or more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace fusegate::ci {

inline constexpr std::uint32_t kFatBinaryMagic = 0xBA55ED50;

struct FatBinaryEntry {
  enum class Kind { kPtx, kCubin, kOther };
  Kind kind = Kind::kOther;
  int number = 0;                      // of the kind, as the file has it
  std::string architecture{};          // "90a"
  std::span<const std::byte> bytes{};  // unpacked; valid while the function below calls
  bool has_cubin = false;              // its container has one too, of whatever architecture
};

// Hands over each entry of each container; what lies between containers is passed over.
// budget: how many bytes may still be unpacked; they are taken off it.
// Throws std::runtime_error for a container that is cut short or cannot be unpacked, and calls
// too_large() where the budget is not enough.
void for_each_entry(std::span<const std::byte> section, std::size_t& budget,
                    const std::function<void(const FatBinaryEntry&)>& use,
                    const std::function<void()>& too_large);

// Where the first container of what follows begins; the end where there is none.
std::size_t find_container(std::span<const std::byte> bytes, std::size_t from);

}  // namespace fusegate::ci
