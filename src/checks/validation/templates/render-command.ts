// The command that makes a catalog from its template, ready to be pasted into a shell.
import type { Catalog } from '../../../catalog/facts/catalog.ts'
import { isCatalogFile, type TemplatePair } from '../../../change/layout/template-pairs.ts'

/** In the format, and with the kind of metadata, that the checked-in catalog has. */
export function renderCommand({ template, catalog }: TemplatePair, checkedIn: Catalog): string {
  const types = new Set(checkedIn.bundles.flatMap(({ properties }) => properties.map(({ type }) => type)))
  const migrates = types.has('olm.csv.metadata') && !types.has('olm.bundle.object')
  const file = fileOf(catalog, checkedIn)
  return [
    'catalog-bot render',
    quoted(template),
    `-o ${file.endsWith('.json') ? 'json' : 'yaml'}`,
    ...(migrates ? ['--migrate-level bundle-object-to-csv-metadata'] : []),
    `> ${quoted(file)}`,
  ].join(' ')
}

/** The catalog's only file; where there are several, one that can take their place. */
function fileOf(catalog: string, { files }: Catalog): string {
  if (isCatalogFile(catalog)) return catalog
  const [first, ...more] = files
  return first && more.length === 0 ? first.path : `${catalog}/catalog.yaml`
}

/** Paths come from strangers: nothing in one may be more than a name to the shell that it is pasted into. */
function quoted(path: string): string {
  const safe = path.startsWith('-') ? `./${path}` : path
  return /^[\w./@+,:=-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", `'\\''`)}'`
}
