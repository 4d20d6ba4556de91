# Sums up a run of all tests: awk -f summary.awk ctest.xml results/*.txt, of one build or of several.
# How each GoogleTest case ended is in the .txt files, which tests/support/main.cpp writes; an entry of ctest without one (a
# script, a fuzz target) counts as one case. A case that started and did not end has failed. Ends with 1 if any failed, or,
# with -v strict=1, if any was skipped for want of something other than a GPU.

function entry_of(file) {
  sub(/.*\//, "", file)
  return substr(file, 1, length(file) - 4)
}

FNR == 1 { close_entry(); entry = entry_of(FILENAME) }
FILENAME ~ /\.xml$/ {
  if ($0 !~ /<testcase /) next
  name = status = $0
  sub(/.* name="/, "", name); sub(/".*/, "", name)
  sub(/.* status="/, "", status); sub(/".*/, "", status)
  statuses[name] = status
  next
}

BEGIN { FS = "\t" }
{ seen[entry] = 1 }
$1 == "started" { running = $2; next }
{ running = "" }
$1 == "passed" { ++passed }
$1 == "failed" { fail(entry ": " $2) }
$1 == "skipped" { skip(entry ": " $2, $3) }

function fail(what) { ++failed; failures = failures "  " what "\n"; failed_in[entry] = 1 }
function skip(what, why) {
  ++skipped
  ++reasons[why]
  which[why] = which[why] "  " what "\n"
}
function close_entry() {
  if (running != "") fail(entry ": " running " (did not end)")
  running = ""
}

END {
  close_entry()
  for (name in statuses) {
    entry = name
    if (statuses[name] == "run") {
      if (!(name in seen)) ++passed
    } else if (statuses[name] == "fail") {
      if (!(name in failed_in)) fail(name ": failed outside its cases")
    } else {
      skip(name, "ctest did not run it")
    }
  }
  for (why in reasons) {
    ++kinds
    printf "skipped: %s (%d)\n%s", why, reasons[why], which[why]
    if (why !~ /^(on the processor alone; )?no (GPU|CUDA device)/) unwanted += reasons[why]
  }
  if (failed) printf "failed:\n%s", failures
  if (strict && unwanted) printf "%d skipped for want of something other than a GPU, which has to be there\n", unwanted
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  exit failed > 0 || (strict && unwanted > 0)
}
