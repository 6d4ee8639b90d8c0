// Catalogs for tests of the change floor: files of JSON documents, one per line, with their facts and true places.
import type { Catalog } from '../../src/catalog/facts/catalog.ts'
import type { Json } from '../../src/go/json/json.ts'
import type { Texts } from '../../src/change/blob-text.ts'
import { describeChange } from '../../src/change/describe-change.ts'
import type { Change } from '../../src/change/change.ts'
import { blobSha } from '../../src/change/ids.ts'
import type { Layout } from '../../src/change/layout/layout.ts'

export type Blob = Record<string, Json>
export type Files = Record<string, readonly Blob[] | string>

const encoder = new TextEncoder()

export const pkg = (name: string, defaultChannel = 'stable', more: Blob = {}): Blob => ({
  schema: 'olm.package',
  name,
  defaultChannel,
  ...more,
})
/** Entries as `name`, `name < replaced`, or objects. */
export const channel = (name: string, of: string, entries: readonly (string | Blob)[]): Blob => ({
  schema: 'olm.channel',
  name,
  package: of,
  entries: entries.map((entry) => {
    if (typeof entry !== 'string') return entry
    const [bundle, replaces] = entry.split(' < ')
    return { name: bundle ?? '', ...(replaces !== undefined && { replaces }) }
  }),
})
export const bundle = (name: string, of: string, version: string, more: Blob = {}): Blob => ({
  schema: 'olm.bundle',
  name,
  package: of,
  image: `quay.io/test/${name}@sha256:${'0'.repeat(64)}`,
  properties: [{ type: 'olm.package', value: { packageName: of, version } }],
  ...more,
})
export const deprecations = (
  of: string,
  entries: readonly [schema: string, name: string, message: string][],
): Blob => ({
  schema: 'olm.deprecations',
  package: of,
  entries: entries.map(([schema, name, message]) => ({
    reference: schema === 'olm.package' ? { schema } : { schema, name },
    message,
  })),
})

/** The text of a file: one document per line. */
export const textOf = (content: readonly Blob[] | string): string =>
  typeof content === 'string' ? content : content.map((blob) => `${JSON.stringify(blob)}\n`).join('')

/** The facts of all files below `root` but the hidden ones. Files given as text are in the catalog but say nothing. */
export function buildCatalog(files: Files, root: string, hidden: readonly string[] = []): Catalog {
  const catalog = {
    packages: [],
    channels: [],
    bundles: [],
    deprecations: [],
    others: [],
    loadErrors: [],
    findings: [],
    files: [],
  } as { -readonly [K in Exclude<keyof Catalog, 'oddities'>]: Catalog[K][number][] }
  for (const [file, content] of Object.entries(files)) {
    if (!file.startsWith(`${root}/`) || hidden.includes(file)) continue
    catalog.files.push({ path: file, bytes: textOf(content).length })
    if (typeof content === 'string') continue
    let start = 0
    content.forEach((blob, document) => {
      const end = start + encoder.encode(JSON.stringify(blob)).length
      const place = { file, document, start, end, line: document + 1, column: 1 }
      start = end + 1
      add(catalog, blob, place)
    })
  }
  return catalog
}

/* oxlint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-return */
function add(catalog: Record<string, any[]>, blob: any, place: any): void {
  const mark = { line: place.line, column: place.column }
  const { schema, name = '', package: of = '' } = blob
  if (schema === 'olm.package')
    catalog.packages!.push({
      place,
      name,
      defaultChannel: blob.defaultChannel ?? '',
      description: blob.description ?? '',
    })
  else if (schema === 'olm.channel')
    catalog.channels!.push({
      place,
      name,
      package: of,
      entries: blob.entries.map((entry: any) => ({ mark, replaces: '', skips: [], skipRange: '', ...entry })),
    })
  else if (schema === 'olm.bundle')
    catalog.bundles!.push({
      place,
      name,
      package: of,
      image: blob.image ?? '',
      properties: (blob.properties ?? []).map((property: any) => ({ mark, ...property })),
      relatedImages: (blob.relatedImages ?? []).map((image: any) => ({ mark, ...image })),
    })
  else if (schema === 'olm.deprecations')
    catalog.deprecations!.push({
      place,
      package: of,
      entries: blob.entries.map(({ reference, message }: any) => ({ mark, name: '', ...reference, message })),
    })
  else catalog.others!.push({ place, schema, package: of, name })
}

const hash = (text: string): string => {
  let value = 2166136261
  for (const char of text) value = Math.imul(value ^ char.charCodeAt(0), 16777619) >>> 0
  return value.toString(16).padStart(8, '0').repeat(5)
}

/**
 * The change between two trees given as files, for the catalogs of `layout`. The texts can be `unreadable`; `hidden` files
 * of the result are not read into its catalog.
 */
export function changeBetween(
  base: Files,
  result: Files,
  layout: Layout = { catalogs: [{ root: 'catalog' }] },
  { hidden = [], unreadable = false }: { hidden?: readonly string[]; unreadable?: boolean } = {},
): Change {
  const paths = [...new Set([...Object.keys(base), ...Object.keys(result)])].flatMap((path) => {
    const entry = (content: Files[string] | undefined) =>
      content === undefined ? undefined : { mode: '100644', oid: blobSha(hash(textOf(content))) }
    const before = entry(base[path])
    const after = entry(result[path])
    return before?.oid === after?.oid ? [] : [{ path, ...(before && { before }), ...(after && { after }) }]
  })
  const sides = { base, result }
  const texts: Texts = {
    read: (side, path) => {
      const content = sides[side][path]
      return content === undefined || unreadable ? undefined : encoder.encode(textOf(content))
    },
  }
  const has = (files: Files, root: string) => Object.keys(files).some((path) => path.startsWith(`${root}/`))
  const catalogs = layout.catalogs.map(({ root, version }) => ({
    root,
    ...(version !== undefined && { version }),
    ...(has(base, root) && { base: buildCatalog(base, root) }),
    ...(has(result, root) && { result: buildCatalog(result, root, hidden) }),
  }))
  return describeChange({ paths, layout, catalogs, texts })
}
