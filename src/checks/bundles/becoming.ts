// Catalogs before and after the bundles of a change are added, as data. The images are not built yet, so a configured
// or placeholder name is used and nothing is claimed about them.
import { assemble } from '../../catalog/facts/assemble.ts'
import type { Catalog } from '../../catalog/facts/catalog.ts'
import { readFile } from '../../catalog/load/read-file.ts'
import type { WritableCatalog } from '../../catalog/write/writable.ts'
import { jsonLines } from '../../catalog/write/write-json.ts'
import type { CatalogChange } from '../../change/change.ts'
import { bundleImage } from '../../config/bundle-release.ts'
import { describeChange } from '../../change/describe-change.ts'
import { blobSha } from '../../change/ids.ts'
import type { Location } from '../../findings/finding.ts'

/** All catalogs of one template, or the catalog made from bundle directories. */
export interface Becoming {
  /** The package's directory below `operators/`. */
  readonly directory: string
  readonly kind: 'template' | 'directories'
  /** Catalog names. All change in the same way as the first. */
  readonly catalogs: readonly string[]
  readonly changes: readonly CatalogChange[]
  /** Why the future catalogs are unknown; then nothing changes. */
  readonly unknown?: string
  /** Where the author can fix a problem. */
  readonly at: { readonly whole: Location; readonly edges?: Location }
  readonly images: readonly { readonly name: string; readonly image: string }[]
}

const file = 'catalog.json'
const mode = '100644'
const [before, after] = ['0', '1'].map((digit) => ({ mode, oid: blobSha(digit.repeat(40)) }))

export function becomingChanges(
  names: readonly string[],
  base: WritableCatalog | undefined,
  result: WritableCatalog,
): readonly CatalogChange[] {
  const sides = { base: base && bytesOf(base), result: bytesOf(result) }
  const [old, now] = [sides.base && catalogOf(sides.base), catalogOf(sides.result)]
  const [first, ...others] = names
  if (first === undefined) return []
  const { catalogs } = describeChange({
    paths: [{ path: `${first}/${file}`, ...(old && before && { before }), ...(after && { after }) }],
    layout: { catalogs: [{ root: first }] },
    catalogs: [{ root: first, version: first, ...(old && { base: old }), result: now }],
    texts: { read: (side) => sides[side] },
  })
  const change = catalogs[0]
  return change ? [change, ...others.map((name) => ({ ...change, root: name, version: name }))] : []
}

function bytesOf(catalog: WritableCatalog): Uint8Array {
  return new TextEncoder().encode(jsonLines(catalog))
}

function catalogOf(bytes: Uint8Array): Catalog {
  return assemble([{ path: file, facts: readFile(bytes) }])
}

/** Returns the image name of a bundle directory before the build. */
export type ImageName = (directory: string, version: string) => string

/** Uses the configured pattern, or else placeholders. */
export function imageNames(pattern: string | undefined): ImageName {
  return (directory, version) =>
    (pattern === undefined ? undefined : bundleImage(pattern, directory, version)) ??
    placeholderImage(directory, version)
}

/** No registry can have this host (RFC 2606). */
export const placeholderHost = 'not-built.invalid/'

export function placeholderImage(directory: string, version: string): string {
  const repository = directory
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  const tag = version
    .replaceAll(/[^\w.-]/g, '-')
    .replace(/^[.-]/, '_')
    .slice(0, 128)
  return `${placeholderHost}${repository || 'bundle'}:${tag}`
}
