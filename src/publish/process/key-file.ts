// Reads the administrator's signing key, again when the file changes, so that keys rotate without a restart. Errors appear
// on GitHub, so they omit the file's path and content.
import { readFile } from 'node:fs/promises'
import { openSigningKey, type SigningKey } from '../../adapters/image/provenance/signing-key.ts'
import { ImageError } from '../../adapters/image/image-error.ts'

/** Caches the key, because decrypting a protected one is slow by design. */
export function openSigningKeyFile(path: string, password: string | undefined): () => Promise<SigningKey> {
  let known: { readonly text: string; readonly key: SigningKey } | undefined
  return async () => {
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (error) {
      throw createKeyFileError((error as NodeJS.ErrnoException).code ?? 'the key file cannot be read', error)
    }
    if (known?.text === text) return known.key
    try {
      known = { text, key: await openSigningKey(text, password) }
    } catch (error) {
      throw createKeyFileError(error instanceof Error ? error.message : String(error), error)
    }
    return known.key
  }
}

function createKeyFileError(why: string, cause: unknown): ImageError {
  return new ImageError('key', `the image signing key cannot be used: ${why}`, cause)
}
