// Finds the location of a field path in a file's first document.
import { splitYamlChunks, trimLeadingSpace } from '@catalog-bot/fbc/go/yaml/chunks'
import { createFieldPathLocator, createTreeFieldPathLocator } from '@catalog-bot/fbc/positions/locate-path'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'
import type { Location } from '@catalog-bot/findings/finding'
import type { BundleFiles } from './bundle-files.ts'
import { parseRegularYamlManifest } from './regular-manifest.ts'

export type FieldPath = readonly (string | number)[]
export type BundleFieldLocator = (file: string, path?: FieldPath) => Location

/** Reads each file lazily and at most once. An empty path means the start of the file. */
export function createBundleFieldLocator(files: BundleFiles): BundleFieldLocator {
  const locators = new Map<string, (path: FieldPath) => Omit<Location, 'file'>>()
  return (file, path = []) => {
    const bytes = files.get(file)
    if (path.length === 0 || !bytes) return { file, line: 1, column: 1 }
    const known = locators.get(file) ?? createFileFieldLocator(bytes)
    locators.set(file, known)
    return { file, ...known(path) }
  }
}

function createFileFieldLocator(bytes: Uint8Array): (path: FieldPath) => Omit<Location, 'file'> {
  const regular = parseRegularYamlManifest(bytes)
  if (regular) return createTreeFieldPathLocator(regular.tree, regular.lines.positions(1))
  if (trimLeadingSpace(decodeUtf8LikeGo(bytes.subarray(0, 4096))).startsWith('{'))
    return createFieldPathLocator(bytes, 0, bytes.length)
  for (const { start, end } of splitYamlChunks(bytes, 0, 0, decodeUtf8LikeGo))
    return createFieldPathLocator(bytes, start, end)
  return createFieldPathLocator(bytes, 0, bytes.length)
}
