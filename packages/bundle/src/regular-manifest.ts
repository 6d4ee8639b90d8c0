// Reads a manifest that is a single regular YAML document with the fast reader. Cached for all callers.
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import { RegularYamlReader, type RegularYamlDocument } from '@catalog-bot/fbc/go/fast/regular-yaml'

/** Undefined if the exact reader is needed, for example for JSON. Offsets are bytes of the file. */
export const parseRegularYamlManifest = memoizePerObject(
  (bytes: Uint8Array): RegularYamlDocument | undefined => {
    const document = new RegularYamlReader(bytes).read(0)
    // Only the exact reader knows which of several documents is the first.
    return document?.end === bytes.length ? document : undefined
  },
)
