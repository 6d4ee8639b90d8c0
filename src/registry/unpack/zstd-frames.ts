// The headers of a zstd stream's frames (RFC 8878, section 3.1), read before anything is decompressed: the decoder
// reserves the window that a frame asks for, up to 2 GiB, outside the heap that a process's limit holds.

const magic = 0xfd2fb528

/** The largest window of all frames, in bytes. What is cut off or no frame ends the reading; the decoder refuses it. */
export function largestWindow(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let largest = 0
  let at = 0
  while (at + 6 <= bytes.length) {
    const first = view.getUint32(at, true)
    // Skippable frames say their size; it is not part of it.
    if (first >>> 4 === 0x184d2a5 && at + 8 <= bytes.length) at += 8 + view.getUint32(at + 4, true)
    else if (first === magic) {
      const frame = readFrame(view, at + 4)
      if (!frame) break
      largest = Math.max(largest, frame.window)
      at = frame.end
    } else break
  }
  return largest
}

function readFrame(view: DataView, start: number): { window: number; end: number } | undefined {
  const flags = view.getUint8(start)
  const isSingle = (flags & 0x20) !== 0
  let at = start + 1
  let window = 0
  if (!isSingle) {
    const descriptor = view.getUint8(at)
    // Not by shifting: exponents go up to 41, and 1 << 41 is 512.
    const base = 2 ** (10 + (descriptor >> 3))
    window = base + (base / 8) * (descriptor & 7)
    at += 1
  }
  at += [0, 1, 2, 4][flags & 3] ?? 0
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0
  if (at + sizeBytes > view.byteLength) return undefined
  // A frame in one segment has no window of its own: all of its content is.
  if (isSingle) window = contentSize(view, at, sizeBytes)
  at += sizeBytes
  for (let isLast = false; !isLast;) {
    if (at + 3 > view.byteLength) return { window, end: view.byteLength }
    const header = view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000
    isLast = (header & 1) === 1
    // A run of one byte (type 1) has that byte, however long it is.
    at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3)
  }
  return { window, end: at + ((flags & 4) === 0 ? 0 : 4) }
}

function contentSize(view: DataView, at: number, bytes: number): number {
  if (bytes === 1) return view.getUint8(at)
  if (bytes === 2) return view.getUint16(at, true) + 256
  if (bytes === 4) return view.getUint32(at, true)
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32
}
