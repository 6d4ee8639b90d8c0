// What catalogs become when the bundles of a change are added to them: before and after, as data. Of a package with
// templates that is what its release configurations ask for; of all others what their update graph makes of the
// directories. The image of a bundle is not built yet: the name that the configuration gives it stands there, or a
// placeholder, and nothing is claimed of it.
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

/** One way in which catalogs change: all that a template is rendered to, or the catalog made from bundle directories. */
export interface Becoming {
  /** The package's directory below `operators/`. */
  readonly directory: string
  readonly kind: 'template' | 'directories'
  /** Names of the catalogs; the first one's change is that of the others. */
  readonly catalogs: readonly string[]
  readonly changes: readonly CatalogChange[]
  /** Why it cannot be told what becomes of them; then nothing changes. */
  readonly unknown?: string
  /** Where the author can do something about what is wrong. */
  readonly at: { readonly whole: Location; readonly edges?: Location }
  /** The bundles that are added, with the names of their images. */
  readonly images: readonly { readonly name: string; readonly image: string }[]
}

const file = 'catalog.json'
const mode = '100644'
const [before, after] = ['0', '1'].map((digit) => ({ mode, oid: blobSha(digit.repeat(40)) }))

/** Two renderings as the change of catalogs with these names. */
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

/** What the image of a bundle directory is called before it is built. */
export type ImageName = (directory: string, version: string) => string

/** As the configuration names images, where it does. */
export function imageNames(pattern: string | undefined): ImageName {
  return (directory, version) =>
    (pattern === undefined ? undefined : bundleImage(pattern, directory, version)) ??
    placeholderImage(directory, version)
}

/** The host of placeholders: no registry can have it (RFC 2606). */
export const placeholderHost = 'not-built.invalid/'

/** The name under which an image stands that nobody has built. */
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
