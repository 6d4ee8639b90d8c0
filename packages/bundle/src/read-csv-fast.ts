// Reads only a bundle's ClusterServiceVersion, without locations, because a package can have hundreds of bundles.
import type { Value } from '@catalog-bot/fbc/go/tree'
import { findFilesInDirectory, type BundleFiles } from './bundle-files.ts'
import { readManifest } from './manifest-document.ts'
import { isCsv, parseObjectType } from './registry-bundle.ts'

/** The first ClusterServiceVersion, as in `readManifestObjects`. Offsets in its tree are meaningless. */
export function readCsvFast(files: BundleFiles): { readonly file: string; readonly tree: Value } | undefined {
  for (const [file, bytes] of findFilesInDirectory(files, 'manifests')) {
    const tree = parseManifestTree(bytes)
    const type = tree && parseObjectType(tree)
    if (tree && type && isCsv(type)) return { file, tree }
  }
  return undefined
}

function parseManifestTree(bytes: Uint8Array): Value | undefined {
  const document = readManifest(bytes)
  return document.kind === 'value' ? document.value : undefined
}
