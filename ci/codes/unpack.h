// The two ways in which fatbinary packs: LZ4's blocks, and zstd's frames since CUDA 12.8.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fusegate::ci {

enum class Packing { kLz4, kZstd };

// Throws std::runtime_error where it does not unpack to just that many bytes.
std::vector<std::byte> unpack(Packing packing, std::span<const std::byte> packed, std::size_t size);

}  // namespace fusegate::ci
