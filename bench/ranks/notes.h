// What each rank is doing, in memory that all share: so that the message of a time-out can say
// where each of them is, though none of them answers.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "baselines/io/file_descriptor.h"

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

 private:
  static constexpr std::size_t kBytes = 120;
  // Each is written by its rank alone. A reader may meet a text that is being written, which ends
  // all the same.
  using Note = std::array<std::atomic<char>, kBytes>;
  struct Page {
    std::array<Note, kMostRanks> notes;
  };

  void map();

  baselines::FileDescriptor file_;
  Page* page_ = nullptr;
};

}  // namespace fusegate::bench
