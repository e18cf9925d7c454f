"""The colours of all pictures and of the report, each defined once, here.

They are Okabe and Ito's, which people with any kind of colour vision can tell apart, and a violet.

Examples
--------
>>> from dataworth import palette
>>> palette.CLASSES[0] == palette.BLUE
True
"""

BLACK, GREY = "#000000", "#7F7F7F"
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, VIOLET = "#56B4E9", "#D55E00", "#7A6FF0"
PALE_BLUE = "#CFE3F1"  # to fill what has a blue outline

# One colour per class, in this order, on a light and on a dark ground; the classes that are left
# over share the last one.
CLASSES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, VIOLET)
CLASSES_ON_DARK = ("#4C9FD8", "#E8AD2E", "#2DB88F", "#D98FB8", "#8FD0F5", "#E87A2F", "#9B92FF")
OTHER, OTHER_ON_DARK = "#9AA1AD", "#7D8694"
