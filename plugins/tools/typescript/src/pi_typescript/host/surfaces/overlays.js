// Overlays: their places in pi's terms, and the handles by which extensions control them.

const ANCHORS = { "top-center": "top", "bottom-center": "bottom", "left-center": "left", "right-center": "right" };

/** Cells of an overlay that says nothing; a narrower screen gives it less. */
const USUAL_WIDTH = 80;

/** The place of an overlay as pi has it, from the original's options. */
export function placeOf(options, screen) {
  const { anchor = "center", width, minWidth, maxHeight, margin, offsetX = 0, offsetY = 0, row, col } = options;
  const sides = typeof margin === "object" ? Object.values(margin) : [];
  const place = {
    anchor: ANCHORS[anchor] ?? anchor,
    offset: [offsetX, offsetY],
    margin: typeof margin === "number" ? margin : sides.length > 0 ? Math.min(...sides) : 0,
  };
  place.width = width ?? USUAL_WIDTH;
  if (minWidth !== undefined) place.minWidth = minWidth;
  if (maxHeight !== undefined) place.height = maxHeight;
  if (row !== undefined || col !== undefined) {
    const size = screen ?? { width: 80, height: 24 };
    place.anchor = row === undefined ? "left" : col === undefined ? "top" : "top-left";
    place.offset = [cells(col, size.width) + offsetX, cells(row, size.height) + offsetY];
  }
  return place;
}

function cells(length, room) {
  if (length === undefined) return 0;
  return typeof length === "number" ? length : Math.floor((room * Number.parseFloat(length)) / 100);
}

/** The handle of an overlay. */
export function overlayHandle(drawn) {
  return {
    hide: () => drawn.close(),
    setHidden(hidden) {
      if (drawn.isHidden === hidden) return;
      drawn.isHidden = hidden;
      drawn.send("overlay", { hidden });
    },
    isHidden: () => drawn.isHidden,
    focus: () => drawn.send("overlay", { focus: true }),
    unfocus: () => drawn.send("overlay", { focus: false }),
    isFocused: () => drawn.isFocused,
    getBounds: () => (drawn.isOpen && drawn.width !== undefined ? { row: 0, col: 0, width: drawn.width, height: drawn.height } : undefined),
  };
}
