"""The site as it was built (build/docs/html): links, pictures, what it asks for, search; and that all is documented."""

import doctest
import functools
import http.server
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import numpy as np
import pytest
import stereopsis as st

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import examples  # noqa: E402

HTML = ROOT / "build/docs/html"
XML = ROOT / "build/docs/doxygen/xml"
PAGES = sorted(p for p in (ROOT / "docs").rglob("*.md") if "made" not in p.parts)
COMMAND = os.environ.get("STEREOPSIS_COMMAND", str(ROOT / "build/release/bin/stereopsis"))


class Page(HTMLParser):
    """Collects the links of a page and the targets in it."""

    def __init__(self, file):
        super().__init__()
        self.file, self.ids, self.links, self.loads, self.images = file, {"", "top"}, [], [], []
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.add(given.get("id") or given.get("name") or "")
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") not in ("canonical", "index", "search", "next", "prev", "author"):
            self.loads.append(given["href"])
        if tag in ("img", "script", "iframe", "source") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "img" or (tag == "svg" and given.get("role") == "img"):
            self.images.append((given.get("src"), given.get("alt") or given.get("aria-label")))


@pytest.fixture(scope="module")
def pages():
    made = {file: Page(file) for file in HTML.rglob("*.html")}
    assert len(made) > 40, "the site is not built: ./dev docs"
    return made


def is_outside(address):
    return urllib.parse.urlsplit(address).scheme in ("http", "https") or address.startswith("//")


def test_no_link_inside_is_broken(pages):
    broken, count = [], 0
    for page in pages.values():
        for link in page.links + page.loads:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme:
                continue
            count += 1
            target = (page.file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page.file
            if not target.is_file():
                broken.append(f"{page.file.relative_to(HTML)}: {link}")
            elif target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].ids:
                broken.append(f"{page.file.relative_to(HTML)}: {link} (no such place)")
    print(f"{count} links in {len(pages)} pages")
    assert not broken


def anchors_of(text):
    """The places of a Markdown file to which links may lead, as a repository's web page names them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


def test_links_of_the_repositorys_markdown_lead_somewhere():
    """A reader without the site follows them on the repository's web pages."""
    files = [ROOT / name for name in subprocess.check_output(["git", "ls-files", "*.md"], cwd=ROOT, text=True).split()]
    broken, count = [], 0
    for file in files:
        text = re.sub(r"```.*?```", "", file.read_text(), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if is_outside(link) or link.startswith("mailto:"):
                continue
            count += 1
            path, _, place = link.partition("#")
            target = (file.parent / path).resolve() if path else file
            if not target.exists() or (place and target.suffix == ".md" and place not in anchors_of(target.read_text())):
                broken.append(f"{file.relative_to(ROOT)}: {link}")
    print(f"{count} links in {len(files)} files")
    assert not broken


def test_pages_show_the_examples_as_they_are():
    for page in PAGES:
        assert page.read_text() == examples.with_examples(page.read_text()), f"{page.name}: run ./dev outputs"
        assert "literalinclude" not in page.read_text(), f"{page.name}: readers of the repository do not see included code"


def test_the_version_is_one():
    version = re.search(r"project\(stereopsis VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## (\S+) \(\d{4}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version


def test_every_picture_has_a_text_in_its_place(pages):
    without = [f"{page.file.name}: {source}" for page in pages.values() for source, text in page.images if not text
               and "sidebar-logo" not in str(source) and "mark.svg" not in str(source)]
    assert not without


def test_nothing_is_loaded_from_outside(pages):
    assert not [f"{p.file.name}: {load}" for p in pages.values() for load in p.loads if is_outside(load)]
    for sheet in HTML.rglob("*.css"):
        assert not [u for u in re.findall(r"url\(['\"]?([^'\")]+)", sheet.read_text()) if is_outside(u)], sheet


# Tests in a browser


@pytest.fixture(scope="module")
def site():
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=HTML))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def driver():
    selenium = pytest.importorskip("selenium", reason="selenium drives the browser; ./dev docs installs it")
    from selenium import webdriver

    assert selenium
    chromium, helper = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not helper:
        pytest.skip("chromium and chromedriver are not installed; ./dev docs installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(helper))
    yield driver
    driver.quit()


def requests_of(driver):
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]


SHOWN = ["index", "start", "choosing", "cpp", "python", "streams", "benchmarks", "made/gallery", "made/methods", "made/stages", "made/command",
         "made/cpp/matcher", "made/c", "made/python", "notes/sgm-on-cuda"]


def test_pages_ask_for_nothing_outside_and_say_no_errors(driver, site):
    for name in SHOWN:
        driver.get_log("performance")
        driver.get_log("browser")
        driver.get(f"{site}{name}.html")
        asked = requests_of(driver)
        assert asked and all(url.startswith((site, "data:")) for url in asked), (name, asked)
        assert not [e for e in driver.get_log("browser") if e["level"] == "SEVERE"], name


def test_pages_fit_a_telephone(driver, site):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True})
    try:
        for name in SHOWN:
            driver.get(f"{site}{name}.html")
            assert driver.execute_script("return document.scrollingElement.scrollWidth") <= 390, name
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("word, page", [("workspace_bytes", "matcher"), ("baseline", "geometry"), ("belief propagation", "stages")])
def test_search_works_without_a_server(driver, word, page):
    """The search works on the files, without HTTP."""
    driver.get(f"{HTML.as_uri()}/search.html?q={urllib.parse.quote(word)}")
    found = "return [...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, 40).until(lambda d: any(page in href for href in d.execute_script(found)))


# Tests of the completeness of the documentation


def test_examples_in_the_pages_are_true():
    count = 0
    for page in PAGES:
        if ">>>" in page.read_text():
            failed, tried = doctest.testfile(str(page), module_relative=False)
            assert failed == 0, page
            count += tried
    assert count > 20


def test_the_memory_of_an_8k_pair_is_true(tmp_path):
    page = (ROOT / "docs/how-to/memory-limits.md").read_text()
    call, told = re.search(r"^\$ stereopsis (match left.png right.png .+)\n(.+)$", page, re.MULTILINE).groups()
    for side in ("left", "right"):  # sparse files
        np.lib.format.open_memmap(tmp_path / f"{side}.npy", "w+", np.uint8, (4320, 7680))
    explained = subprocess.run([COMMAND, *call.replace(".png", ".npy").split(), "--memory-limit", "16G"], cwd=tmp_path, check=True,
                               capture_output=True, text=True)
    assert explained.stdout.splitlines()[0] == told


def help_of(*command):
    unwrapped = {**os.environ, "COLUMNS": "10000"}
    return subprocess.run([COMMAND, *command, "--help"], capture_output=True, text=True, check=True, env=unwrapped).stdout


def subcommands():
    listing = help_of().partition("Commands:\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in listing.splitlines()]


def actions_of(name):
    """The actions of a subcommand that has some: scale's plan, run, status and merge."""
    return re.findall(r"^  (\w+) ", help_of(name).partition("\nActions:\n")[2].partition("\n\n")[0], re.MULTILINE)


def test_every_option_has_its_text():
    count = 0
    for name in subcommands():
        lines = [*help_of(name).splitlines(), ""]
        for line, below in zip(lines, lines[1:], strict=False):
            if line.startswith("  -"):
                count += 1
                assert re.match(r"^  \S.*? {2,}\S", line) or below.startswith(" " * 20), f"{name}: {line}"
    print(f"{count} options")
    assert count > 80


def test_calls_in_the_pages_have_options_that_there_are():
    helps = {name: "".join([help_of(name), *(help_of(name, action) for action in actions_of(name))]) for name in subcommands()}
    known = {name: set(re.findall(r"--?[a-z][\w-]*", text)) for name, text in helps.items()}
    count = 0
    for page in PAGES:
        for block in re.findall(r"```(?:sh|console)?\n(.*?)```", page.read_text(), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                found = re.match(r"^\s*(?:\S*/)?stereopsis ([a-z]+) (.*?)(?:\s#.*)?$", line)
                if found and found[1] in known:
                    for option in re.findall(r"(?<=\s)--[a-z][\w-]*", " " + found[2]):
                        count += 1
                        assert option in known[found[1]], f"{page.name}: stereopsis {found[1]} {option}"
    assert count > 50


def test_every_parameter_has_meaning_range_and_paper():
    made = (ROOT / "docs/made/methods.md").read_text()
    count = 0
    for method in st.methods():
        assert method.summary and method.paper and f"## {method.name}\n" in made
        for parameter in st.parameters(method.name):
            count += 1
            assert parameter.description and parameter.allowed, parameter.name
            assert f"| `{parameter.name}` |" in made
    print(f"{count} parameters")
    assert count > 200


def test_every_c_function_and_struct_is_documented():
    sys.path.insert(0, str(ROOT / "docs/site"))
    from reference import c_blocks

    header = (ROOT / "include/stereopsis.h").read_text()
    told = {name for text, declared in c_blocks(header) if text for name in re.findall(r"\bsp_\w+", declared)}
    functions, structs = re.findall(r"^SP_API .*?(sp_\w+)\(", header, re.MULTILINE), re.findall(r"^typedef struct (sp_\w+) \{", header, re.MULTILINE)
    print(f"{len(functions)} functions, {len(structs)} structs")
    assert len(functions) > 35 and not {*functions, *structs} - told
    page = (HTML / "made/c.html").read_text()
    assert not [name for name in (*functions, *structs) if name not in page]


MADE = ("Result", "Calibrated", "CalibrationView", "Scene", "Explanation", "StageCall", "Picture", "cv2.StereoSGBM", "cv2.StereoBM", "cv2.StereoMatcher")  # by the package alone


def public_python():
    """(name, function or class), of what the package exports."""
    for name in st.__all__:
        thing = getattr(st, name)
        if inspect.ismodule(thing):
            for inner in getattr(thing, "__all__", []):
                if callable(getattr(thing, inner)):
                    yield f"{name}.{inner}", getattr(thing, inner)
        elif callable(thing):
            yield name, thing


def parameters_of(function):
    try:
        return [n for n, p in inspect.signature(function).parameters.items() if n not in ("self", "args", "kwargs") and not n.startswith("_")]
    except (TypeError, ValueError):  # the native module has no signatures; its stub and its text do
        return []


def test_every_python_function_and_parameter_is_documented():
    page = (HTML / "made/python.html").read_text()
    missing, functions, parameters = [], 0, 0
    for name, thing in public_python():
        functions += 1
        text = inspect.getdoc(thing) or ""
        if not text:
            missing.append(name)
        if f'id="stereopsis.{name}"' not in page:
            missing.append(f"{name} is not in the reference")
        members = inspect.getmembers(thing, lambda m: inspect.isfunction(m) or isinstance(m, property)) if inspect.isclass(thing) else []
        for inner, member in members:
            if not inner.startswith("_") and not issubclass(thing, Exception):
                functions += 1
                if not inspect.getdoc(member) and not inner.startswith(("get", "set")):  # OpenCV's names say it
                    missing.append(f"{name}.{inner}")
        for parameter in [] if name in MADE else parameters_of(thing):
            parameters += 1
            if not re.search(rf"\b{parameter}\b", told_of(thing), re.IGNORECASE):
                missing.append(f"{name}({parameter})")
    print(f"{functions} functions and classes, {parameters} parameters")
    assert not missing


def told_of(thing):
    """Returns the text on its parameters: its own docstring, and those of the classes to which it refers."""
    text = inspect.getdoc(thing) or ""
    if "those of Matcher" in text:
        text += (inspect.getdoc(st.Matcher) or "") + (inspect.getdoc(st.Matcher.__call__) or "")
    return text


SPECIAL = re.compile(r"operator|^~")


def undocumented(compound):
    """Members without a text; what the language itself makes, compares and converts needs none."""
    owner = compound.findtext("compoundname").rpartition("::")[2]
    for member in compound.iter("memberdef"):
        name, arguments = member.findtext("name"), member.findtext("argsstring") or ""
        if member.get("prot") != "public" or SPECIAL.search(name) or (name == owner and re.search(r"&&|const " + owner + r" &|^\(\)$|^\(\)=", arguments)):
            continue
        if member.get("kind") == "friend" or name.startswith("@") or arguments.endswith("override"):
            continue
        yield f"{compound.findtext('compoundname')}::{name}{arguments}", bool(text_of(member))


def text_of(thing):
    return "".join("".join(thing.find(part).itertext()) for part in ("briefdescription", "detaileddescription")).strip()


def test_every_cpp_member_is_documented():
    missing, count = [], 0
    for file in [*XML.glob("class*.xml"), *XML.glob("struct*.xml"), *XML.glob("namespacestereopsis*.xml")]:
        compound = ElementTree.parse(file).getroot().find("compounddef")
        if "::detail" in compound.findtext("compoundname"):
            continue
        members = [*undocumented(compound)]
        if compound.get("kind") != "namespace" and compound.get("prot") == "public":
            members.append((compound.findtext("compoundname"), bool(text_of(compound))))
        for name, has_text in members:
            count += 1
            if not has_text:
                missing.append(name)
    print(f"{count} functions, types and members")
    assert count > 200
    assert not missing
