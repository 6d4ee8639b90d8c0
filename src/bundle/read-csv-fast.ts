// A bundle's ClusterServiceVersion without the rest of it, and without places: of a neighbour a few fields are asked for, and
// a package has hundreds. Read by the fast reader where it gives the very tree that the exact one would give.
import { RegularReader } from '../go/fast/regular-yaml.ts'
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
  const regular = new RegularReader(bytes).read(0)
  // Of several documents the exact reader knows which is the first.
  if (regular?.end === bytes.length) return regular.tree
  const document = readManifest(bytes)
  return document.kind === 'value' ? document.value : undefined
}
