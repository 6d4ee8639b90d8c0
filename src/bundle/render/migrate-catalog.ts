// opm's `--migrate-level bundle-object-to-csv-metadata` over a whole catalog: of the manifests that a bundle's blob
// carries only what catalogs show of its ClusterServiceVersion stays.
import { decodeBase64 } from '../../go/base64.ts'
import type { Json } from '../../go/json/json.ts'
import { fieldValues } from '../../go/json/json-fields.ts'
import { JsonError } from '../../go/json/json-error.ts'
import { readJson } from '../../go/json/read-json.ts'
import { valueAt, type Value } from '../../go/tree.ts'
import { decodeLikeGo } from '../../go/utf8.ts'
import type { ReadResult, WritableBundle, WritableCatalog } from '../../catalog/write/writable.ts'
import { readCsvMetadata } from './csv-metadata.ts'

/** What opm's `--migrate-level` takes. */
export type MigrateLevel = 'none' | 'bundle-object-to-csv-metadata'

/** The catalog at a level. Fails with opm's text for the first ClusterServiceVersion that it cannot read. */
export function migrated(catalog: WritableCatalog, level: MigrateLevel): ReadResult<WritableCatalog> {
  if (level === 'none') return { ok: true, value: catalog }
  const bundles: WritableBundle[] = []
  for (const bundle of catalog.bundles) {
    const migrated = migrateBundle(bundle)
    if (!migrated.ok) return migrated
    bundles.push(migrated.value)
  }
  return { ok: true, value: { ...catalog, bundles } }
}

/** A bundle without an image, without manifests, or with metadata already stays as it is. */
function migrateBundle(bundle: WritableBundle): ReadResult<WritableBundle> {
  const properties = bundle.properties ?? []
  const isMigrated = properties.some(({ type }) => type === 'olm.csv.metadata')
  const csv = bundle.image === '' || isMigrated ? undefined : csvIn(properties)
  if (!csv) return { ok: true, value: bundle }
  const { metadata, problem } = readCsvMetadata(csv)
  if (problem !== undefined) return { ok: false, error: `migrate: ${problem}` }
  const kept = properties.filter(({ type }) => type !== 'olm.bundle.object')
  return {
    ok: true,
    value: { ...bundle, properties: [...kept, { type: 'olm.csv.metadata', value: metadata }] },
  }
}

function csvIn(properties: readonly { readonly type: string; readonly value: Json }[]): Value | undefined {
  for (const { type, value } of properties) {
    const object = type === 'olm.bundle.object' ? objectIn(value) : undefined
    const kind = valueAt(object, 'kind')
    if (kind?.kind === 'string' && kind.value === 'ClusterServiceVersion') return object
  }
  return undefined
}

/** The object that the property holds; opm passes over one that it cannot read. */
function objectIn(value: Json): Value | undefined {
  const data = fieldValues(value, 'data').at(-1)
  const bytes = typeof data === 'string' ? decodeBase64(data) : undefined
  if (!(bytes instanceof Uint8Array)) return undefined
  try {
    return readJson(decodeLikeGo(bytes), 0).value
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}
