// The shell command that renders a catalog from its template.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { isCatalogFilePath, type TemplatePair } from '../../../pull-request/layout/template-pairs.ts'

/** Uses the checked-in catalog's format and kind of metadata. */
export function formatRenderCommand({ template, catalog }: TemplatePair, checkedIn: Catalog): string {
  const types = new Set(checkedIn.bundles.flatMap(({ properties }) => properties.map(({ type }) => type)))
  const migrates = types.has('olm.csv.metadata') && !types.has('olm.bundle.object')
  const file = chooseCatalogOutputFile(catalog, checkedIn)
  return [
    'catalog-bot render',
    quoteForShell(template),
    `-o ${file.endsWith('.json') ? 'json' : 'yaml'}`,
    ...(migrates ? ['--migrate-level bundle-object-to-csv-metadata'] : []),
    `> ${quoteForShell(file)}`,
  ].join(' ')
}

/** The catalog's only file, or one that can replace several. */
function chooseCatalogOutputFile(catalog: string, { files }: Catalog): string {
  if (isCatalogFilePath(catalog)) return catalog
  const [first, ...more] = files
  return first && more.length === 0 ? first.path : `${catalog}/catalog.yaml`
}

/** Quotes untrusted paths so that the shell treats them as plain text. */
function quoteForShell(path: string): string {
  const safe = path.startsWith('-') ? `./${path}` : path
  return /^[\w./@+,:=-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", `'\\''`)}'`
}
