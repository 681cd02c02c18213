// Requests to other machines, made by the program curl. Address, headers and body reach it through
// its standard input, so that no secret is in a list of processes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fusegate::ci {

struct HttpRequest {
  std::string method = "GET";
  std::string url{};  // may be a secret: messages name its host alone
  std::vector<std::string> headers{};
  std::string body{};
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers{};  // names in small letters
  std::string body{};
};

// What the rest of this room sends by.
using Http = std::function<HttpAnswer(const HttpRequest&)>;

struct HttpLimits {
  double request_s = 20;  // for an answer, the whole of it
  int attempts = 4;       // while the host answers 429 or 5xx
  double wait_s = 60;     // at most before another attempt
};

// Follows no redirect: its answer is returned as any other is. Waits between attempts as the host's
// Retry-After says, else 1 s, 2 s and so on. Throws InputError naming the host where there is no
// answer, where the address is neither https nor of this machine, and where there is no curl.
HttpAnswer send_by_curl(const HttpRequest& request, const HttpLimits& limits);

// "hooks.slack.com". Throws InputError naming `source` where the address is not as send_by_curl()
// needs it.
std::string host_of(const std::string& url, const std::string& source);

// An environment variable that must be there. Throws InputError naming it, and nothing of its
// value: for one that is empty, or has blanks or control characters.
std::string secret_of(const char* variable);

}  // namespace fusegate::ci
