// Memory that all ranks share: what each is doing, so that the message of a time-out can say where
// each of them is, though none of them answers; and numbers by which their devices wait for each
// other.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "baselines/io/file_descriptor.h"
#include "kernels/contract/ranks.h"

namespace fusegate::bench {

class Notes {
 public:
  static constexpr int kMostRanks = 64;

  // Made by the first rank, which hands the file on to the others, who open it.
  Notes();
  explicit Notes(baselines::FileDescriptor file);
  ~Notes();
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  int file() const { return file_.get(); }
  void write(int rank, std::string_view doing);
  std::string read(int rank) const;
  std::span<std::uint32_t> numbers();  // kernels::Ranks::shared_numbers

 private:
  static constexpr std::size_t kBytes = 120;
  // Each is written by its rank alone. A reader may meet a text that is being written, which ends
  // all the same.
  using Note = std::array<std::atomic<char>, kBytes>;
  static constexpr std::size_t kPageBytes = 4096;
  struct Page {
    alignas(
        kPageBytes) std::array<std::uint32_t, kMostRanks * kernels::Ranks::kNumbersApart> numbers;
    alignas(kPageBytes) std::array<Note, kMostRanks> notes;
  };

  void map();

  baselines::FileDescriptor file_;
  Page* page_ = nullptr;
};

}  // namespace fusegate::bench
