// Validates a catalog by opm's rules. Load errors come first, because opm stops at the first one.
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import { getPackageBlobs, type Catalog, type PackageBlobs } from '../facts/catalog.ts'
import { unknownDeprecatedObjectRule } from './rules/deprecation-rules.ts'
import { bundleInNoChannelRule } from './rules/bundle-rules.ts'
import { entryWithoutBundleRule, unknownPackageRule } from './rules/channel-rules.ts'
import { packageWithoutChannelRule, unknownDefaultChannelRule } from './rules/package-rules.ts'
import { defaultOpmRuleSet, type OpmRuleSet } from './rule-set.ts'
import { formatErrorTree } from './model.ts'
import { convertToModel } from './convert-to-model.ts'
import { validateModel } from './validate-model.ts'

/** `opm`: only findings that opm enforces. `full`: adds catalog-bot's file-scoped findings. */
export type ValidationProfile = 'opm' | 'full'

export interface CatalogVerdict {
  /** opm's verdict in either profile. */
  readonly passed: boolean
  /** opm's error message. Absent if the catalog is valid. */
  readonly message?: string
  /** Sorted, without duplicates, and limited per rule. */
  readonly findings: readonly Finding[]
}

/** Rules whose findings an incompletely parsed file can cause. */
const ruleIdsAffectedByMissingBlobs: ReadonlySet<string> = new Set([
  unknownPackageRule.id,
  unknownDefaultChannelRule.id,
  packageWithoutChannelRule.id,
  entryWithoutBundleRule.id,
  bundleInNoChannelRule.id,
  unknownDeprecatedObjectRule.id,
])

/**
 * The first load error in walk order determines the message. Omits model findings that an incompletely parsed file
 * would explain. Never throws.
 */
export function validateCatalog(
  catalog: Catalog,
  options: { readonly ruleSet?: OpmRuleSet; readonly profile?: ValidationProfile } = {},
): CatalogVerdict {
  const model = validateAsOpm(catalog, options.ruleSet ?? defaultOpmRuleSet)
  const [loadError] = catalog.loadErrors
  const whole = loadError === undefined
  const ofFiles = new FindingList()
  ofFiles.addAll(catalog.findings.filter((found) => options.profile !== 'opm' || found.severity === 'error'))
  const ofModel = whole
    ? model.findings
    : model.findings.filter((found) => !ruleIdsAffectedByMissingBlobs.has(found.rule))
  const message = loadError?.message ?? model.message
  return {
    passed: message === undefined,
    ...(message !== undefined && { message }),
    findings: [...ofFiles.sorted(), ...ofModel].sort(compareFindings),
  }
}

// opm's verdict and message, plus all problems instead of only the first. validateCatalog adds load errors.

/** Never throws. */
export function validateAsOpm(catalog: Catalog, ruleSet: OpmRuleSet = defaultOpmRuleSet): CatalogVerdict {
  const valid = getPackagesKnownToBeValid(ruleSet)
  const open = [...getPackageBlobs(catalog)].filter(([, its]) => !valid.has(its))
  const result = validateBlobsAsOpm(selectPackages(catalog, new Set(open.map(([name]) => name))), ruleSet)
  if (result.passed && result.findings.length === 0) for (const [, its] of open) valid.add(its)
  return result
}

/** opm checks each package alone, so valid ones don't affect the result. Both sides of a change share most of them. */
const getPackagesKnownToBeValid = memoizePerObject((_ruleSet: OpmRuleSet) => new WeakSet<PackageBlobs>())

function selectPackages(catalog: Catalog, names: ReadonlySet<string>): Catalog {
  // A message counts the deprecation blobs before one without a package.
  if (names.has('') || names.size === getPackageBlobs(catalog).size) return catalog
  const isOf = (blob: { readonly package: string }) => names.has(blob.package)
  return {
    ...catalog,
    packages: catalog.packages.filter(({ name }) => names.has(name)),
    channels: catalog.channels.filter(isOf),
    bundles: catalog.bundles.filter(isOf),
    deprecations: catalog.deprecations.filter(isOf),
  }
}

function validateBlobsAsOpm(catalog: Catalog, ruleSet: OpmRuleSet): CatalogVerdict {
  const findings = new FindingList()
  const { packages, message: flat } = convertToModel(catalog, ruleSet, findings)
  const tree = validateModel(packages, ruleSet, findings)
  const message = flat ?? (tree && formatErrorTree(tree))
  return {
    passed: message === undefined,
    ...(message !== undefined && { message }),
    findings: findings.sorted(),
  }
}
