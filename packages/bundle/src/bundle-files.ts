// The files of an image or a directory. Paths are relative to the root and use `/`.
import { compareBytes } from '@catalog-bot/fbc/go/text'
import { getStringByKey } from '@catalog-bot/fbc/go/tree'
import { readManifest } from './manifest-document.ts'

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

/** Detects the format as opm does. Undefined if there are neither manifests nor a chart. */
export function detectBundleFormat(files: BundleFiles): BundleFormat | undefined {
  if (findHelmChartDirectory(files) !== undefined) return 'helm+v3'
  const manifests = findFilesInDirectory(files, 'manifests')
  const isCsv = ([, bytes]: readonly [string, Uint8Array]) => {
    const document = readManifest(bytes)
    if (document.kind !== 'value') return false
    return getStringByKey(document.value, 'kind') === 'ClusterServiceVersion'
  }
  if (manifests.some(isCsv)) return 'registry+v1'
  return manifests.length > 0 ? 'plain+v0' : undefined
}

/** '' for the root, or `name/` for the only top-level directory with a chart. */
export function findHelmChartDirectory(files: BundleFiles): string | undefined {
  if (files.has('Chart.yaml')) return ''
  const roots = new Set<string>()
  for (const path of files.keys()) {
    const [directory, name, ...more] = path.split('/')
    if (name === 'Chart.yaml' && more.length === 0 && directory !== 'metadata') roots.add(`${directory}/`)
  }
  return roots.size === 1 ? [...roots][0] : undefined
}
