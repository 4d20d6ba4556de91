// The other subcommands, as people and programs use them.
#include "command.hpp"
#include "stereopsis/io.hpp"
#include "stereopsis/simd.hpp"
#include "support/sanitized.hpp"

namespace stereopsis::test {
namespace {

class Programs : public Command {
 protected:
  // Returns the names of the methods. With sanitizers, returns every fourth name.
  static std::vector<std::string> method_names() {
    std::vector<std::string> names;
    int index = 0;
    for (const Json& method : Json::parse(call({"methods", "--json"}).out))
      if (index++ % (sanitized ? 4 : 1) == 0) names.push_back(method["name"]);
    return names;
  }
};

TEST_F(Programs, HelpAndVersion) {
  for (const char* name : {"match", "evaluate", "methods", "devices", "bench", "synth", "check"}) {
    const Answer answer = call({name, "--help"});
    EXPECT_EQ(answer.code, 0) << name;
    EXPECT_EQ(answer.err, "") << name;
    EXPECT_NE(call({"--help"}).out.find(name), std::string::npos) << name;
  }
  EXPECT_TRUE(call({"--version"}).out.starts_with("stereopsis "));
  const std::string parts = call({"--version", "--verbose"}).out;
  for (const char* part : {"files: TIFF", "calibrate, videos, by OpenCV"})
    EXPECT_NE(parts.find(part), std::string::npos) << parts;
  const std::string of_build = parts.substr(parts.find('\n') + 1);
  EXPECT_NE(call({"devices"}).out.find(of_build), std::string::npos) << of_build;
}

// A copy of the program elsewhere finds no module for OpenCV, or one that is none: all other calls work.
TEST_F(Programs, WithoutOpenCvOneSentenceSaysWhatToInstall) {
  const fs::path program = folder / "moved/bin/stereopsis",
                 module = folder / "moved/lib/stereopsis/libstereopsis_opencv.so";
  fs::create_directories(program.parent_path());
  fs::copy_file(STEREOPSIS_COMMAND, program);
  write(folder / "clip.avi", "RIFF\x10");
  const std::vector<std::vector<std::string>> calls = {
      {"calibrate", "--left", "scene/left.png", "--right", "scene/right.png", "--board", "chessboard:9x6:25mm", "-o",
       "rig.yml"},
      {"match", "clip.avi", "clip.avi", "-o", "out"},
      {"evaluate", "--dataset", "scene", "--method", "opencv:3WAY"}};
  for (const bool damaged : {false, true}) {
    if (damaged) {
      fs::create_directories(module.parent_path());
      write(module, "no module");
    }
    for (const auto& arguments : calls) {
      const Answer answer = run(program.c_str(), arguments);
      EXPECT_EQ(answer.code, 1) << arguments[0];
      for (const char* part : {"requires OpenCV", damaged ? "cannot be loaded (" : "lacks the module", "libopencv-dev"})
        EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
    }
    const Answer bench = run(program.c_str(), {"bench", "--size", "64x48x16", "--repeat", "1", "--no-stream"});
    EXPECT_EQ(bench.code, 0) << bench.err;
    EXPECT_NE((bench.out + bench.err).find("left out: OpenCV's matchers"), std::string::npos) << bench.out << bench.err;
  }
}

TEST_F(Programs, SynthGivesTheSameBytesAgain) {
  ASSERT_EQ(call({"synth", "-o", "again", "--width", "150", "--height", "110", "--disparities", "32"}).code, 0);
  for (const char* file : {"left.png", "right.png", "disp_left.pfm", "disp_right.pfm", "mask_nonocc.png",
                           "mask_disc.png", "dataset.json"}) {
    EXPECT_FALSE(contents(folder / "scene" / file).empty()) << file;
    EXPECT_TRUE(contents(folder / "scene" / file) == contents(folder / "again" / file)) << file;
  }
}

// Training data: `--stacked` holds the scenes that are otherwise in folders of their own, and each can be made again.
TEST_F(Programs, SynthMakesManyRandomScenes) {
  const std::vector<std::string> some{"--random", "--count",         "3",  "--width",          "50", "--height",
                                      "30",       "--picture-width", "90", "--picture-height", "70", "--seed",
                                      "7"};
  const auto make = [&](const char* name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"synth", "-o", name};
    arguments.insert(arguments.end(), some.begin(), some.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    ASSERT_EQ(call(arguments).code, 0);
  };
  make("many", {});
  make("one-array", {"--stacked"});
  ASSERT_EQ(call({"evaluate", "--dataset", "many", "--method", "sgm", "--json", "many.json"}).code, 0);
  EXPECT_EQ(json("many.json")["scenes"].size(), 3u);
  const Image<float> all = read_disparity(folder / "one-array" / "disp_left.npy");
  ASSERT_EQ(all.size(), (Size{50, 90}));
  const Json list = json("one-array/scenes.json");
  EXPECT_EQ(list["height"], 30);
  for (int i = 0; i < 3; ++i) {
    const std::string name = "many/00000" + std::to_string(i);
    EXPECT_EQ(list["scenes"][i]["synth"], json(name + "/dataset.json")["synth"]);
    const Image<float> one = read_disparity(folder / name / "disp_left.pfm");
    for (int y = 0; y < 30; ++y)
      EXPECT_TRUE(std::equal(one.row(y), one.row(y) + 50, all.row(30 * i + y))) << i << ", row " << y;
  }
}

TEST_F(Programs, SynthMakesScenesOfAMixture) {
  ASSERT_EQ(call({"synth", "-o", "roads", "--random", "--like", "road", "--count", "2", "--width", "62", "--height",
                  "19", "--disparities", "16"})
                .code,
            0);
  for (const char* name : {"roads/000000/dataset.json", "roads/000001/dataset.json"}) {
    const std::string scene = json(name)["name"];
    EXPECT_TRUE(scene == "traffic" || scene == "hills") << scene;
  }
  const Answer wrong = call({"synth", "-o", "none", "--random", "--like", "roads"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("did you mean 'road'?"), std::string::npos) << wrong.err;
  EXPECT_EQ(call({"synth", "-o", "none", "--like", "road"}).code, 2) << "--like needs --random";
}

TEST_F(Programs, TheTruthItselfHasNoError) {
  const Answer answer = call({"evaluate", "scene/disp_left.pfm", "--truth", "scene/disp_left.pfm", "--mask",
                              "scene/mask_nonocc.png", "--error-image", "error.png", "--json", "truth.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const Json measures = json("truth.json")["measures"];
  for (const char* name :
       {"bad0.5", "bad1.0", "bad2.0", "bad4.0", "d1", "out3", "avgerr", "rms", "a90", "a95", "a99"}) {
    EXPECT_EQ(measures[name].get<double>(), 0) << name;
    EXPECT_EQ(measures["valid"][name].get<double>(), 0) << name;
  }
  EXPECT_EQ(measures["density"].get<double>(), 100);
  EXPECT_GT(read_image(folder / "error.png").size().height, 110) << "a legend lies below";
}

TEST_F(Programs, AMapWithoutDisparitiesIsAllBadAndHasNoAverage) {
  write_disparity(folder / "none.pfm", Image<float>({150, 110}, 1, invalid_disparity));
  ASSERT_EQ(call({"evaluate", "none.pfm", "--truth", "scene/disp_left.pfm", "--json", "none.json"}).code, 0);
  const Json measures = json("none.json")["measures"];
  EXPECT_EQ(measures["bad4.0"], 100);
  EXPECT_EQ(measures["d1"], 100);
  EXPECT_EQ(measures["density"], 0);
  EXPECT_TRUE(measures["avgerr"].is_null());
  EXPECT_TRUE(measures["valid"]["bad1.0"].is_null());
}

TEST_F(Programs, EvaluateTakesTheScaleOfTheTruth) {
  ASSERT_EQ(match({"-o", "d.pfm"}).code, 0);
  write_disparity(folder / "truth8.png", read_disparity(folder / "scene/disp_left.pfm"), 8);
  ASSERT_EQ(call({"evaluate", "d.pfm", "--truth", "scene/disp_left.pfm", "--json", "a.json"}).code, 0);
  ASSERT_EQ(call({"evaluate", "d.pfm", "--truth", "truth8.png", "--scale", "8", "--json", "b.json"}).code, 0);
  EXPECT_NEAR(json("a.json")["measures"]["avgerr"].get<double>(), json("b.json")["measures"]["avgerr"].get<double>(),
              0.07);
  const Answer without = call({"evaluate", "d.pfm", "--truth", "truth8.png"});
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("scale"), std::string::npos) << without.err;
}

TEST_F(Programs, EvaluateADatasetAsTableAndJson) {
  const Answer answer = call({"evaluate", "--dataset", "scene", "--json", "evaluation.json", "--method", "sgm"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("150×110"), std::string::npos) << answer.out;
  const Json json_ = json("evaluation.json");
  EXPECT_EQ(json_["method"], "sgm");
  EXPECT_FALSE(json_["device"].get<std::string>().empty());
  EXPECT_FALSE(json_["parameters"].empty());
  ASSERT_EQ(json_["scenes"].size(), 1U);
  const Json scene = json_["scenes"][0];
  EXPECT_EQ(scene["width"], 150);
  EXPECT_EQ(scene["height"], 110);
  EXPECT_EQ(scene["disparities"], disparities);
  EXPECT_GT(scene["ms"].get<double>(), 0);
  for (const char* mask : {"nonocc", "all", "disc"})
    for (const char* name :
         {"bad0.5", "bad1.0", "bad2.0", "bad4.0", "d1", "out3", "avgerr", "rms", "a90", "a95", "a99", "density"}) {
      EXPECT_TRUE(scene["measures"][mask][name].is_number()) << mask << ' ' << name;
      EXPECT_TRUE(scene["measures"][mask]["valid"][name].is_number()) << mask << ' ' << name;
    }
  EXPECT_LT(scene["measures"]["nonocc"]["bad2.0"].get<double>(), 25);
  EXPECT_EQ(json_["average"].size(), 1U);  // one dataset
}

// The pipeline that `methods` prints as JSON, and the names of parameters that it prints, give the map of the method.
TEST_F(Programs, MatchTakesWhatMethodsPrints) {
  for (const std::string& name : method_names()) {
    SCOPED_TRACE(name);
    const Answer printed = call({"methods", name, "--json"});
    ASSERT_EQ(printed.code, 0) << printed.err;
    write(folder / "pipeline.json", printed.out);
    ASSERT_EQ(match({"-o", "named.pfm", "--method", name, "--report", "named.json"}).code, 0);
    const Answer read = match({"-o", "read.pfm", "--pipeline", "pipeline.json", "--report", "read.json"});
    ASSERT_EQ(read.code, 0) << read.err;
    EXPECT_TRUE(contents(folder / "named.pfm") == contents(folder / "read.pfm"));
    const Json parameters = json("named.json")["parameters"];
    EXPECT_EQ(parameters, json("read.json")["parameters"]);

    const std::string shown = call({"methods", name}).out;
    ASSERT_FALSE(parameters.empty());
    std::vector<std::string> all = {"-o", "set.pfm", "--method", name};
    for (const auto& [parameter, value] : parameters.items()) {
      EXPECT_NE(shown.find(parameter), std::string::npos) << parameter;
      std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
      all.insert(all.end(), {"--set", parameter + "=" + text});
    }
    const Answer set = match(all);
    EXPECT_EQ(set.code, 0) << set.err;
    EXPECT_TRUE(contents(folder / "named.pfm") == contents(folder / "set.pfm"));
  }
}

TEST_F(Programs, DevicesNamesTheCpu) {
  const Answer answer = call({"devices"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("cpu"), std::string::npos);
}

TEST_F(Programs, ConformanceWritesAReport) {
  if (sanitized) GTEST_SKIP() << "takes minutes under a sanitizer, where api_test checks the same stages";
  const Answer checked = call({"conformance", "--device", "cpu", "--report", "report.json"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  const Json report = json("report.json");
  EXPECT_NE(report["compiler"].get<std::string>(), "");
  ASSERT_EQ(report["runs"].size(), 1u);
  const Json run = report["runs"][0];
  EXPECT_EQ(run["device"]["name"], "cpu");
  EXPECT_EQ(run["failed"], 0);
  EXPECT_EQ(run["cases"].size(), run["passed"].get<std::size_t>());
  EXPECT_EQ(run["cases"][0]["hash"], run["cases"][0]["expected"]);
}

TEST_F(Programs, BenchKeys) {
  const Answer answer = call({"bench", "--method", "banz-sgm", "--size", "96x64x16", "--repeat", "2", "--threads", "1",
                              "--device", "cpu", "--json", "bench.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(json("bench.json")["hardware"]["cpu"].is_string());
  const Json results = json("bench.json")["results"];
  ASSERT_FALSE(results.empty());
  const Json ours = results[0];
  EXPECT_EQ(ours["method"], "banz-sgm");
  EXPECT_EQ(ours["device"], "cpu");
  EXPECT_EQ(ours["width"], 96);
  EXPECT_EQ(ours["height"], 64);
  EXPECT_EQ(ours["disparities"], 16);
  EXPECT_EQ(ours["batch"], 1);
  EXPECT_EQ(ours["threads"], 1);
  EXPECT_TRUE(ours["peer"].is_null());
  EXPECT_TRUE(ours["commit"].is_string());
  EXPECT_LE(ours["min_ms"].get<double>(), ours["median_ms"].get<double>());
  EXPECT_NEAR(ours["gde_per_s"].get<double>(), 96 * 64 * 16 / ours["median_ms"].get<double>() * 1e-6, 1e-9);
  for (const char* key : {"parameters", "workspace_bytes", "roof", "stages"}) EXPECT_TRUE(ours.contains(key)) << key;
  for (std::size_t i = 1; i < results.size(); ++i) EXPECT_TRUE(results[i]["peer"].is_string());
}

TEST_F(Programs, BenchTakesAPipelineFromAFile) {
  const Answer printed = call({"methods", "banz-sgm", "--json"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  auto pipeline = nlohmann::ordered_json::parse(printed.out);  // the order of the slots counts
  pipeline["cost"] = {{"stage", "census"}, {"window", "9x7"}};
  write(folder / "census.json", pipeline.dump());
  const Answer answer = call({"bench", "--method", "census.json:sgm.paths=4", "--size", "96x64x16", "--repeat", "1",
                              "--device", "cpu", "--no-peers", "--json", "bench.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const Json ours = json("bench.json")["results"][0];
  EXPECT_EQ(ours["method"], "census.json:sgm.paths=4");
  EXPECT_EQ(ours["parameters"]["cost.window"], "9x7");
  EXPECT_EQ(ours["parameters"]["optimisation.paths"], 4);
  EXPECT_EQ(call({"bench", "--method", "nothing.json", "--size", "96x64x16"}).code, 1);
}

TEST_F(Programs, SimdTargetsOfThisMachineReturnTheSameBits) {
  std::vector<std::string> bench = {"bench",    "--size", "96x64x16",   "--repeat", "1",
                                    "--device", "cpu",    "--no-peers", "--json",   "bench.json"};
  std::string expected;
  for (const std::string& target : simd_targets()) {
    const Answer answer = call({"match", "scene/left.png", "scene/right.png", "--disparities", "48", "--device", "cpu",
                                "--simd", target, "-o", "of_target.pfm"});
    ASSERT_EQ(answer.code, 0) << answer.err;
    const std::string bytes = contents(folder / "of_target.pfm");
    EXPECT_EQ(bytes, expected.empty() ? bytes : expected) << target;
    expected = bytes;
    bench.insert(bench.end(), {"--simd", target});
  }
  const Answer answer = call(bench);
  ASSERT_EQ(answer.code, 0) << answer.err;
  const Json results = json("bench.json")["results"];
  ASSERT_EQ(results.size(), simd_targets().size());
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i]["simd"], simd_targets()[i]);
}

TEST_F(Programs, BenchOfADatasetScoresMethodsAndPeersAlike) {
  const Answer answer =
      call({"bench", "--dataset", "scene", "--method", "sgm", "--method", "sgm:sgm.paths=8,select.subpixel=none",
            "--set", "sgm.paths=4", "--device", "cpu", "--threads", "1", "--repeat", "1", "--json", "scenes.json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("sgm:sgm.paths=8"), std::string::npos) << answer.out;
  const Json results = json("scenes.json")["results"];
  ASSERT_GE(results.size(), 2U);
  EXPECT_EQ(results[0]["method"], "sgm");
  EXPECT_EQ(results[0]["parameters"]["optimisation.paths"], 4);
  EXPECT_EQ(results[1]["method"], "sgm:sgm.paths=8,select.subpixel=none");
  EXPECT_EQ(results[1]["parameters"]["optimisation.paths"], 8);
  EXPECT_EQ(results[1]["parameters"]["select.subpixel"], "none");
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(results[i]["method"]);
    EXPECT_EQ(results[i]["peer"].is_string(), i >= 2);
    ASSERT_EQ(results[i]["scenes"].size(), 1U);
    const Json scene = results[i]["scenes"][0];
    EXPECT_EQ(scene["width"], 150);
    EXPECT_EQ(scene["height"], 110);
    EXPECT_EQ(scene["disparities"], disparities);
    EXPECT_GT(scene["ms"].get<double>(), 0);
    EXPECT_EQ(scene["measures"]["all"]["density"], 100);  // a peer's map too has neither holes nor a lost band
    EXPECT_LT(scene["measures"]["nonocc"]["bad2.0"].get<double>(), 40);
  }
  // `evaluate` gives the same measures.
  ASSERT_EQ(call({"evaluate", "--dataset", "scene", "--device", "cpu", "--json", "evaluation.json"}).code, 0);
  EXPECT_EQ(results[0]["scenes"][0]["measures"], json("evaluation.json")["scenes"][0]["measures"]);

  ASSERT_EQ(call({"bench", "--dataset", "scene", "--no-peers", "--repeat", "1", "--json", "scenes.json"}).code, 0);
  EXPECT_EQ(json("scenes.json")["results"].size(), 1U);
  EXPECT_EQ(call({"bench", "--dataset", "scene", "--size", "96x64x16"}).code, 2);
  EXPECT_EQ(call({"bench", "--dataset", "nowhere"}).code, 2);
  EXPECT_EQ(call({"bench", "--method", "sgm:sgm.paths", "--size", "96x64x16"}).code, 2);
}

TEST_F(Programs, NamedPeersAreEvaluatedOrTheReasonIsGiven) {
  const Answer answer = call({"evaluate", "--dataset", "scene", "--method", "sgm", "--method", "opencv:3WAY",
                              "--device", "cpu", "--html", "page.html"});
  if (answer.code == 0) {
    EXPECT_NE(answer.out.find("OpenCV StereoSGBM 3WAY"), std::string::npos) << answer.out;
    EXPECT_NE(contents(folder / "page.html").find("OpenCV StereoSGBM 3WAY"), std::string::npos);
    EXPECT_EQ(call({"evaluate", "--dataset", "scene", "--method", "opencv:4WAY"}).code, 2);
  } else {
    EXPECT_NE(answer.err.find("a matcher of OpenCV requires OpenCV"), std::string::npos) << answer.err;
  }
  ASSERT_EQ(call({"synth", "-o", "tiny", "--width", "24", "--height", "4", "--disparities", "16"}).code, 0);
  const Answer tiny =
      call({"evaluate", "--dataset", "tiny", "--method", "opencv:BM", "--html", "tiny.html", "--json", "tiny.json"});
  if (answer.code == 0) {  // the page and the JSON have no method, and the reason is said
    EXPECT_EQ(tiny.code, 0) << tiny.err;
    EXPECT_NE(tiny.err.find("is left out"), std::string::npos) << tiny.err;
    EXPECT_TRUE(json("tiny.json")["results"].empty());
  }
  const Answer both = call({"bench", "--dataset", "scene", "--no-peers", "--method", "opencv:3WAY"});
  EXPECT_NE(both.code, 0) << both.out;
  const Answer libelas = call({"bench", "--dataset", "scene", "--repeat", "1", "--method", "libelas"});
  if (libelas.code != 0) {
    EXPECT_NE(libelas.err.find("libelas cannot run: this build was made without it"), std::string::npos) << libelas.err;
  }
}

TEST_F(Programs, CheckTellsAFitPairFromASwappedOne) {
  ASSERT_EQ(call({"synth", "-o", "large", "--width", "400", "--height", "300", "--disparities", "40"}).code, 0);
  const Answer fit = call({"check", "large/left.png", "large/right.png"});
  EXPECT_EQ(fit.code, 0) << fit.out << fit.err;
  const Answer swapped = call({"check", "large/right.png", "large/left.png"});
  EXPECT_EQ(swapped.code, 1);
  EXPECT_NE(swapped.out.find("swapped"), std::string::npos) << swapped.out;
}

}  // namespace
}  // namespace stereopsis::test
