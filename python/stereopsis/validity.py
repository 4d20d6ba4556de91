"""Bits of a result's validity: up to `outside` they are reasons why a pixel is invalid."""

no_candidate = 1  #: no disparity of the range lies inside the right image
left_right = 2  #: failed the left-right check
ambiguous = 4  #: no texture, or not unique
speckle = 8  #: a small isolated region
masked = 16  #: masked in the input, or not a finite number there
outside = 32  #: outside the region of interest
filled = 64  #: valid, and not measured there
repaired = 128  #: the same
