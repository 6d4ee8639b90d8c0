import { findFilesInDirectory, type BundleFiles, type BundleFormat } from './bundle-files.ts'
import { readManifest } from './manifest-document.ts'
import { getMapValue } from '@catalog-bot/fbc/go/tree'

/** Detects the format as opm does. Undefined if there are neither manifests nor a chart. */
export function detectBundleFormat(files: BundleFiles): BundleFormat | undefined {
  if (findHelmChartDirectory(files) !== undefined) return 'helm+v3'
  const manifests = findFilesInDirectory(files, 'manifests')
  const isCsv = ([, bytes]: readonly [string, Uint8Array]) => {
    const document = readManifest(bytes)
    if (document.kind !== 'value') return false
    const kind = getMapValue(document.value, 'kind')
    return kind?.kind === 'string' && kind.value === 'ClusterServiceVersion'
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
