// OLM v0 puts the gzipped file into a ConfigMap, so its size counts.
import { gzipSync } from 'node:zlib'
import { memoizePerObject } from '../../findings/memoize.ts'

/** Bytes after gzip. Cached because validating and unpacking both need it. */
export const computeGzippedSize = memoizePerObject((bytes: Uint8Array) => gzipSync(bytes).length)
