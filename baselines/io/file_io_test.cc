#include "baselines/io/file_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::baselines {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// A limit on the size of a file fails a write in the middle, like a disk that runs full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;  // the limit is the process's
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*old_handler_)(int);
  rlimit old_limit_{};
};

class FileIo : public testing::Test {
 protected:
  const ScratchFolder folder_;
};

TEST_F(FileIo, ReadsWhatWasWritten) {
  const std::string contents("a\0b\nc", 5);
  write_atomically(folder_.path() / "file", contents);
  EXPECT_EQ(read_file(folder_.path() / "file"), contents);
  EXPECT_EQ(files_in(folder_.path()), 1);
}

TEST_F(FileIo, ReadsEmptyAndLargeFiles) {
  const std::string large(3'000'001, 'x');
  EXPECT_EQ(read_file(folder_.write("empty", "")), "");
  EXPECT_EQ(read_file(folder_.write("large", large)), large);
}

TEST_F(FileIo, ReadsFilesThatDoNotReportTheirSize) {
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("Pid:"));
}

TEST_F(FileIo, CreatesMissingFolders) {
  write_atomically(folder_.path() / "a" / "b" / "file", "x");
  EXPECT_EQ(read_file(folder_.path() / "a" / "b" / "file"), "x");
}

TEST_F(FileIo, WritesBesideTheProgramWhereThePathHasNoFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  write_atomically("file", "x");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder_.path() / "file"), "x");
}

TEST_F(FileIo, KeepsTheModeOfTheFileItReplaces) {
  const fs::path path = folder_.write("file", "old");
  EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0644));
  fs::permissions(path, static_cast<fs::perms>(0600));
  write_atomically(path, "new");
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0600));
}

TEST_F(FileIo, ReadingNamesFileAndReason) {
  EXPECT_THAT([&] { read_file(folder_.path() / "absent.json"); },
              ThrowsMessage<InputError>(
                  AllOf(HasSubstr("absent.json: cannot open: No such file or directory"))));
  EXPECT_THAT([&] { read_file(folder_.path()); },
              ThrowsMessage<InputError>(HasSubstr("cannot read: Is a directory")));
}

// Until the end of a scope.
class LargestFile {
 public:
  explicit LargestFile(std::size_t bytes) { set_largest_file(bytes); }
  ~LargestFile() { set_largest_file(kLargestFile); }
  LargestFile(const LargestFile&) = delete;  // the limit is the process's
  LargestFile& operator=(const LargestFile&) = delete;
};

TEST_F(FileIo, ReadsNothingThatIsTooLarge) {
  const LargestFile limit(1 << 20);
  const fs::path most = folder_.write("most", std::string(1 << 20, 'x'));
  EXPECT_EQ(read_file(most).size(), std::size_t{1} << 20);
  const fs::path sparse = folder_.write("sparse", "");
  fs::resize_file(sparse, std::uintmax_t{1} << 40);
  EXPECT_THAT([&] { read_file(sparse); },
              ThrowsMessage<InputError>(AllOf(HasSubstr(sparse.string()),
                                              HasSubstr("is larger than 1 MiB (unpacked)"),
                                              HasSubstr(kLargestFileFlag))));
}

TEST_F(FileIo, ReadsAPipeUpToTheLimitAndNoDevice) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto read_of = [&](std::size_t size) {
    std::jthread writer([&] { std::ofstream(pipe) << std::string(size, 'x'); });
    return read_file(pipe);
  };
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  const LargestFile limit(100'000);
  EXPECT_EQ(read_of(100'000).size(), 100'000U);
  EXPECT_THAT([&] { read_of(1'000'000); }, ThrowsMessage<InputError>(HasSubstr("pipe: is larger")));
  std::signal(SIGPIPE, old_handler);
  EXPECT_THAT([] { read_file("/dev/zero"); },
              ThrowsMessage<InputError>(HasSubstr("/dev/zero: is neither a file nor a pipe")));
  EXPECT_THAT([&] { require_regular(pipe); },
              ThrowsMessage<InputError>(HasSubstr("pipe: is neither a file")));
  EXPECT_NO_THROW(require_regular(folder_.write("file", "")));
}

TEST_F(FileIo, WaitsNoLongerForAPipesWriter) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT([&] { read_file(pipe); },
              ThrowsMessage<InputError>(HasSubstr("pipe: is a pipe that had no data")));
}

TEST_F(FileIo, FollowsLinksToWhereTheyLead) {
  fs::create_directories(folder_.path() / "a");
  fs::create_symlink("a/second", folder_.path() / "first");
  fs::create_symlink("../missing", folder_.path() / "a" / "second");
  EXPECT_EQ(followed(folder_.path() / "first").lexically_normal(), folder_.path() / "missing");
  EXPECT_EQ(followed(folder_.path() / "a"), folder_.path() / "a");
  fs::create_symlink("loop", folder_.path() / "loop");
  EXPECT_THAT([&] { followed(folder_.path() / "loop"); },
              ThrowsMessage<InputError>(HasSubstr("loop: cannot follow the link")));
}

TEST_F(FileIo, AFullDiskLeavesTheOldFileAndNoTemporaryOne) {
  const fs::path path = folder_.write("file", "old");
  {
    const FileSizeLimit limit(4096);
    EXPECT_THAT([&] { write_atomically(path, std::string(10'000, 'x')); },
                ThrowsMessage<InputError>(
                    AllOf(HasSubstr(path.string()), HasSubstr("cannot write: File too large"))));
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(files_in(folder_.path()), 1);
}

TEST_F(FileIo, ADeviceIsWrittenToAndStaysADevice) {
  EXPECT_NO_THROW(write_atomically("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT([] { write_atomically("/dev/full", "text"); },
              ThrowsMessage<InputError>(HasSubstr("No space left on device")));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(FileIo, WhatIsInTheWayIsAnErrorAndStays) {
  fs::create_directories(folder_.path() / "file" / "inside");
  EXPECT_THAT([&] { write_atomically(folder_.path() / "file", "x"); },
              ThrowsMessage<InputError>(HasSubstr("cannot rename to it")));
  EXPECT_EQ(files_in(folder_.path()), 1);
  folder_.write("plain", "x");
  EXPECT_THAT([&] { write_atomically(folder_.path() / "plain" / "below", "x"); },
              ThrowsMessage<InputError>(HasSubstr("cannot create its folder")));
}

TEST_F(FileIo, ReportsBeforehandWhatCannotBeWritten) {
  folder_.write("file", "x");
  fs::create_directories(folder_.path() / "taken");
  EXPECT_THAT([&] { require_writable(folder_.path() / "file" / "below"); },
              ThrowsMessage<InputError>(HasSubstr("cannot create its folder")));
  EXPECT_THAT([&] { require_writable(folder_.path() / "taken"); },
              ThrowsMessage<InputError>(HasSubstr("taken: cannot rename to it: Is a directory")));
  EXPECT_THAT([] { require_writable("/proc/file"); },
              ThrowsMessage<InputError>(HasSubstr("/proc/file: cannot create a file beside it")));
}

TEST_F(FileIo, LeavesNoTraceWhereAllCanBeWritten) {
  const fs::path old = folder_.write("old", "x");
  EXPECT_NO_THROW(require_writable(old));
  EXPECT_NO_THROW(require_writable(folder_.path() / "new"));
  EXPECT_NO_THROW(require_writable("/dev/null"));
  EXPECT_EQ(read_file(old), "x");
  EXPECT_EQ(files_in(folder_.path()), 1);
}

}  // namespace
}  // namespace fusegate::baselines
