// Finds the place of a path in a file's first document.
import { chunksOf, trimLeadingSpace } from '../go/yaml/chunks.ts'
import { locator, locatorIn } from '../catalog/positions/locate.ts'
import { decodeLikeGo } from '../go/utf8.ts'
import type { Location } from '../findings/finding.ts'
import type { BundleFiles } from './bundle-files.ts'
import { regularManifest } from './regular-manifest.ts'

export type Path = readonly (string | number)[]
export type BundlePlaces = (file: string, path?: Path) => Location

/** Reads each file at most once, on demand. An empty path is the start of the file. */
export function bundlePlaces(files: BundleFiles): BundlePlaces {
  const locators = new Map<string, (path: Path) => Omit<Location, 'file'>>()
  return (file, path = []) => {
    const bytes = files.get(file)
    if (path.length === 0 || !bytes) return { file, line: 1, column: 1 }
    const known = locators.get(file) ?? locatorOf(bytes)
    locators.set(file, known)
    return { file, ...known(path) }
  }
}

function locatorOf(bytes: Uint8Array): (path: Path) => Omit<Location, 'file'> {
  const regular = regularManifest(bytes)
  if (regular) return locatorIn(regular.tree, regular.lines.places(1))
  if (trimLeadingSpace(decodeLikeGo(bytes.subarray(0, 4096))).startsWith('{'))
    return locator(bytes, 0, bytes.length)
  for (const { start, end } of chunksOf(bytes, 0, 0, decodeLikeGo)) return locator(bytes, start, end)
  return locator(bytes, 0, bytes.length)
}
