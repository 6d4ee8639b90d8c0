// opm's `--migrate-level bundle-object-to-csv-metadata` for a whole catalog. Replaces the manifests in a bundle's blob
// with the ClusterServiceVersion metadata that catalogs show.
import { decodeBase64 } from '@catalog-bot/fbc/go/base64'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { getJsonFieldValues } from '@catalog-bot/fbc/go/json/json-fields'
import { JsonError } from '@catalog-bot/fbc/go/json/json-error'
import { readJson } from '@catalog-bot/fbc/go/json/read-json'
import { getMapValue, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'
import type {
  CatalogReadResult,
  WritableBundle,
  WritableCatalog,
} from '@catalog-bot/fbc/write/writable-catalog'
import { parseCsvMetadata } from './csv-metadata.ts'

/** The values of opm's `--migrate-level`. */
export type MigrateLevel = 'none' | 'bundle-object-to-csv-metadata'

/** The catalog at a level. Fails with opm's message for the first unreadable ClusterServiceVersion. */
export function migrateCatalog(
  catalog: WritableCatalog,
  level: MigrateLevel,
): CatalogReadResult<WritableCatalog> {
  if (level === 'none') return { ok: true, value: catalog }
  const bundles: WritableBundle[] = []
  for (const bundle of catalog.bundles) {
    const migrated = migrateBundle(bundle)
    if (!migrated.ok) return migrated
    bundles.push(migrated.value)
  }
  return { ok: true, value: { ...catalog, bundles } }
}

/** Leaves a bundle unchanged if it has no image, no manifests, or already has metadata. */
function migrateBundle(bundle: WritableBundle): CatalogReadResult<WritableBundle> {
  const properties = bundle.properties ?? []
  const isMigrated = properties.some(({ type }) => type === 'olm.csv.metadata')
  const csv = bundle.image === '' || isMigrated ? undefined : findCsvInBundleProperties(properties)
  if (!csv) return { ok: true, value: bundle }
  const { metadata, problem } = parseCsvMetadata(csv)
  if (problem !== undefined) return { ok: false, error: `migrate: ${problem}` }
  const remainingProperties = properties.filter(({ type }) => type !== 'olm.bundle.object')
  return {
    ok: true,
    value: { ...bundle, properties: [...remainingProperties, { type: 'olm.csv.metadata', value: metadata }] },
  }
}

function findCsvInBundleProperties(
  properties: readonly { readonly type: string; readonly value: Json }[],
): ParsedValue | undefined {
  for (const { type, value } of properties) {
    const object = type === 'olm.bundle.object' ? parseBundleObjectProperty(value) : undefined
    const kind = getMapValue(object, 'kind')
    if (kind?.kind === 'string' && kind.value === 'ClusterServiceVersion') return object
  }
  return undefined
}

/** The object in the property. opm skips unreadable objects. */
function parseBundleObjectProperty(value: Json): ParsedValue | undefined {
  const data = getJsonFieldValues(value, 'data').at(-1)
  const bytes = typeof data === 'string' ? decodeBase64(data) : undefined
  if (!(bytes instanceof Uint8Array)) return undefined
  try {
    return readJson(decodeUtf8LikeGo(bytes), 0).value
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}
