// A bundle's ClusterServiceVersion without the rest of it, and without places: of a neighbour a few fields are asked for, and
// a package has hundreds. What comes after it is not read.
import type { Value } from '../go/tree.ts'
import { filesIn, type BundleFiles } from './bundle-files.ts'
import { readManifest } from './manifest-document.ts'
import { isCsv, objectTypeOf } from './registry-bundle.ts'

/** The one that `manifestObjects` has first. Offsets of its tree mean nothing. */
export function readCsvFast(files: BundleFiles): { readonly file: string; readonly tree: Value } | undefined {
  for (const [file, bytes] of filesIn(files, 'manifests')) {
    const tree = readTree(bytes)
    const type = tree && objectTypeOf(tree)
    if (tree && type && isCsv(type)) return { file, tree }
  }
  return undefined
}

function readTree(bytes: Uint8Array): Value | undefined {
  const document = readManifest(bytes)
  return document.kind === 'value' ? document.value : undefined
}
