"""Builds the package of packages/conda by rattler-build, and runs the recipe's tests: conda.py FOLDER.

The packages that the recipe requires are empty ones in a channel in FOLDER: the build finds the system's libraries and
compiler.
"""

import pathlib
import sys

from rattler_build import Package, Stage0Recipe, VariantConfig

SETTINGS = 'export CMAKE_ARGS="-DCMAKE_INSTALL_PREFIX=$PREFIX -DCMAKE_BUILD_TYPE=Release"'  # conda-forge's compiler sets more
COMPILER = ["mkdir -p $PREFIX/etc/conda/activate.d", f"echo '{SETTINGS}' >$PREFIX/etc/conda/activate.d/compiler.sh"]


def stand_in(name, folder, channel):
    """Adds an empty package to the channel. Its version is one that Python can have, whose package is among them."""
    build = {"noarch": "generic", "script": COMPILER if name.startswith("gxx") else []}
    recipe = Stage0Recipe.from_dict({"package": {"name": name, "version": "3.11"}, "build": build}, recipe_dir=folder / name)
    for variant in recipe.render():
        variant.run_build(output_dir=channel, channels=[])


def main(folder):
    channel = folder / "channel"
    (variant,) = Stage0Recipe.from_file("packages/conda/recipe.yaml").render(VariantConfig({"c_stdlib": ["sysroot"]}))
    required = variant.recipe.requirements
    for package in [*required.build, *required.host]:
        stand_in(str(package), folder, channel)
    built = variant.run_build(output_dir=folder / "built", channels=[channel.as_uri()])
    for package in built.packages:
        results = Package.from_file(package).run_tests(channel=[channel.as_uri()])
        print(package, *results)
        if not results or not all(result.success for result in results):
            sys.exit(1)


main(pathlib.Path(sys.argv[1]).resolve())
