// A manifest file that is one regular YAML document, read by the fast reader, once for all that ask: what it says, and where.
import { oncePer } from '../findings/once.ts'
import { RegularReader, type RegularDocument } from '../go/fast/regular-yaml.ts'

/**
 * The whole file as one document; undefined where the exact reader has to be asked, which knows what is JSON: the fast one takes
 * no brace where a document begins. Its tree is the exact reader's, but its offsets are bytes of the file.
 */
export const regularManifest = oncePer((bytes: Uint8Array): RegularDocument | undefined => {
  const document = new RegularReader(bytes).read(0)
  // Of several documents the exact reader knows which is the first.
  return document?.end === bytes.length ? document : undefined
})
