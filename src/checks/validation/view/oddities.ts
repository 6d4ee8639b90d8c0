import type { Oddity } from '../../../catalog/facts/catalog.ts'
import type { Location } from '../../../findings/finding.ts'
import type { CatalogView } from './catalog-view.ts'

export type PlacedOddity<Kind extends Oddity['kind'] = Oddity['kind']> = Extract<Oddity, { kind: Kind }> & {
  readonly file: string
}

export function odditiesOf<Kind extends Oddity['kind']>(view: CatalogView, kind: Kind): PlacedOddity<Kind>[] {
  return (view.catalog.oddities ?? []).filter((oddity): oddity is PlacedOddity<Kind> => oddity.kind === kind)
}

export function aboutOddity(oddity: PlacedOddity, what: string): { at: Location; about: string[] } {
  const { file, mark, schema, package: inPackage, name } = oddity
  // A package blob's name is its package.
  const owner = schema === 'olm.package' ? name : inPackage
  const isKey = oddity.kind === 'unknown-field' || oddity.kind === 'repeated-key'
  const at: Location = { file, line: mark.line, column: mark.column, ...(isKey && { extent: 'key' }) }
  return { at, about: [owner, schema, name, what] }
}

/** The type of the property whose value contains the oddity; undefined elsewhere. */
export function propertyTypeOf(
  view: CatalogView,
  { package: inPackage, name, path }: { package: string; name: string; path: string },
): string | undefined {
  const [, index] = /^properties\[(\d+)\]\.value\./i.exec(path) ?? []
  if (index === undefined) return undefined
  return view.package(inPackage)?.bundle(name)?.blob.properties[Number(index)]?.type
}
