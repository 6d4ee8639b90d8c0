// A bundle as files: what an image or a directory holds, path to bytes. Paths are relative to the root, with `/`.
import { compareBytes } from '../go/text.ts'

/** `manifests/foo.yaml` -> its bytes. Regular files only; directories show as what lies in them. */
export type BundleFiles = ReadonlyMap<string, Uint8Array>

/** What kind of bundle the files are, by what they look like, as opm decides it. */
export type BundleFormat = 'registry+v1' | 'plain+v0' | 'helm+v3'

/** Files directly in a directory, in the order of their names (by bytes, as Go lists them), mostly without dot files. */
export function filesIn(
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
