"""The small picture of the browser's tab: a page with a framed line."""

import base64

ICON = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgBAMAAACBVGfHAAAAGFBMVEUAAAD7+vdcXGboWQwAAAAAAAAAAAAAAACkve"
    "juAAAACHRSTlMA////AAAAAAtxdNEAAABhSURBVHjavZDNCcAgDIU/xQHaDcT9ZwpuYCfQHgpJCw1KD32395PwEpgh"
    "AEWZQIRodoYEuamwP+wLH4QEEDYAxuEmRpvtKNbcSSBocLHY7SNOQn6/9m2kZmUdInSzKws4AQnGEUaasrsOAAAAAE"
    "lFTkSuQmCC"
)
