"""The settings of a job: the input pairs, the method, and how the work is divided."""

from dataclasses import dataclass

from .._pipeline import Pipeline


@dataclass(frozen=True)
class Settings:
    """Settings of one job. Either `disparities` or `coarse` must be given."""

    pairs: list[tuple[str, str]]  # file names of the left and the right images
    pipeline: Pipeline
    disparities: tuple[int, int] | None = None  # search range: the lowest disparity, and one past the highest; None: found by `coarse`
    coarse: int = 0  # reduction factor of the coarse pass that finds the search range; at least 2, 0: no coarse pass
    seeds: str | None = None  # file of seeds: disparities of the left image as float32, NaN or no data where unknown
    seed_trust: str | None = None  # file of the trust in each seed, 0 to 1
    device: str = "auto"
    align_rows: str = "auto"  # auto, off, numbers or a file, as in `match`; auto is estimated once from the whole pair
    bit_depth: int = 0  # significant bits of 16-bit images; 0: as the file says
    confidence: bool = False  # compute a confidence map too
    memory: int = 4 << 30  # bytes that one worker may use
    stripes: int | None = None  # number of stripes for semi-global matching; None: as few as `memory` allows
    tile: tuple[int | None, int | None] = (None, None)  # width and height of a tile in pixels; None: as large as `memory` allows
    collar: int | None = None  # pixels around a tile for semi-global matching in tiles, which is not exact; None: exact
    audit: int = 0  # number of seams that are matched again with twice the collar
    full_hash: bool = False  # identify inputs by all of their bytes instead of by samples
    compression: str = "zstd"  # compression of the maps between units: a key of rasters.FAST
