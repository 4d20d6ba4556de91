// stereopsis SUBCOMMAND …: results on stdout, logs and progress on stderr, and one sentence where it fails.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "description.hpp"
#include "interrupts.hpp"
#include "python_package.hpp"
#include "stereopsis/error.hpp"
#include "terminal.hpp"

namespace stereopsis::command {
namespace {

enum ExitCode { done = 0, failed = 1, wrong_call = 2 };

int complain(ExitCode code, std::string sentence) {
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  while (!sentence.empty() && (sentence.back() == ' ' || sentence.back() == '.')) sentence.pop_back();
  write_message(sentence);
  return code;
}

// What the shell makes of left*.png is one argument for each file.
std::string hint_at_wildcards(const CLI::App& application) {
  for (const std::string& argument : application.remaining(true)) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(argument, ignored))
      return "; if it comes from a wildcard, put that in quotes, as in 'left*.png'";
  }
  return "";
}

// The customary help, in our words and without runs of empty lines.
class Help : public CLI::Formatter {
 public:
  Help() {
    column_width(36);
    label("SUBCOMMAND", "COMMAND");
    label("OPTIONS", "OPTION …");
    label("Positionals", "Arguments");
  }
  std::string make_help(const CLI::App* application, std::string name, CLI::AppFormatMode mode) const override {
    std::string help = CLI::Formatter::make_help(application, std::move(name), mode);
    for (std::size_t at; (at = help.find("\n\n\n")) != std::string::npos;) help.erase(at, 1);
    return help.ends_with('\n') ? help : help + '\n';
  }
};

// What CLI11 has against the call, in our words.
std::string sentence_of(const CLI::App& application, const CLI::ParseError& e) {
  const auto chosen = application.get_subcommands();
  std::string what = e.what();
  const std::size_t colon = std::min(what.find(':'), what.size());
  if (dynamic_cast<const CLI::ExtrasError*>(&e))
    what = (chosen.empty() ? "there is no command" : "unexpected argument") + what.substr(colon) +
           hint_at_wildcards(application);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&e))
    what = what.substr(0, colon) + (what.find("At Most") < what.size() ? " may be given only once" : " needs a value");
  return what + "; see " + (chosen.empty() ? "stereopsis" : "stereopsis " + chosen.front()->get_name()) + " --help";
}

// Writes the help or the version.
int show(const CLI::App& application, const CLI::Success& what) {
  try {
    std::ostringstream text;
    const int code = application.exit(what, text, text);
    write_result(text.str());
    check_results_written();
    return code;
  } catch (const Unread&) {
    return failed;
  } catch (const Error& error) {
    return complain(failed, error.what());
  }
}

int run(int argc, char** argv) {
  CLI::App application("Dense stereo matching in real time: from a rectified pair to disparity.", "stereopsis");
  application.set_version_flag("--version", "stereopsis " STEREOPSIS_VERSION);
  application.formatter(std::make_shared<Help>());
  add_match(application);
  add_evaluate(application);
  add_methods(application);
  add_devices(application);
  add_bench(application);
  add_synth(application);
  add_check(application);
  add_calibrate(application);
  add_rectify(application);
  add_cloud(application);
  add_python_commands(application);
  for (CLI::App* subcommand : application.get_subcommands([](const CLI::App*) { return true; }))
    subcommand->group("Commands");
  application.footer(
      "`stereopsis COMMAND --help` says more. Exit codes: 0 done, 1 the work failed, 2 the call was wrong.");
  try {
    // Python has its own way with these signals.
    if (const auto call = python_call(argc, argv); !call.empty()) hand_on_to_python(call);
    turn_signals_of_writing_into_errors();
    if (argc == 2 && argv[1] == std::string_view("--describe")) {  // for pages.py
      write_result(description_of(application));
      check_results_written();
      return done;
    }
    watch_for_interrupts();
    application.parse(argc, argv);
    if (application.get_subcommands().empty()) return complain(wrong_call, "give a command; see stereopsis --help");
    check_results_written();
    return done;
  } catch (const CLI::Success& help_or_version) {
    return show(application, help_or_version);
  } catch (const CLI::ParseError& e) {
    return complain(wrong_call, sentence_of(application, e));
  } catch (const Unfit&) {
    return failed;
  } catch (const Unread&) {
    return failed;  // quietly: whoever closed the pipe knows
  } catch (const Error& e) {
    return complain(e.category() == ErrorCategory::call ? wrong_call : failed, e.what());
  } catch (const std::bad_alloc&) {
    return complain(failed, "not enough memory for this size and range; use fewer disparities or --memory-limit");
  } catch (const std::filesystem::filesystem_error& e) {
    return complain(failed, fmt::format("{} can't be used: {}", e.path1().string(), e.code().message()));
  } catch (const std::system_error& e) {
    return complain(failed, fmt::format("the system refused what was needed: {}; use fewer --threads, or raise the "
                                        "limits of processes and memory (ulimit -u, ulimit -v)",
                                        e.code().message()));
  } catch (const std::exception& e) {
    return complain(failed, e.what());
  }
}

}  // namespace
}  // namespace stereopsis::command

int main(int argc, char** argv) { return stereopsis::command::run(argc, argv); }
