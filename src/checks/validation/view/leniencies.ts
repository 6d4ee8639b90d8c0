import type { OpmLeniency } from '@catalog-bot/fbc/facts/catalog'
import type { Location } from '@catalog-bot/findings/finding'
import type { CatalogView } from './catalog-view.ts'

export type LocatedParserLeniency<Kind extends OpmLeniency['kind'] = OpmLeniency['kind']> = Extract<
  OpmLeniency,
  { kind: Kind }
> & {
  readonly file: string
}

export function listParserLeniencies<Kind extends OpmLeniency['kind']>(
  view: CatalogView,
  kind: Kind,
): LocatedParserLeniency<Kind>[] {
  return (view.catalog.oddities ?? []).filter(
    (leniency): leniency is LocatedParserLeniency<Kind> => leniency.kind === kind,
  )
}

export function toParserLeniencyRuleHit(
  leniency: LocatedParserLeniency,
  what: string,
): { at: Location; about: string[] } {
  const { file, mark, schema, package: inPackage, name } = leniency
  // A package blob's name is its package.
  const owner = schema === 'olm.package' ? name : inPackage
  const isKey = leniency.kind === 'unknown-field' || leniency.kind === 'repeated-key'
  const at: Location = { file, line: mark.line, column: mark.column, ...(isKey && { extent: 'key' }) }
  return { at, about: [owner, schema, name, what] }
}

/** The type of the property whose value contains the leniency; undefined elsewhere. */
export function findEnclosingPropertyType(
  view: CatalogView,
  { package: inPackage, name, path }: { package: string; name: string; path: string },
): string | undefined {
  const [, index] = /^properties\[(\d+)\]\.value\./i.exec(path) ?? []
  if (index === undefined) return undefined
  return view.package(inPackage)?.bundle(name)?.blob.properties[Number(index)]?.type
}
