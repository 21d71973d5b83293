"""Pictures of a flow: SVG, a web page, PNG, Mermaid text.

    picture = lay_out(flow)                 # FlowIR -> boxes, frames and lines with their places
    svg_text(picture, theme="auto")         # str
    html_page(picture)                      # str, one file, no script
    png_bytes(picture, theme="dark")        # bytes, needs the extra draw

The stages, in order:

    words.py                                  text: safe, measured, in lines
    boxes.py                                  one node -> its box
    ranks.py columns.py wires.py folds.py     one level of the flow: rows, columns, lines
    arrange.py                                those four put together
    layout.py                                 the whole flow, subflows as frames
    colours.py shapes.py legend.py svg.py     the SVG text
    html.py png.py                            the page and the image

    mermaid.py                                flow -> Mermaid text, without these stages
"""

from oas_compiler.draw.colours import Theme
from oas_compiler.draw.layout import Picture, lay_out
from oas_compiler.draw.svg import svg_text

__all__ = ["Picture", "Theme", "lay_out", "svg_text"]
