// A manifest file that is one regular YAML document, read by the fast reader, once for all that ask: what it says, and where.
import { oncePer } from '../findings/once.ts'
import { RegularReader, type RegularDocument } from '../go/fast/regular-yaml.ts'

const OPEN_BRACE = 0x7b

/**
 * The whole file as one document; undefined where the exact reader has to be asked. Its tree is the exact reader's, but its
 * offsets are bytes of the file.
 */
export const regularManifest = oncePer((bytes: Uint8Array): RegularDocument | undefined => {
  // Behind blanks of any kind may be a brace, and then it is JSON.
  const [first = 0] = bytes
  if (first <= 0x20 || first >= 0x7f || first === OPEN_BRACE) return undefined
  const document = new RegularReader(bytes).read(0)
  // Of several documents the exact reader knows which is the first.
  return document?.end === bytes.length ? document : undefined
})
