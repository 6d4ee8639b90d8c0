// Rules that compare the base with the result, and how a hit becomes a finding. Only what the change causes.
import { type Catalog, emptyPackageBlobs, getPackageBlobs } from '@catalog-bot/fbc/facts/catalog'
import type { CatalogChange, PackageChange } from '../../../pull-request/change.ts'
import { createFinding, formatFindingSubject, type FindingRuleWithFinder } from '@catalog-bot/findings/rule'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { toFindingLocation } from '../catalog-rule.ts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import type { ValidationRuleFields } from '../catalog-rule.ts'
import { createPackageView, type PackageView } from '../view/catalog-view.ts'

/** Called for each package that differs. */
export interface UpgradeRuleInputAndHit {
  readonly judges: 'pull request'
  readonly given: readonly [change: PackageChange, catalogs: BaseAndResultPackage]
  readonly hit: {
    readonly at?: Location | undefined
    /** Names below the package, such as `['stable', 'foo.v1']`. No lines, no counts. */
    readonly about: readonly string[]
    readonly related?: Finding['related']
  }
}

export type UpgradeRule = FindingRuleWithFinder<object, UpgradeRuleInputAndHit>

/** Defines a rule that compares base and result. */
export function defineRule<Data extends object>({
  overridable,
  ...rule
}: ValidationRuleFields<Data, UpgradeRuleInputAndHit>): FindingRuleWithFinder<Data, UpgradeRuleInputAndHit> {
  return {
    check: 'validation',
    judges: 'pull request',
    since: '0.1.0',
    ...rule,
    ...(overridable !== false && { overridable: true }),
  }
}

/** Either side may be absent. */
export interface BaseAndResultPackage {
  readonly base?: PackageView
  readonly result?: PackageView
}

/** Adds the rule's words, the subject, and catalog and package in the data. */
export function* runUpgradeRule(rule: UpgradeRule, change: CatalogChange): Generator<Finding> {
  const sides = getSidesOfPackages(change)
  for (const [index, its] of change.packages.entries()) {
    for (const hit of rule.find(its, sides[index] ?? {})) {
      const found = createFinding(rule, hit.at, hit.data, hit.related)
      yield {
        ...found,
        subject: formatFindingSubject([change.root, its.name, ...hit.about]),
        data: { catalog: change.root, package: its.name, ...found.data },
      }
    }
  }
}

/** The package's blob in the result, or else any of its blobs. */
export function findPackageLocation({ result }: BaseAndResultPackage): Location | undefined {
  const position = result?.blob?.place ?? result?.channels[0]?.blob.place
  return position && toFindingLocation(position)
}

/** In the result, or else in the base. */
export function findBundleByName(name: string, { base, result }: BaseAndResultPackage) {
  return result?.bundle(name) ?? base?.bundle(name)
}

export function formatTruncatedNameList(names: readonly string[], limit = 8): string {
  if (names.length <= limit) return names.join(', ')
  return `${names.slice(0, limit - 1).join(', ')} and ${names.length - limit + 1} more`
}

/** By index among the change's packages. Cached, because every rule needs the same sides. */
const getSidesOfPackages = memoizePerObject(({ base, result, packages }: CatalogChange) => {
  const view = (catalog: Catalog, name: string) =>
    createPackageView(getPackageBlobs(catalog).get(name) ?? emptyPackageBlobs)
  return packages.map(({ name }): BaseAndResultPackage => ({
    ...(base && { base: view(base, name) }),
    ...(result && { result: view(result, name) }),
  }))
})
