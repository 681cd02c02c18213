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

TEST(FileIo, ReadsWhatWasWritten) {
  const ScratchFolder folder;
  const std::string contents("a\0b\nc", 5);
  write_atomically(folder.path() / "file", contents);
  EXPECT_EQ(read_file(folder.path() / "file"), contents);
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(FileIo, ReadsEmptyAndLargeFiles) {
  const ScratchFolder folder;
  const std::string large(3'000'001, 'x');
  EXPECT_EQ(read_file(folder.write("empty", "")), "");
  EXPECT_EQ(read_file(folder.write("large", large)), large);
}

TEST(FileIo, ReadsFilesThatDoNotReportTheirSize) {
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("Pid:"));
}

TEST(FileIo, CreatesMissingFolders) {
  const ScratchFolder folder;
  write_atomically(folder.path() / "a" / "b" / "file", "x");
  EXPECT_EQ(read_file(folder.path() / "a" / "b" / "file"), "x");
}

TEST(FileIo, WritesBesideTheProgramWhereThePathHasNoFolder) {
  const ScratchFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_atomically("file", "x");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder.path() / "file"), "x");
}

TEST(FileIo, KeepsTheModeOfTheFileItReplaces) {
  const ScratchFolder folder;
  const fs::path path = folder.write("file", "old");
  EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0644));
  fs::permissions(path, static_cast<fs::perms>(0600));
  write_atomically(path, "new");
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0600));
}

TEST(FileIo, ReadingNamesFileAndReason) {
  const ScratchFolder folder;
  EXPECT_THAT([&] { read_file(folder.path() / "absent.json"); },
              ThrowsMessage<InputError>(
                  AllOf(HasSubstr("absent.json: cannot open: No such file or directory"))));
  EXPECT_THAT([&] { read_file(folder.path()); },
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

TEST(FileIo, ReadsNothingThatIsTooLarge) {
  const ScratchFolder folder;
  const LargestFile limit(1 << 20);
  const fs::path most = folder.write("most", std::string(1 << 20, 'x'));
  EXPECT_EQ(read_file(most).size(), std::size_t{1} << 20);
  const fs::path sparse = folder.write("sparse", "");
  fs::resize_file(sparse, std::uintmax_t{1} << 40);
  EXPECT_THAT([&] { read_file(sparse); },
              ThrowsMessage<InputError>(AllOf(HasSubstr(sparse.string()),
                                              HasSubstr("is larger than 1 MiB (unpacked)"),
                                              HasSubstr(kLargestFileFlag))));
}

TEST(FileIo, ReadsAPipeUpToTheLimitAndNoDevice) {
  const ScratchFolder folder;
  const fs::path pipe = folder.path() / "pipe";
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
  EXPECT_NO_THROW(require_regular(folder.write("file", "")));
}

TEST(FileIo, WaitsNoLongerForAPipesWriter) {
  const ScratchFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT([&] { read_file(pipe); },
              ThrowsMessage<InputError>(HasSubstr("pipe: is a pipe that had no data")));
}

TEST(FileIo, FollowsLinksToWhereTheyLead) {
  const ScratchFolder folder;
  fs::create_directories(folder.path() / "a");
  fs::create_symlink("a/second", folder.path() / "first");
  fs::create_symlink("../missing", folder.path() / "a" / "second");
  EXPECT_EQ(followed(folder.path() / "first").lexically_normal(), folder.path() / "missing");
  EXPECT_EQ(followed(folder.path() / "a"), folder.path() / "a");
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_THAT([&] { followed(folder.path() / "loop"); },
              ThrowsMessage<InputError>(HasSubstr("loop: cannot follow the link")));
}

TEST(FileIo, AFullDiskLeavesTheOldFileAndNoTemporaryOne) {
  const ScratchFolder folder;
  const fs::path path = folder.write("file", "old");
  {
    const FileSizeLimit limit(4096);
    EXPECT_THAT([&] { write_atomically(path, std::string(10'000, 'x')); },
                ThrowsMessage<InputError>(
                    AllOf(HasSubstr(path.string()), HasSubstr("cannot write: File too large"))));
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(FileIo, ADeviceIsWrittenToAndStaysADevice) {
  EXPECT_NO_THROW(write_atomically("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  try {
    write_atomically("/dev/full", "text");
    FAIL() << "written";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("No space left on device"));
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(FileIo, AFolderInTheWayIsAnErrorAndStays) {
  const ScratchFolder folder;
  fs::create_directories(folder.path() / "file" / "inside");
  EXPECT_THAT([&] { write_atomically(folder.path() / "file", "x"); },
              ThrowsMessage<InputError>(HasSubstr("cannot rename to it")));
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(FileIo, ReportsBeforehandWhatCannotBeWritten) {
  const ScratchFolder folder;
  folder.write("file", "x");
  fs::create_directories(folder.path() / "taken");
  EXPECT_THAT([&] { require_writable(folder.path() / "file" / "below"); },
              ThrowsMessage<InputError>(HasSubstr("cannot create its folder")));
  EXPECT_THAT([&] { require_writable(folder.path() / "taken"); },
              ThrowsMessage<InputError>(HasSubstr("taken: cannot rename to it: Is a directory")));
  EXPECT_THAT([] { require_writable("/proc/file"); },
              ThrowsMessage<InputError>(HasSubstr("/proc/file: cannot create a file beside it")));
}

TEST(FileIo, LeavesNoTraceWhereAllCanBeWritten) {
  const ScratchFolder folder;
  const fs::path old = folder.write("old", "x");
  EXPECT_NO_THROW(require_writable(old));
  EXPECT_NO_THROW(require_writable(folder.path() / "new"));
  EXPECT_NO_THROW(require_writable("/dev/null"));
  EXPECT_EQ(read_file(old), "x");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(FileIo, AFileWhereAFolderShouldBeIsAnError) {
  const ScratchFolder folder;
  folder.write("file", "x");
  EXPECT_THAT([&] { write_atomically(folder.path() / "file" / "below", "x"); },
              ThrowsMessage<InputError>(HasSubstr("cannot create its folder")));
}

}  // namespace
}  // namespace fusegate::baselines
