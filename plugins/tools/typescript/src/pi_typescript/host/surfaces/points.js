// Places in a text: pi counts characters, JavaScript the units of UTF-16, of which an emoji has two.

/** Returns the number of characters before an index. */
export function pointsOf(text, index) {
  return [...text.slice(0, index)].length;
}

/** Returns the index after a number of characters. */
export function unitsOf(text, count) {
  return [...text].slice(0, count).join("").length;
}
