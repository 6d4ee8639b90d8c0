// Reads a manifest that is one regular YAML document with the fast reader, once for all callers.
import { oncePer } from '../findings/once.ts'
import { RegularReader, type RegularDocument } from '../go/fast/regular-yaml.ts'

/** Undefined if the exact reader is needed, for example for JSON. Offsets are bytes of the file. */
export const regularManifest = oncePer((bytes: Uint8Array): RegularDocument | undefined => {
  const document = new RegularReader(bytes).read(0)
  // Only the exact reader knows which of several documents is the first.
  return document?.end === bytes.length ? document : undefined
})
