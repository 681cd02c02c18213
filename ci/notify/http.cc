#include "ci/notify/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "baselines/io/error.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

using baselines::InputError;

// curl 7 refuses a longer line of its configuration.
constexpr std::size_t kLongestLine = 100'000;

// As curl's manual has it under --config.
std::string option(std::string_view name, std::string_view value) {
  std::string line = fmt::format("{} = \"", name);
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line + "\"\n";
}

std::string configuration(const HttpRequest& request, const HttpLimits& limits) {
  std::string text = fmt::format(
      "silent\ninclude\nsuppress-connect-headers\ngloboff\nmax-time = {}\n", limits.request_s);
  text += option("proto", "=http,https") + option("request", request.method) +
          option("url", request.url);
  for (const std::string& header : request.headers) text += option("header", header);
  if (request.body.empty()) return text;
  const std::string body = option("data-raw", request.body);
  if (body.size() > kLongestLine) {
    throw InputError("alert", "", fmt::format("has {} bytes, more than curl takes", body.size()));
  }
  return text + option("header", "Content-Type: application/json") + option("header", "Expect:") +
         body;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// A line without its end; nothing where there is no more.
std::optional<std::string_view> take_line(std::string_view* text) {
  const auto end = text->find('\n');
  if (end == text->npos) return std::nullopt;
  std::string_view line = text->substr(0, end);
  text->remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Of several blocks of headers the first that answers: those before it say "go on".
HttpAnswer parse_answer(std::string_view text) {
  HttpAnswer answer;
  while (answer.status < 200 && text.starts_with("HTTP/")) {
    answer = {};
    const std::string_view status = take_line(&text).value_or("");
    if (const auto blank = status.find(' '); blank != status.npos) {
      std::from_chars(status.data() + blank + 1, status.data() + status.size(), answer.status);
    }
    while (const auto line = take_line(&text)) {
      if (line->empty()) break;
      const auto colon = line->find(':');
      if (colon == line->npos) continue;
      const auto value = line->find_first_not_of(' ', colon + 1);
      answer.headers[lower(std::string(line->substr(0, colon)))] =
          value == line->npos ? "" : line->substr(value);
    }
  }
  answer.body = text;
  return answer;
}

// By curl's manual, "exit codes". Its own message may have the address.
std::string failure_text(const ChildEnd& end, const HttpLimits& limits) {
  const std::string late = fmt::format("gives no answer within {} s", limits.request_s);
  if (end.timed_out) return late;
  if (end.signal != 0) return fmt::format("curl was ended by signal {}", end.signal);
  switch (end.exit_code) {
    case 5:
    case 6:
      return "its name leads to no address";
    case 7:
      return "cannot be reached";
    case 28:
      return late;
    case 35:
    case 60:
      return "its certificate or its kind of TLS is not accepted by curl";
    default:
      return fmt::format("curl ends with exit code {}", end.exit_code);
  }
}

HttpAnswer send_once(const HttpRequest& request, const HttpLimits& limits,
                     const std::string& host) {
  constexpr double kGraceS = 5;  // curl ends by itself
  std::string printed;
  ChildProcess child{.arguments = {"curl", "--disable", "--config", "-"},
                     .input = configuration(request, limits),
                     .timeout_s = limits.request_s + kGraceS,
                     .longest_line = kMostCollected,
                     .most_output = kMostCollected};
  child.on_line = [&printed](OutputStream stream, std::string_view line) {
    if (stream == OutputStream::kOut) printed.append(line).push_back('\n');
  };
  ChildEnd end;
  try {
    end = run_child(child);
  } catch (const std::system_error& error) {
    throw InputError("curl", "",
                     fmt::format("cannot be started ({}); install it: alerts are sent by it",
                                 error.code().message()));
  }
  if (!end.succeeded()) throw InputError(host, "", failure_text(end, limits));
  HttpAnswer answer = parse_answer(printed);
  if (answer.status == 0) throw InputError(host, "", "does not answer in HTTP");
  return answer;
}

// How long to wait before another attempt; nothing where another would be in vain.
std::optional<double> wait_after(const HttpAnswer& answer, int attempt) {
  const auto named = answer.headers.find("retry-after");
  const bool is_named = named != answer.headers.end();
  // GitHub answers 403 where requests come too fast.
  const bool is_busy =
      answer.status == 429 || answer.status >= 500 || (answer.status == 403 && is_named);
  if (!is_busy) return std::nullopt;
  int seconds = 0;
  // It may be a date too, which is not read.
  if (is_named &&
      std::from_chars(named->second.data(), named->second.data() + named->second.size(), seconds)
              .ec == std::errc()) {
    return std::max(seconds, 0);
  }
  return 1 << (attempt - 1);
}

}  // namespace

HttpAnswer send_by_curl(const HttpRequest& request, const HttpLimits& limits) {
  const std::string host = host_of(request.url, "address");
  for (int attempt = 1;; ++attempt) {
    HttpAnswer answer = send_once(request, limits, host);
    const auto wait_s = wait_after(answer, attempt);
    if (!wait_s || attempt >= limits.attempts) return answer;
    if (*wait_s > limits.wait_s) {
      throw InputError(host, "",
                       fmt::format("answers {} and asks to wait {} s; run it again then",
                                   answer.status, *wait_s));
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(*wait_s));
  }
}

std::string host_of(const std::string& url, const std::string& source) {
  if (std::ranges::any_of(url, [](unsigned char c) { return c <= ' ' || c >= 0x7f; })) {
    throw InputError(source, "", "has blanks or characters that are not ASCII");
  }
  const auto scheme = url.find("://");
  const bool is_plain = url.starts_with("http://");
  if (!is_plain && !url.starts_with("https://")) {
    throw InputError(source, "", "must begin with https://");
  }
  std::string host = url.substr(scheme + 3);
  host.resize(std::min(host.size(), host.find_first_of("/?#\\")));
  if (const auto login = host.rfind('@'); login != host.npos) host.erase(0, login + 1);
  const auto port = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  host.resize(std::min(host.size(), port));
  if (host.empty()) throw InputError(source, "", "names no host");
  const bool is_here = host == "localhost" || host == "127.0.0.1" || host == "[::1]";
  if (is_plain && !is_here) {
    throw InputError(source, "",
                     fmt::format("must begin with https://, as {} is another machine", host));
  }
  return host;
}

std::string secret_of(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::string secret = value == nullptr ? "" : value;
  if (secret.empty()) {
    throw InputError(variable, "", "is not set; set this environment variable to send");
  }
  const auto is_odd = [](unsigned char c) { return c <= ' ' || c >= 0x7f; };
  if (std::ranges::any_of(secret, is_odd)) {
    throw InputError(variable, "", "has blanks or characters that are not ASCII; set it anew");
  }
  return secret;
}

}  // namespace fusegate::ci
