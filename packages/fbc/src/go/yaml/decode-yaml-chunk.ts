import { decodeUtf8Strictly } from '../utf8.ts'
import type { DecodedYamlText } from './encoding.ts'
import { decodeYaml, hasRejectedCharacter } from './encoding.ts'

/** Normalizes line ends to line feeds, including one at the end. */
export function decodeYamlChunk(bytes: Uint8Array): DecodedYamlText {
  if (bytes[0] !== 0xff && bytes[0] !== 0xfe) {
    const text = decodeUtf8Strictly(bytes)
    if (text !== undefined && !text.startsWith('\ufeff')) {
      const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
      const whole = bytes[bytes.length - 1] === 0x0a ? lines : `${lines}\n`
      return hasRejectedCharacter(whole)
        ? decodeYaml(normalizeLineEndings(bytes))
        : { text: whole, unreadable: undefined }
    }
  }
  return decodeYaml(normalizeLineEndings(bytes))
}

function normalizeLineEndings(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length + 1)
  let size = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) continue
    out[size++] = bytes[at] as number
  }
  if (bytes[bytes.length - 1] !== 0x0a) out[size++] = 0x0a
  return out.subarray(0, size)
}
