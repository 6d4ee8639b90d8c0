// OLM v0 stores the gzipped file in a ConfigMap, so the gzipped size counts.
import { gzipSync } from 'node:zlib'
import { memoizePerObject } from '@catalog-bot/findings/memoize'

/** The size after gzip, in bytes. Cached because validating and unpacking both need it. */
export const computeGzippedSize = memoizePerObject((bytes: Uint8Array) => gzipSync(bytes).length)
