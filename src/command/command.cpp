#include "command/command.hpp"

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

#include "build_parts.hpp"
#include "command/call_errors.hpp"
#include "command/commands.hpp"
#include "command/description.hpp"
#include "command/help.hpp"
#include "command/interrupts.hpp"
#include "command/python_package.hpp"
#include "command/terminal.hpp"
#include "device/system/system.hpp"
#include "stereopsis/error.hpp"

namespace stereopsis::command {
namespace {

enum ExitCode { done = 0, failed = 1, wrong_call = 2 };

int complain(ExitCode code, std::string sentence) {
  stay_if_interrupted();
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  while (!sentence.empty() && (sentence.back() == ' ' || sentence.back() == '.')) sentence.pop_back();
  write_message(sentence, Style::error);
  return code;
}

// Adds `help` for the list of commands, the man page and completions only. CLI11 would take the name of a command after
// `help` for that command.
void add_help(CLI::App& application) {
  Command command(application, "help", "Print the help of a command");
  static std::string name;
  command.text("COMMAND", name, "", "Command to explain [list all commands]");
}

bool asks_for_help(int argc, char** argv) {
  return argc >= 2 && argv[1] == std::string_view("help") && (argc == 2 || argv[2][0] != '-');
}

// Runs help [COMMAND]: prints what `stereopsis --help` and `stereopsis COMMAND --help` print.
void print_help(const CLI::App& application, int argc, char** argv) {
  const std::string title = application.get_name(), name = argc > 2 ? argv[2] : "";
  if (argc > 3)
    refuse(fmt::format("unexpected argument '{}': `help` explains one command at a time; give one command", argv[3]));
  if (is_python_command(name)) hand_on_to_python({name, "--help"});
  const auto asked = application.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
  if (argc > 2 && asked.empty()) refuse(unknown_command(application, name));
  const CLI::App& explained = argc > 2 ? *asked.front() : application;
  write_styled(application.get_formatter()->make_help(&explained, argc > 2 ? title + " " + name : title,
                                                      CLI::AppFormatMode::Normal));
}

// Prints the help or the version.
int show(const CLI::App& application, const CLI::Success& what) {
  try {
    std::ostringstream text;
    const int code = application.exit(what, text, text);
    write_styled(text.str());
    check_results_written();
    return code;
  } catch (const Unread&) {
    return failed;
  } catch (const Error& error) {
    return complain(failed, error.what());
  }
}

// Returns the version and, with --verbose, the parts of this build.
std::string version_text(int argc, char** argv) {
  std::string text = "stereopsis " STEREOPSIS_VERSION;
  const auto is_verbose = [](const char* argument) { return argument == std::string_view("--verbose"); };
  if (std::any_of(argv + 1, argv + argc, is_verbose))
    for (const char* part : build_parts) (text += "\n  ") += part;
  return text;
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App application("Dense stereo matching in real time: from a rectified pair to a disparity map.", "stereopsis");
  application.set_version_flag(
      "-V,--version", [&] { return version_text(argc, argv); },
      "Print the version and exit; with --verbose, also the parts of this build");
  application.add_flag("--verbose")->group("");
  application.set_help_flag("-h,--help", "Print this help and exit");
  application.formatter(std::make_shared<Help>());
  add_match(application);
  add_evaluate(application);
  add_methods(application);
  add_devices(application);
  add_conformance(application);
  add_bench(application);
  add_synth(application);
  add_check(application);
  add_calibrate(application);
  add_rectify(application);
  add_cloud(application);
  add_python_commands(application);
  add_help(application);
  application.footer(
      "`stereopsis help COMMAND` explains a command. Exit codes: 0 for success, 1 for a failure, 2 for a wrong call.");
  try {
    // Python handles these signals by itself.
    if (const auto call = python_call(argc, argv); !call.empty()) hand_on_to_python(call);
    system::turn_signals_of_writing_into_errors();
    if (argc == 2 && argv[1] == std::string_view("--describe")) {  // for pages.py
      write_result(description_of(application));
      check_results_written();
      return done;
    }
    if (asks_for_help(argc, argv)) {
      print_help(application, argc, argv);
      check_results_written();
      return done;
    }
    watch_for_interrupts();
    application.parse(argc, argv);
    stay_if_interrupted();
    if (application.get_subcommands().empty())
      return complain(wrong_call, "the command is missing; `stereopsis --help` lists all commands");
    check_results_written();
    return done;
  } catch (const CLI::Success& help_or_version) {
    return show(application, help_or_version);
  } catch (const CLI::ParseError& e) {
    return complain(wrong_call, sentence_of(application, e));
  } catch (const CheckFailed&) {
    return failed;
  } catch (const Unread&) {
    return failed;  // no message, because whoever closed the pipe knows
  } catch (const Error& e) {
    return complain(e.category() == ErrorCategory::call ? wrong_call : failed, e.what());
  } catch (const std::bad_alloc&) {
    return complain(
        failed, "there is not enough memory for this size and search range; use fewer disparities or --memory-limit");
  } catch (const std::filesystem::filesystem_error& e) {
    return complain(failed, fmt::format("{} cannot be used: {}", e.path1().string(), e.code().message()));
  } catch (const std::system_error& e) {
    return complain(failed, fmt::format("the system rejected a request for resources: {}; use fewer --threads, or "
                                        "raise the limits of processes and memory (ulimit -u, ulimit -v)",
                                        e.code().message()));
  } catch (const std::exception& e) {
    return complain(failed, e.what());
  }
}

}  // namespace stereopsis::command
