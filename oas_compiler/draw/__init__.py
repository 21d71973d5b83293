"""Pictures of a flow: SVG, a web page, PNG, Mermaid text.

    picture = lay_out(flow)                 # FlowIR -> boxes, frames and lines with their places
    svg_text(picture, theme="auto")         # str
    html_page(picture)                      # str, one file, no script
    png_bytes(picture, theme="dark")        # bytes, needs the extra draw

The stages, in order:

grid.py           one level of the flow: rows, columns, lines
arrangement.py    those four put together; one level of the flow: rows, columns, lines
picture.py        the whole flow, subflows as frames; one node -> its box; text: safe, measured,
                  in lines
svg.py            the SVG text
picture_files.py  the page and the image
mermaid.py        flow -> Mermaid text, without these stages
"""

from oas_compiler.draw.picture import Picture, lay_out
from oas_compiler.draw.svg import Theme, svg_text

__all__ = ["Picture", "Theme", "lay_out", "svg_text"]
