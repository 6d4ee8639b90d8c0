// Catalog contents and when their images were last seen. A page reads one row per package it shows.
import { createHash } from 'node:crypto'
import {
  summarizePackage,
  type PackageSummary,
  type RecordedCatalog,
  type RecordedPackage,
} from '../../pull-request/recorded-package.ts'
import type { RecordedImageReference, StatusPageStore } from '../../ports/status-page-store.ts'
import {
  type Database,
  type SqlQueryExecutor,
  queryRecords,
  encodeDatabaseKey,
  splitIntoBatches,
  toStorableText,
} from './database.ts'
import { toRepositoryKey } from '../../pull-request/snapshot.ts'
import { databaseSchemaName } from './migrations.ts'

export function createRecordedCatalogStore(database: Database) {
  return {
    ...createCatalogAndPackageStore(database),
    ...createPackageSearchStore(database),
    ...createPackageComparisonStore(database),
    ...createImageReferenceStore(database),
  }
}

function createCatalogAndPackageStore(database: Database) {
  return {
    recordCatalogs: (repository, branch, catalogs) =>
      database.transaction(async (sql) => {
        const key = toRepositoryKey(repository)
        await sql.lock(`catalogs ${key}`)
        const keys = catalogs.map(({ catalog }) => catalog.key)
        // A catalog of the same name on another branch keeps its row: the default branch is recorded first.
        const others = await sql.query<{ key: string }>(
          `SELECT key FROM ${databaseSchemaName}.recorded_catalog WHERE repository = $1 AND branch <> $2`,
          [key, branch],
        )
        const taken = new Set(others.map((row) => row.key))
        await sql.query(
          `DELETE FROM ${databaseSchemaName}.recorded_package AS package USING ${databaseSchemaName}.recorded_catalog AS catalog
           WHERE catalog.repository = $1 AND catalog.branch = $2 AND package.repository = $1
             AND package.catalog = catalog.key AND NOT (catalog.key = ANY($3::text[]))`,
          [key, branch, keys],
        )
        await sql.query(
          `DELETE FROM ${databaseSchemaName}.recorded_catalog WHERE repository = $1 AND branch = $2 AND NOT (key = ANY($3::text[]))`,
          [key, branch, keys],
        )
        for (const { catalog, packages } of catalogs) {
          if (taken.has(catalog.key)) continue
          await sql.query(
            `INSERT INTO ${databaseSchemaName}.recorded_catalog (repository, branch, key, catalog) VALUES ($1, $2, $3, $4)
             ON CONFLICT (repository, key) DO UPDATE SET catalog = excluded.catalog`,
            [key, branch, catalog.key, JSON.stringify(catalog)],
          )
          if (packages !== undefined) await writeCatalogPackages(sql, key, catalog.key, packages)
        }
      }),

    listCatalogTotals: async (repository) => {
      const rows = await database.query<{
        catalog: string
        packages: number
        bundles: number
        stranded: number
      }>(
        `SELECT catalog.catalog, count(package.name)::integer AS packages,
           coalesce(sum(package.bundles), 0)::integer AS bundles, coalesce(sum(package.stranded), 0)::integer AS stranded
         FROM ${databaseSchemaName}.recorded_catalog AS catalog LEFT JOIN ${databaseSchemaName}.recorded_package AS package
           ON package.repository = catalog.repository AND package.catalog = catalog.key
         WHERE catalog.repository = $1 GROUP BY catalog.key, catalog.catalog ORDER BY catalog.key`,
        [toRepositoryKey(repository)],
      )
      return rows.map(({ catalog, ...counts }) => ({
        ...(JSON.parse(catalog) as RecordedCatalog),
        ...counts,
      }))
    },

    packageSummaries: async (repository, catalog) => {
      const rows = await database.query<{ summary: string }>(
        `SELECT summary FROM ${databaseSchemaName}.recorded_package WHERE repository = $1 AND catalog = $2 ORDER BY name`,
        [toRepositoryKey(repository), catalog],
      )
      return rows.map((row) => JSON.parse(row.summary) as PackageSummary)
    },

    strandedPackages: async (repository) => {
      const rows = await database.query<{ catalog: string; summary: string }>(
        `SELECT catalog, summary FROM ${databaseSchemaName}.recorded_package
         WHERE repository = $1 AND stranded > 0 ORDER BY name, catalog LIMIT 500`,
        [toRepositoryKey(repository)],
      )
      return rows.map((row) => ({ catalog: row.catalog, package: JSON.parse(row.summary) as PackageSummary }))
    },

    recordedPackage: async (repository, catalog, name) => {
      const [row] = await database.query<{ package: string }>(
        `SELECT package FROM ${databaseSchemaName}.recorded_package WHERE repository = $1 AND catalog = $2 AND name = $3`,
        [toRepositoryKey(repository), catalog, encodeDatabaseKey(name)],
      )
      return row && (JSON.parse(row.package) as RecordedPackage)
    },
  } satisfies Partial<StatusPageStore>
}

function createPackageSearchStore(database: Database) {
  return {
    searchPackages: async (repository, { text, catalog, limit, offset }) => {
      const lower = text.toLowerCase()
      const isNameSearch = packageFormatWords.some((word) => word.includes(lower))
      // Lowercasing entire packages takes ten times as long as searching them twice.
      const rows = await database.query<{ catalog: string; package: string; total: number }>(
        `SELECT catalog, package, (count(*) OVER ())::integer AS total FROM ${databaseSchemaName}.recorded_package
         WHERE repository = $1 AND ($2::text IS NULL OR catalog = $2)
           AND (strpos(lower(name), $5) > 0 OR NOT $8::boolean AND
             (strpos(lower(summary), $3) > 0 OR strpos(package, $3) > 0 OR $4 <> $3 AND strpos(package, $4) > 0))
         ORDER BY strpos(lower(name), $5) = 0, name, catalog LIMIT $6 OFFSET $7`,
        [
          toRepositoryKey(repository),
          catalog ?? null,
          toSearchedJson(lower),
          toSearchedJson(text),
          toStorableText(lower),
          limit,
          offset,
          isNameSearch,
        ],
      )
      return {
        total: rows[0]?.total ?? 0,
        found: rows.map((row) => ({
          catalog: row.catalog,
          package: JSON.parse(row.package) as RecordedPackage,
        })),
      }
    },
  } satisfies Partial<StatusPageStore>
}

function createPackageComparisonStore(database: Database) {
  return {
    differingPackages: async (repository, { before, after }, { limit, offset }) => {
      const rows = await database.query<{
        before: string | null
        after: string | null
        added: number
        removed: number
        total: number
      }>(
        `SELECT old.package AS before, new.package AS after,
           (count(*) FILTER (WHERE old.name IS NULL) OVER ())::integer AS added,
           (count(*) FILTER (WHERE new.name IS NULL) OVER ())::integer AS removed, (count(*) OVER ())::integer AS total
         FROM (SELECT name, package FROM ${databaseSchemaName}.recorded_package WHERE repository = $1 AND catalog = $2) AS old
         FULL JOIN (SELECT name, package FROM ${databaseSchemaName}.recorded_package WHERE repository = $1 AND catalog = $3) AS new
           ON old.name = new.name
         WHERE old.package IS DISTINCT FROM new.package
         ORDER BY coalesce(old.name, new.name) LIMIT $4 OFFSET $5`,
        [toRepositoryKey(repository), before, after, limit, offset],
      )
      const { added = 0, removed = 0, total = 0 } = rows[0] ?? {}
      return {
        total: { added, removed, changed: total - added - removed },
        found: rows.map((row) => ({
          ...(row.before !== null && { before: JSON.parse(row.before) as RecordedPackage }),
          ...(row.after !== null && { after: JSON.parse(row.after) as RecordedPackage }),
        })),
      }
    },
  } satisfies Partial<StatusPageStore>
}

/** The lowercase keys and fixed values of recorded packages. A search for a part of them would find all packages. */
const packageFormatWords =
  'name displayname description defaultchannel deprecated owners channels entries heads isdefault bundles version versions newest image images installmodes minkubeversion isstranded stranded reference graph nodes edges isentry skipped skiprange kind from to range replaces skips iscut true false'.split(
    ' ',
  )

/** Text as it appears within a JSON string. */
const toSearchedJson = (text: string): string => toStorableText(JSON.stringify(text).slice(1, -1))

function createImageReferenceStore(database: Database) {
  return {
    recordImageSightings: async (repository, images) => {
      const latest = new Map(images.map((image) => [encodeDatabaseKey(image.reference), image]))
      const rows = [...latest]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, image]) => ({ ...image, reference: key }))
      await database.query(
        `INSERT INTO ${databaseSchemaName}.seen_image (repository, reference, digest, seen_at)
         SELECT $1, row->>'reference', row->>'digest', (row->>'seenAt')::float8
         FROM json_array_elements($2::json) AS row
         ON CONFLICT (repository, reference) DO UPDATE SET digest = excluded.digest, seen_at = excluded.seen_at`,
        [toRepositoryKey(repository), JSON.stringify(rows)],
      )
    },

    findImageSightings: async (repository, references) => {
      const referenceByKey = new Map(references.map((reference) => [encodeDatabaseKey(reference), reference]))
      const records = await queryRecords<RecordedImageReference>(
        database,
        `SELECT reference, digest, seen_at AS "seenAt" FROM ${databaseSchemaName}.seen_image
         WHERE repository = $1 AND reference IN (SELECT json_array_elements_text($2::json))`,
        [toRepositoryKey(repository), JSON.stringify([...referenceByKey.keys()])],
      )
      return new Map(
        records.map((record) => {
          const reference = referenceByKey.get(record.reference) ?? record.reference
          return [reference, { ...record, reference }]
        }),
      )
    },
  } satisfies Partial<StatusPageStore>
}

interface PackageInsertRow {
  readonly name: string
  readonly bundles: number
  readonly stranded: number
  readonly summary: string
  readonly package: string
  readonly digest: string
}

async function writeCatalogPackages(
  sql: SqlQueryExecutor,
  key: string,
  catalog: string,
  packages: readonly RecordedPackage[],
): Promise<void> {
  await sql.query(
    `DELETE FROM ${databaseSchemaName}.recorded_package
             WHERE repository = $1 AND catalog = $2 AND NOT (name = ANY($3::text[]))`,
    [key, catalog, packages.map(({ name }) => encodeDatabaseKey(name))],
  )
  // A push usually changes one package, and writing all of them takes a second.
  const recorded = await sql.query<{ name: string; digest: string | null }>(
    `SELECT name, digest FROM ${databaseSchemaName}.recorded_package WHERE repository = $1 AND catalog = $2`,
    [key, catalog],
  )
  const digests = new Map(recorded.map(({ name, digest }) => [name, digest]))
  for (const part of splitIntoBatches(listChangedPackageRows(packages, digests), (row) => row.package.length))
    await sql.query(
      `INSERT INTO ${databaseSchemaName}.recorded_package (repository, catalog, name, bundles, stranded, summary, package, digest)
               SELECT $1, $2, row.* FROM json_to_recordset($3::json)
                 AS row (name text, bundles integer, stranded integer, summary text, package text, digest text)
               ON CONFLICT (repository, catalog, name) DO UPDATE SET bundles = excluded.bundles,
                 stranded = excluded.stranded, summary = excluded.summary, package = excluded.package,
                 digest = excluded.digest`,
      [key, catalog, JSON.stringify(part)],
    )
}

/** Without the recorded ones. Names are untrusted, with any characters and length: see encodeDatabaseKey. */
function* listChangedPackageRows(
  packages: readonly RecordedPackage[],
  recordedDigests: ReadonlyMap<string, string | null>,
): Generator<PackageInsertRow> {
  for (const one of packages) {
    const packed = JSON.stringify(one)
    const name = encodeDatabaseKey(one.name)
    const digest = createHash('sha256').update(packed).digest('hex')
    if (recordedDigests.get(name) !== digest)
      yield {
        name,
        bundles: one.bundles.length,
        stranded: one.bundles.filter(({ isStranded }) => isStranded).length,
        summary: JSON.stringify(summarizePackage(one)),
        package: packed,
        digest,
      }
  }
}
