// Rules that search a whole catalog: their input, their hits, and how a hit becomes a finding.
import {
  createFinding,
  formatFindingSubject,
  type RuleInputAndHit,
  type FindingRuleWithFinder,
} from '@catalog-bot/findings/rule'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import type { FindingList } from '@catalog-bot/findings/finding-list'
import type { BlobLocation } from '@catalog-bot/fbc/facts/catalog'
import type { TextPosition } from '@catalog-bot/fbc/go/position-lookup'
import type { BundleView, CatalogView, PackageView } from './view/catalog-view.ts'

/** Size limits, in bytes of the catalog's text. */
export interface CatalogSizeLimits {
  readonly bundle: number
  readonly package: number
  readonly catalog: number
}

const bytesPerMebibyte = 1024 * 1024

export const defaultCatalogSizeLimits: CatalogSizeLimits = {
  // gRPC sends a bundle to the cluster as one message (4 MiB by default), and the resulting Kubernetes object must fit
  // etcd's request limit of 1.5 MiB.
  bundle: bytesPerMebibyte,
  // GitHub warns about files larger than 50 MiB and rejects those larger than 100 MiB.
  package: 50 * bytesPerMebibyte,
  // The catalog's pod holds all of it while building its cache; the largest public catalogs are much smaller.
  catalog: 512 * bytesPerMebibyte,
}

export interface CatalogRuleInputAndHit {
  readonly judges: 'catalog'
  readonly given: readonly [catalog: CatalogView, limits: CatalogSizeLimits]
  readonly hit: {
    /** Absent for findings about the whole catalog. */
    readonly at?: Location
    /**
     * Path of names, package first ('' if none): `['foo', 'stable', 'foo.v1']`. No lines or counts, so that it stays
     * the same across versions of the catalog.
     */
    readonly about: readonly string[]
    readonly related?: Finding['related']
  }
}

export type CatalogRule = FindingRuleWithFinder<object, CatalogRuleInputAndHit> & {
  /** Searches each package alone, so findings about unchanged packages are known from the base. */
  readonly searchesPackages?: true
}

interface PackageRuleInputAndHit extends Omit<CatalogRuleInputAndHit, 'given'> {
  readonly given: readonly [its: PackageView, limits: CatalogSizeLimits]
}

/** The fields of a validation rule that differ from rule to rule. Most rules are overridable. */
export type ValidationRuleFields<Data extends object, Kind extends RuleInputAndHit> = Omit<
  FindingRuleWithFinder<Data, Kind>,
  'check' | 'judges' | 'since' | 'overridable'
> & { readonly since?: string; readonly overridable?: false }

/** Defines a rule that searches a whole catalog. */
export function defineRule<Data extends object>({
  overridable,
  ...rule
}: ValidationRuleFields<Data, CatalogRuleInputAndHit>): FindingRuleWithFinder<Data, CatalogRuleInputAndHit> {
  return {
    check: 'validation',
    judges: 'catalog',
    since: '0.1.0',
    ...rule,
    ...(overridable !== false && { overridable: true }),
  }
}

/** Defines a rule that searches each package of a catalog alone. */
export function definePackageRule<Data extends object>({
  find,
  ...rule
}: ValidationRuleFields<Data, PackageRuleInputAndHit>) {
  return {
    ...defineRule<Data>({
      ...rule,
      *find({ packages }, limits) {
        for (const its of packages) yield* find(its, limits)
      },
    }),
    searchesPackages: true,
  } as const
}

interface BundleBlobHit<Data> {
  /** Defaults to the start of the blob. */
  readonly mark?: TextPosition | undefined
  /** The names after those of the package and the bundle. */
  readonly about?: readonly string[]
  readonly data: Omit<Data, 'bundle'>
  readonly related?: Finding['related']
}

/** Defines a rule that searches each bundle alone. Adds the bundle's name to the data. */
export function defineBundleBlobRule<Data extends { readonly bundle: string }>({
  find,
  ...rule
}: Omit<ValidationRuleFields<Data, PackageRuleInputAndHit>, 'find'> & {
  find: (bundle: BundleView, limits: CatalogSizeLimits) => Iterable<BundleBlobHit<Data>>
}) {
  return definePackageRule<Data>({
    ...rule,
    *find(its, limits) {
      for (const bundle of its.bundles)
        for (const { mark, about = [], data, related } of find(bundle, limits))
          yield {
            at: toFindingLocation(bundle.blob.place, mark),
            about: [its.name, bundle.blob.name, ...about],
            data: { bundle: bundle.blob.name, ...data } as Data,
            ...(related && { related }),
          }
    },
  })
}

export function addCatalogRuleFindings(
  rule: CatalogRule,
  catalog: CatalogView,
  limits: CatalogSizeLimits,
  into: FindingList,
): void {
  for (const hit of rule.find(catalog, limits))
    into.addLazily(rule, hit.at, () => createCatalogFinding(rule, hit))
}

function createCatalogFinding(
  rule: CatalogRule,
  hit: CatalogRuleInputAndHit['hit'] & { readonly data: object },
): Finding {
  const found = createFinding(rule, hit.at, hit.data, hit.related)
  return {
    ...found,
    subject: formatFindingSubject(hit.about),
    data: { package: hit.about[0] ?? '', ...found.data },
  }
}

export function toFindingLocation(position: BlobLocation, mark: TextPosition = position): Location {
  return { file: position.file, line: mark.line, column: mark.column }
}
