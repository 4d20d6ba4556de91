"""Bits of a result's validity. The bits up to `outside` are the reasons why a pixel is invalid."""

no_candidate = 1  #: no candidate of the search range lies inside the right image
left_right = 2  #: failed the left-right check
ambiguous = 4  #: without texture, or without a unique best candidate
speckle = 8  #: in a small isolated region
masked = 16  #: masked in the input, not a finite number there, or in a black region at the border
outside = 32  #: outside the region of interest
filled = 64  #: valid, but a fill took the disparity from other pixels, the pixel has no contrast, only a seed, or (slot `density`) no confidence
repaired = 128  #: valid, but a repair replaced the disparity
