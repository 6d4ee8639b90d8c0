// The files of an image or a directory. Paths are relative to the root and use `/`.
import { compareBytes } from '@catalog-bot/fbc/go/text'

/** By path, for example `manifests/foo.yaml`. Regular files only. */
export type BundleFiles = ReadonlyMap<string, Uint8Array>

export type BundleFormat = 'registry+v1' | 'plain+v0' | 'helm+v3'

/** Files directly in a directory, sorted by name bytes as in Go. */
export function findFilesInDirectory(
  files: BundleFiles,
  directory: string,
  { hidden = false }: { readonly hidden?: boolean } = {},
): readonly (readonly [string, Uint8Array])[] {
  const prefix = `${directory}/`
  return [...files]
    .filter(([path]) => {
      const name = path.slice(prefix.length)
      return path.startsWith(prefix) && !name.includes('/') && (hidden || !name.startsWith('.'))
    })
    .sort(([a], [b]) => compareBytes(a, b))
}
