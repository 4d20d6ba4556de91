"""Files of results: Result.save and st.write_point_cloud."""

import os
import pathlib
import re
import socket

import numpy as np
import pytest
import stereopsis as st
from stereopsis import _native

RIG = st.Rig(focal=300, baseline=120, cx_left=80, cy=60, unit="mm", size=(160, 120))


@pytest.fixture(scope="module")
def result(scene):
    return st.match(scene.left, scene.right, 32, device="cpu", rig=RIG, want=["right", "depth", "points", "uncertainty"])


@pytest.mark.parametrize("ending", ["pfm", "npy", "tiff", "png"])
def test_the_ending_chooses_the_format(result, tmp_path, ending):
    file = tmp_path / f"d.{ending}"
    result.save(file)
    found = st.read_disparity(file)
    np.testing.assert_allclose(found, result.disparity, atol=0 if ending != "png" else 1 / 512)


def test_every_output_has_its_file(result, scene, tmp_path, same_bits):
    files = {name: str(tmp_path / f"{name}.{ending}") for name, ending in {
        "color": "png", "right": "pfm", "depth": "tiff", "uncertainty": "npy", "validity": "png", "points": "ply"}.items()}  # fmt: skip
    result.save(tmp_path / "d.pfm", image=scene.left, **files)
    for name in ("right", "depth", "uncertainty"):
        np.testing.assert_array_equal(st.read_disparity(files[name]), getattr(result, name))
    same_bits(st.read_image(files["color"]), result.color())
    same_bits(st.read_image(files["validity"]), result.validity)
    result.save(tmp_path / "picture.jpg")
    assert st.read_image(tmp_path / "picture.jpg").shape == (120, 160, 3)
    result.save(str(tmp_path / "cloud.pcd"))
    assert (tmp_path / "cloud.pcd").read_bytes().startswith(b"# .PCD")


@pytest.mark.parametrize("organised", [False, True])
@pytest.mark.parametrize("ending", ["ply", "pcd"])
def test_clouds_are_those_of_the_command(result, scene, tmp_path, command, ending, organised):
    st.write_image(tmp_path / "left.png", scene.left)
    RIG.write(tmp_path / "rig.yml")
    result.save(tmp_path / "d.pfm", validity=tmp_path / "v.png", points=tmp_path / f"saved.{ending}", image=scene.left)
    st.write_point_cloud(tmp_path / f"written.{ending}", result.points, scene.left, organised=organised)
    calib, left = ("--calib", tmp_path / "rig.yml"), ("--color", tmp_path / "left.png")
    more = ["--organised"] if organised else []
    command("cloud", tmp_path / "d.pfm", "--validity", tmp_path / "v.png", *calib, *left, *more, "-o", tmp_path / f"c.{ending}")
    expected = (tmp_path / f"c.{ending}").read_bytes()
    assert (tmp_path / f"written.{ending}").read_bytes() == expected
    assert organised or (tmp_path / f"saved.{ending}").read_bytes() == expected


def test_what_cannot_be_saved_writes_nothing(result, scene, tmp_path):
    os.chdir(tmp_path)
    st.write_image("left.png", scene.left)
    st.read_image("left.png")
    os.symlink("left.png", "link.png")
    for call, said in (
        (lambda: result.save("d.bmp"), "disparity='d.bmp' cannot store the disparity; use .pfm, .npy"),
        (lambda: result.save("d.pfm", depth="z.png"), "depth='z.png' cannot store the depth; use .pfm"),
        (lambda: result.save("d.pfm", confidence="c.pfm"), "has no confidence, which was not requested; pass want="),
        (lambda: result.save("d.pfm", right="./d.pfm"), "is given for two outputs; give"),
        (lambda: result.save("left.png"), "'left.png' is an input, from which this process has read .*; choose another name"),
        (lambda: result.save("d.pfm", color="link.png"), "'link.png' is an input"),
        (lambda: result.save("c.ply", points="d.ply"), "both given for the points; give one of them"),
        (lambda: result.save(), "got no file; give"),
        (lambda: st.write_point_cloud("c.ply", result.depth), "points has the shape .* points must be"),
        (lambda: st.write_point_cloud("c.ply", result.points, scene.left[:9]), "does not match the size of the points"),
        (lambda: st.write_point_cloud("c.ply", result.points, scene.left.astype(np.float32)), "color has the type float32; it must be uint8"),
    ):
        with pytest.raises(st.CallError, match=said):
            call()
    with pytest.raises(st.FileError):
        result.save("nowhere/d.pfm")
    assert sorted(os.listdir()) == ["left.png", "link.png"]
    with pytest.raises(st.CallError, match="is an input"):
        pair = next(iter(st.PairSource("link.png", "left.png")))
        assert pair.left.shape == (120, 160, 3)
        result.save(os.path.realpath("left.png"))
    result.save("d.png")
    result.save("d.png")  # an output may be replaced


@pytest.mark.parametrize("name", ["v.mp4", "n" * 251 + ".mp4"])
def test_what_is_not_complete_has_the_name_of_this_process(tmp_path, name):
    file = tmp_path / name
    _native.write_bytes(file, b"old")
    made, other = _native.unfinished_file(file), _native.unfinished_file(file)
    for one in (made, other):
        assert one.parent == tmp_path and one.suffix == ".mp4" and len(one.name.encode()) <= 255
        assert one.name.startswith(".") and f".{socket.gethostname()}.{os.getpid()}." in one.name
    made.write_bytes(b"new")
    assert made != other and file.read_bytes() == b"old"
    _native.finish_file(made, file)
    other.unlink()
    assert file.read_bytes() == b"new" and list(tmp_path.iterdir()) == [file]
    parts = _native.name_beside(file, ".parts")
    assert parts == _native.name_beside(file, ".parts") and len(parts.name.encode()) <= 255


def test_no_other_function_makes_temporary_names():
    """One function of the library names such files, with host and process, and another replaces a file whole."""
    for file in pathlib.Path(st.__file__).parent.rglob("*.py"):
        assert not re.search(r"""getpid|fsync|\.(part|tmp)["'.]|\.replace\((path|target|file)\)""", file.read_text()), file
