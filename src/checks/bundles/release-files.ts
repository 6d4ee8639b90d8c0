// The files that a release changes. Security: changes only templates that the release references and their catalogs,
// regardless of the settings and the bundle.
import { amendTemplate } from '@catalog-bot/fbc/template/amend-template'
import { renderReleasedCatalog, type ReleasedBundle } from '@catalog-bot/fbc/template/render-released-catalog'
import {
  parseWritableCatalog,
  type CatalogReadResult,
  type WritableCatalog,
} from '@catalog-bot/fbc/write/writable-catalog'
import type { CatalogChange } from '../../pull-request/change.ts'
import { computeProjectedCatalogChanges } from './projected-catalog.ts'
import { isSafePathSegment, type PlannedTemplateRelease } from './release-plan.ts'

export interface BaseCatalogFile {
  readonly path: string
  readonly format: 'yaml' | 'json'
  /** Absent if the catalog does not have the package yet. */
  readonly bytes?: Uint8Array
}

export interface BasePackageFiles {
  /** Below `operators/`. */
  readonly directory: string
  /** Existing templates by file name. */
  readonly templates: ReadonlyMap<string, Uint8Array>
  /** Existing catalogs by name. */
  readonly catalogs: ReadonlyMap<string, BaseCatalogFile>
}

export interface ReleaseFiles {
  /** Changed files, sorted by path. Empty if the catalogs already have the bundle. */
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[]
  readonly changes: readonly CatalogChange[]
}

/** Errors are clauses for readers, without a period. */
export function computeReleaseFiles(
  base: BasePackageFiles,
  bundle: ReleasedBundle,
  templates: readonly PlannedTemplateRelease[],
): CatalogReadResult<ReleaseFiles> {
  if (!isSafePathSegment(base.directory))
    return createReleaseErrorResult('the package directory has an invalid name')
  const files = new Map<string, Uint8Array>()
  const changes: CatalogChange[] = []
  for (const one of templates) {
    const problem = applyBundleReleaseToTemplate(one, base, bundle, { files, changes })
    if (problem !== undefined) return createReleaseErrorResult(problem)
  }
  return {
    ok: true,
    value: {
      files: [...files]
        .map(([path, bytes]) => ({ path, bytes }))
        .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      changes,
    },
  }
}

interface ReleaseFilesAccumulator {
  readonly files: Map<string, Uint8Array>
  readonly changes: CatalogChange[]
}

/** Returns a readable error if the release is impossible. */
function applyBundleReleaseToTemplate(
  { template: name, type, catalogs: names, release }: PlannedTemplateRelease,
  { directory, templates, catalogs }: BasePackageFiles,
  bundle: ReleasedBundle,
  { files, changes }: ReleaseFilesAccumulator,
): string | undefined {
  const known: { catalog: string; place: BaseCatalogFile }[] = []
  for (const catalog of names) {
    const baseCatalog = catalogs.get(catalog)
    if (!baseCatalog) return `the catalog ${catalog} does not exist, and a maintainer must create it`
    known.push({ catalog, place: baseCatalog })
  }
  const before = templates.get(name)
  // If a catalog contains the bundle, so does the template, perhaps under another reference.
  const present = collectBundleNames(known.flatMap(({ place }) => place.bytes ?? []))
  const { name: bundleName = '', package: packageName = directory } = bundle.withMetadata
  const amended = present.has(bundleName)
    ? undefined
    : amendTemplate(before, type, {
        ...release,
        name: bundleName,
        package: packageName,
        image: bundle.image,
      })
  if (amended?.ok === false) return `the template ${name} cannot be changed: ${amended.error}`
  const template = amended?.value ?? before
  if (!template) return undefined
  if (template !== before) files.set(`operators/${directory}/catalog-templates/${name}`, template)
  for (const { catalog, place } of known) {
    const others = known.flatMap((one) =>
      one.catalog !== catalog && one.place.bytes ? [one.place.bytes] : [],
    )
    const released = renderReleasedCatalog(
      template,
      {
        catalog,
        format: place.format,
        others,
        ...(place.bytes && { bytes: place.bytes }),
        ...(before && { templateBefore: before }),
      },
      [bundle],
    )
    if (!released.ok) return `the catalog ${catalog} cannot be rendered: ${released.error}`
    if (place.bytes && areBytesEqual(place.bytes, released.value)) continue
    files.set(place.path, released.value)
    const now = tryParseCatalog(released.value)
    if (now)
      changes.push(
        ...computeProjectedCatalogChanges([catalog], place.bytes && tryParseCatalog(place.bytes), now),
      )
  }
  return undefined
}

export function collectBundleNames(files: readonly Uint8Array[]): ReadonlySet<string> {
  return new Set(
    files.flatMap((bytes) => tryParseCatalog(bytes)?.bundles.flatMap(({ name }) => name ?? []) ?? []),
  )
}

function tryParseCatalog(bytes: Uint8Array): WritableCatalog | undefined {
  const read = parseWritableCatalog([bytes])
  return read.ok ? read.value : undefined
}

function areBytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}

function createReleaseErrorResult(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error }
}
