// The operator's signing key, read from its file: anew when the file has changed, so that a key can be replaced without a
// restart. Says what is wrong without the file's place or content: it is told on GitHub.
import { readFile } from 'node:fs/promises'
import { openSigningKey, type SigningKey } from '../../image/provenance/signing-key.ts'
import { ImageError } from '../../image/image-error.ts'

/** Guarded keys take a moment to open, on purpose: one that was opened is kept. */
export function openKeyFile(path: string, password: string | undefined): () => Promise<SigningKey> {
  let known: { readonly text: string; readonly key: SigningKey } | undefined
  return async () => {
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (error) {
      throw refused((error as NodeJS.ErrnoException).code ?? 'it cannot be read', error)
    }
    if (known?.text === text) return known.key
    try {
      known = { text, key: await openSigningKey(text, password) }
    } catch (error) {
      throw refused(error instanceof Error ? error.message : String(error), error)
    }
    return known.key
  }
}

function refused(why: string, cause: unknown): ImageError {
  return new ImageError('key', `the key that signs images cannot be used: ${why}`, cause)
}
