import type { Location } from '@catalog-bot/findings/finding'
import { getStringField } from './view/string-field.ts'
import { toFindingLocation } from './catalog-rule.ts'
import type { BundleView, CatalogView, PackageView } from './view/catalog-view.ts'
import { parseConstraint } from './view/constraint.ts'
import type { OlmConstraint } from './view/constraint.ts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'

export interface PackageRequirement {
  readonly in: PackageView
  readonly by: BundleView
  readonly at: Location
  readonly packageName: string
  readonly versionRange: string
  /** False inside a constraint, where it may be one of several alternatives. */
  readonly alone: boolean
}

interface BundleViewWithPackage {
  readonly package: PackageView
  readonly bundle: BundleView
}

/** Cached, because many rules use it. */
export const listBundlesWithPackages = memoizePerObject(
  (catalog: CatalogView): readonly BundleViewWithPackage[] =>
    catalog.packages.flatMap((its) => its.bundles.map((bundle) => ({ package: its, bundle }))),
)

/** By property or inside a constraint, in document order. */
export function* listPackageRequirements(catalog: CatalogView): Generator<PackageRequirement> {
  for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
    const has = (type: string) => bundle.properties(type).length > 0
    if (!has('olm.package.required') && !has('olm.constraint')) continue
    for (const { type, value, mark } of bundle.blob.properties) {
      const where = { in: its, by: bundle, at: toFindingLocation(bundle.blob.place, mark) }
      if (type === 'olm.package.required') {
        const packageName = getStringField(value, 'packageName')
        yield { ...where, packageName, versionRange: getStringField(value, 'versionRange'), alone: true }
      } else if (type === 'olm.constraint') {
        const { constraint } = parseConstraint(value)
        if (constraint === undefined) continue
        for (const part of listNestedConstraints(constraint)) {
          if (part.kind !== 'package') continue
          const { packageName, versionRange } = part
          yield { ...where, packageName, versionRange, alone: part === constraint }
        }
      }
    }
  }
}

export interface ApiRequirement {
  readonly in: PackageView
  readonly by: BundleView
  readonly at: Location
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Unconditional requirements only: by property, or as a whole constraint. */
export function* listApiRequirements(catalog: CatalogView): Generator<ApiRequirement> {
  for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
    if (!bundle.properties('olm.gvk.required').length && !bundle.properties('olm.constraint').length) continue
    for (const { type, value, mark } of bundle.blob.properties) {
      const where = { in: its, by: bundle, at: toFindingLocation(bundle.blob.place, mark) }
      if (type === 'olm.gvk.required')
        yield {
          ...where,
          group: getStringField(value, 'group'),
          version: getStringField(value, 'version'),
          kind: getStringField(value, 'kind'),
        }
      else if (type === 'olm.constraint') {
        const { constraint } = parseConstraint(value)
        if (constraint?.kind !== 'gvk') continue
        yield { ...where, group: constraint.group, version: constraint.version, kind: constraint.apiKind }
      }
    }
  }
}

export function* listNestedConstraints(constraint: OlmConstraint): Generator<OlmConstraint> {
  yield constraint
  if ('constraints' in constraint)
    for (const nested of constraint.constraints) yield* listNestedConstraints(nested)
}
