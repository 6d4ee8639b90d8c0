// A bundle as files: what an image or a directory holds, path to bytes. Paths are relative to the root, with `/`.

/** `manifests/foo.yaml` -> its bytes. Regular files only; directories show as what lies in them. */
export type BundleFiles = ReadonlyMap<string, Uint8Array>

/** What kind of bundle the files are, by what they look like, as opm decides it. */
export type BundleFormat = 'registry+v1' | 'plain+v0' | 'helm+v3'

/** Files directly in a directory, in the order of their names (by bytes, as Go lists them), dot files left out. */
export function filesIn(files: BundleFiles, directory: string): readonly (readonly [string, Uint8Array])[] {
  const prefix = `${directory}/`
  return [...files]
    .filter(([path]) => {
      const name = path.slice(prefix.length)
      return path.startsWith(prefix) && !name.includes('/') && !name.startsWith('.')
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
}
