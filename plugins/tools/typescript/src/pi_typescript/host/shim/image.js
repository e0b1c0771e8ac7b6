// Images for the model: here they are only measured. One that is too large is null, as in the original where its library
// for images is missing.

const MOST_BYTES = 4.5 * 1024 * 1024;

/** Returns an image as it is if it is small enough, else null. */
export async function resizeImage(bytes, mimeType, { maxWidth = 2000, maxHeight = 2000, maxBytes = MOST_BYTES } = {}) {
  const image = Buffer.from(bytes);
  const data = image.toString("base64");
  const [width, height] = sizeOf(image) ?? [Infinity, Infinity];
  if (width > maxWidth || height > maxHeight || data.length > maxBytes) return null;
  return { data, mimeType, originalWidth: width, originalHeight: height, width, height, wasResized: false };
}

/** Returns width and height of a PNG, GIF or JPEG; undefined for others. */
function sizeOf(image) {
  const kind = image.toString("latin1", 0, 4);
  if (kind === "\x89PNG" && image.length >= 24) return [image.readUInt32BE(16), image.readUInt32BE(20)];
  if (kind === "GIF8" && image.length >= 10) return [image.readUInt16LE(6), image.readUInt16LE(8)];
  if (!kind.startsWith("\xff\xd8")) return undefined;
  for (let at = 2; at + 9 <= image.length; at += 2 + image.readUInt16BE(at + 2)) {
    const marker = image[at + 1];
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [image.readUInt16BE(at + 7), image.readUInt16BE(at + 5)];
  }
  return undefined;
}
