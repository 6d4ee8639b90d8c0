// Catalogs for tests of changes: files of JSON documents, one per line, with their facts and real positions.
import type { Catalog } from '../../packages/fbc/src/facts/catalog.ts'
import type { Json } from '../../packages/fbc/src/go/json/json.ts'
import type { TreeFileReader } from '../../src/pull-request/compare-blobs.ts'
import { describePullRequestChange } from '../../src/pull-request/describe-change.ts'
import type { PullRequestChange } from '../../src/pull-request/change.ts'
import { toBlobSha } from '../../src/pull-request/ids.ts'
import type { RepositoryLayout } from '../../src/pull-request/layout/layout.ts'
import { createCatalog } from '../packages/fbc/facts/create-facts.ts'

export type CatalogBlob = Record<string, Json>
export type CatalogFiles = Record<string, readonly CatalogBlob[] | string>

const textEncoder = new TextEncoder()

export const buildPackageBlob = (
  name: string,
  defaultChannel = 'stable',
  more: CatalogBlob = {},
): CatalogBlob => ({ schema: 'olm.package', name, defaultChannel, ...more })
/** Entries as `name`, `name < replaced`, or objects. */
export const buildChannelBlob = (
  name: string,
  of: string,
  entries: readonly (string | CatalogBlob)[],
): CatalogBlob => ({
  schema: 'olm.channel',
  name,
  package: of,
  entries: entries.map((entry) => {
    if (typeof entry !== 'string') return entry
    const [bundle, replaces] = entry.split(' < ')
    return { name: bundle ?? '', ...(replaces !== undefined && { replaces }) }
  }),
})
export const buildBundleBlob = (
  name: string,
  of: string,
  version: string,
  more: CatalogBlob = {},
): CatalogBlob => ({
  schema: 'olm.bundle',
  name,
  package: of,
  image: `quay.io/test/${name}@sha256:${'0'.repeat(64)}`,
  properties: [{ type: 'olm.package', value: { packageName: of, version } }],
  ...more,
})
export const buildDeprecationsBlob = (
  of: string,
  entries: readonly [schema: string, name: string, message: string][],
): CatalogBlob => ({
  schema: 'olm.deprecations',
  package: of,
  entries: entries.map(([schema, name, message]) => ({
    reference: schema === 'olm.package' ? { schema } : { schema, name },
    message,
  })),
})

/** The text of a file: one document per line. */
export const formatCatalogFileText = (content: readonly CatalogBlob[] | string): string =>
  typeof content === 'string' ? content : content.map((blob) => `${JSON.stringify(blob)}\n`).join('')

/** The facts of all files below `root` except hidden ones. Files given as text are in the catalog without facts. */
export function buildCatalog(files: CatalogFiles, root: string, hidden: readonly string[] = []): Catalog {
  const catalog = createCatalog() as {
    -readonly [K in Exclude<keyof Catalog, 'oddities'>]: Catalog[K][number][]
  }
  for (const [file, content] of Object.entries(files)) {
    if (!file.startsWith(`${root}/`) || hidden.includes(file)) continue
    catalog.files.push({ path: file, bytes: formatCatalogFileText(content).length })
    if (typeof content === 'string') continue
    let start = 0
    content.forEach((blob, document) => {
      const end = start + textEncoder.encode(JSON.stringify(blob)).length
      const location = { file, document, start, end, line: document + 1, column: 1 }
      start = end + 1
      addBlobToCatalog(catalog, blob, location)
    })
  }
  return catalog
}

/* oxlint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-return */
function addBlobToCatalog(catalog: Record<string, any[]>, blob: any, location: any): void {
  const mark = { line: location.line, column: location.column }
  const { schema, name = '', package: of = '' } = blob
  if (schema === 'olm.package')
    catalog.packages!.push({
      place: location,
      name,
      defaultChannel: blob.defaultChannel ?? '',
      description: blob.description ?? '',
    })
  else if (schema === 'olm.channel')
    catalog.channels!.push({
      place: location,
      name,
      package: of,
      entries: blob.entries.map((entry: any) => ({ mark, replaces: '', skips: [], skipRange: '', ...entry })),
    })
  else if (schema === 'olm.bundle')
    catalog.bundles!.push({
      place: location,
      name,
      package: of,
      image: blob.image ?? '',
      properties: (blob.properties ?? []).map((property: any) => ({ mark, ...property })),
      relatedImages: (blob.relatedImages ?? []).map((image: any) => ({ mark, ...image })),
    })
  else if (schema === 'olm.deprecations')
    catalog.deprecations!.push({
      place: location,
      package: of,
      entries: blob.entries.map(({ reference, message }: any) => ({ mark, name: '', ...reference, message })),
    })
  else catalog.others!.push({ place: location, schema, package: of, name })
}

const computeFakeBlobSha = (text: string): string => {
  let value = 2166136261
  for (const char of text) value = Math.imul(value ^ char.charCodeAt(0), 16777619) >>> 0
  return value.toString(16).padStart(8, '0').repeat(5)
}

/**
 * The change between two trees given as files, for the catalogs of `layout`. The texts can be `unreadable`; `hidden` files
 * of the result are not read into its catalog.
 */
export function computeCatalogChange(
  base: CatalogFiles,
  result: CatalogFiles,
  layout: RepositoryLayout = { catalogs: [{ root: 'catalog' }] },
  { hidden = [], unreadable = false }: { hidden?: readonly string[]; unreadable?: boolean } = {},
): PullRequestChange {
  const paths = [...new Set([...Object.keys(base), ...Object.keys(result)])].flatMap((path) => {
    const entry = (content: CatalogFiles[string] | undefined) =>
      content === undefined
        ? undefined
        : { mode: '100644', oid: toBlobSha(computeFakeBlobSha(formatCatalogFileText(content))) }
    const before = entry(base[path])
    const after = entry(result[path])
    return before?.oid === after?.oid ? [] : [{ path, ...(before && { before }), ...(after && { after }) }]
  })
  const sides = { base, result }
  const fileTexts: TreeFileReader = {
    read: (side, path) => {
      const content = sides[side][path]
      return content === undefined || unreadable
        ? undefined
        : textEncoder.encode(formatCatalogFileText(content))
    },
  }
  const has = (files: CatalogFiles, root: string) =>
    Object.keys(files).some((path) => path.startsWith(`${root}/`))
  const catalogs = layout.catalogs.map(({ root, version }) => ({
    root,
    ...(version !== undefined && { version }),
    ...(has(base, root) && { base: buildCatalog(base, root) }),
    ...(has(result, root) && { result: buildCatalog(result, root, hidden) }),
  }))
  return describePullRequestChange({ paths, layout, catalogs, treeFiles: fileTexts })
}
