// How large a file of a bundle is once it is packed, which is what OLM v0 puts into a ConfigMap.
import { gzipSync } from 'node:zlib'
import { oncePer } from '../../findings/once.ts'

/** Bytes after gzip. Validating a bundle and unpacking it both ask for it: it is packed once. */
export const packedSize = oncePer((bytes: Uint8Array) => gzipSync(bytes).length)
