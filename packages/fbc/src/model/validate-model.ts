// opm's checks of the linked catalog. Builds opm's error tree and the findings together, so that they can't diverge.
import type { FindingList } from '@catalog-bot/findings/finding-list'
import type { FindingRule } from '@catalog-bot/findings/rule'
import {
  type ModelBundle,
  type ModelChannel,
  type ModelPackage,
  type ModelDeprecation,
  type ModelChannelEntry,
  toFindingLocation,
  createErrorLeaf,
  createErrorNode,
  type ErrorTree,
} from './model.ts'
import type { TextPosition } from '../go/position-lookup.ts'
import { compareBytes, quoteLikeGo, sortByBytes } from '../go/text.ts'
import * as channelRules from './rules/channel-rules.ts'
import * as packageRules from './rules/package-rules.ts'
import { deprecationWithoutMessageRule } from './rules/package-rules.ts'
import type { OpmRuleSet } from './rule-set.ts'
import { analyzeUpgradeGraph } from '../graph/upgrade-graph.ts'
import { formatVersion } from '../versions/version.ts'
import * as bundleRules from './rules/bundle-rules.ts'
import { parseVersionRange } from '../versions/version-range.ts'

/**
 * Returns opm's tree, or undefined for a valid catalog. Sorts siblings by name where opm's order is random. Never
 * throws.
 */
export function validateModel(
  packages: ReadonlyMap<string, ModelPackage>,
  ruleSet: OpmRuleSet,
  findings: FindingList,
): ErrorTree | undefined {
  const causes: ErrorTree[] = []
  for (const [name, parent] of sortEntriesByName(packages)) {
    causes.push(
      ...createErrorNode(
        `invalid package ${quoteLikeGo(name)}`,
        collectPackageErrors(parent, ruleSet, findings),
      ),
    )
  }
  const [tree] = createErrorNode('invalid index', causes)
  return tree
}

function collectPackageErrors(parent: ModelPackage, ruleSet: OpmRuleSet, findings: FindingList): ErrorTree[] {
  const { blob } = parent
  const at = toFindingLocation(blob.place)
  const data = { package: blob.name }
  const causes: ErrorTree[] = []
  if (blob.defaultChannel === '') {
    causes.push(createErrorLeaf('default channel must be set'))
    findings.add(packageRules.noDefaultChannelRule, at, data)
  }
  if (parent.channels.size === 0) {
    causes.push(createErrorLeaf('package must contain at least one channel'))
    findings.add(packageRules.packageWithoutChannelRule, at, data)
  }
  for (const [name, channel] of sortEntriesByName(parent.channels)) {
    const found = collectChannelErrors(parent, channel, ruleSet, findings)
    causes.push(...createErrorNode(`invalid channel ${quoteLikeGo(name)}`, found))
  }
  if (ruleSet.uniqueVersions) causes.push(...findDuplicateVersions(parent, findings))
  causes.push(...collectDeprecationErrors(blob.name, () => 'the package', parent.deprecation, findings))
  return causes
}

function collectChannelErrors(
  parent: ModelPackage,
  channel: ModelChannel,
  ruleSet: OpmRuleSet,
  findings: FindingList,
): ErrorTree[] {
  const causes: ErrorTree[] = []
  if (channel.entries.size === 0) {
    causes.push(createErrorLeaf('channel must contain at least one bundle'))
    // An added channel is already reported as an unknown default channel.
    if (channel.blob !== undefined) {
      const data = { package: parent.blob.name, channel: channel.name }
      findings.add(channelRules.emptyChannelRule, toFindingLocation(channel.blob.place), data)
    }
  } else {
    causes.push(...collectUpgradeGraphErrors(parent, channel, ruleSet, findings))
  }
  for (const [name, entry] of sortEntriesByName(channel.entries)) {
    const found = collectChannelEntryErrors(parent.blob.name, channel, entry, ruleSet, findings)
    causes.push(...createErrorNode(`invalid bundle ${quoteLikeGo(name)}`, found))
  }
  const object = (): string => `channel ${quoteLikeGo(channel.name)}`
  causes.push(...collectDeprecationErrors(parent.blob.name, object, channel.deprecation, findings))
  return causes
}

function collectUpgradeGraphErrors(
  parent: ModelPackage,
  channel: ModelChannel,
  ruleSet: OpmRuleSet,
  findings: FindingList,
): ErrorTree[] {
  const entries = [...channel.entries.values()].map(({ entry }) => entry)
  const graph = analyzeUpgradeGraph(entries, ruleSet)
  const data = { package: parent.blob.name, channel: channel.name }
  const report = <Data extends object>(rule: FindingRule<Data>, more: Data, mark?: TextPosition): void => {
    if (channel.blob === undefined) return
    findings.add(rule, toFindingLocation(channel.blob.place, mark), more)
  }
  const markOf = (name: string): TextPosition | undefined => channel.entries.get(name)?.entry.mark
  if (graph.heads.length === 0) {
    report(channelRules.noHeadRule, data)
    return [createErrorLeaf('no channel head found in graph')]
  }
  if (graph.heads.length > 1) {
    report(channelRules.severalHeadsRule, { ...data, heads: graph.heads })
    return [createErrorLeaf(`multiple channel heads found in graph: ${graph.heads.join(', ')}`)]
  }
  if (graph.cycle) {
    const path = graph.cycle.join(' -> ')
    report(channelRules.replacesCycleRule, { ...data, cycle: graph.cycle }, markOf(graph.cycle[0] ?? ''))
    return [createErrorLeaf(`detected cycle in replaces chain of upgrade graph: ${path}`)]
  }
  if (graph.stranded.length === 0) return []
  for (const entry of graph.stranded) {
    report(channelRules.strandedBundleRule, { ...data, entry }, markOf(entry))
  }
  return [createErrorLeaf(`channel contains one or more stranded bundles: ${graph.stranded.join(', ')}`)]
}

/** Compares bundles by name, across all channels. */
function findDuplicateVersions(parent: ModelPackage, findings: FindingList): ErrorTree[] {
  const versions = new Map<string, Map<string, ModelBundle | undefined>>()
  for (const channel of parent.channels.values()) {
    for (const [name, { bundle }] of channel.entries) {
      const version = formatVersionWithRelease(bundle)
      if (version === undefined) continue
      const bundles = versions.get(version) ?? new Map<string, ModelBundle | undefined>()
      versions.set(version, bundles.set(name, bundle))
    }
  }
  const groups: string[] = []
  for (const [version, bundles] of sortEntriesByName(versions)) {
    if (bundles.size < 2) continue
    const names = sortByBytes(bundles.keys())
    groups.push(`{${version}: [${names.join(', ')}]}`)
    const locations = names
      .flatMap((name) => bundles.get(name)?.blob.place ?? [])
      .map((location) => toFindingLocation(location))
    // opm counts entries without a bundle as 0.0.0; they already have a finding.
    if (locations.length < 2) continue
    const data = { package: parent.blob.name, version, bundles: names }
    const others = locations.slice(0, -1).map((at) => ({ at, note: `also version ${version}` }))
    findings.add(packageRules.duplicateVersionRule, locations.at(-1), data, others)
  }
  return groups.length === 0
    ? []
    : [createErrorLeaf(`duplicate versions found in bundles: [${groups.join(' ')}]`)]
}

/** Returns undefined for an invalid version, which already has a finding. */
function formatVersionWithRelease(bundle: ModelBundle | undefined): string | undefined {
  if (bundle === undefined) return '0.0.0'
  if (bundle.version === undefined) return undefined
  const version = formatVersion(bundle.version)
  return bundle.release === '' ? version : `${version}-${bundle.release}`
}

function sortEntriesByName<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => compareBytes(a, b))
}

/** opm's checks of one channel entry with its bundle, and of deprecations. Like opm, checks a bundle once per channel. */
function collectChannelEntryErrors(
  packageName: string,
  channel: ModelChannel,
  { entry, bundle }: ModelChannelEntry,
  ruleSet: OpmRuleSet,
  findings: FindingList,
): ErrorTree[] {
  const causes: ErrorTree[] = []
  const ofItself = bundle?.isReported === true ? undefined : findings
  if (bundle) bundle.isReported = true
  const inChannel = { package: packageName, channel: channel.name }
  const ofBundle = { package: packageName, bundle: entry.name }
  const atEntry = channel.blob && toFindingLocation(channel.blob.place, entry.mark)
  const atBundle = bundle && toFindingLocation(bundle.blob.place)
  if (entry.name === '') {
    causes.push(createErrorLeaf('name must be set'))
    findings.add(channelRules.namelessEntryRule, atEntry, inChannel)
  }
  const version = bundle?.version && formatVersion(bundle.version)
  const released = bundle !== undefined && version !== undefined && bundle.release !== ''
  if (released) {
    const wanted = `${packageName}-v${version}-${bundle.release}`
    if (entry.name !== wanted) {
      causes.push(
        createErrorLeaf(
          `name ${quoteLikeGo(entry.name)} does not match normalized name ${quoteLikeGo(wanted)}`,
        ),
      )
      ofItself?.add(bundleRules.nameNotNormalizedRule, atBundle, { ...ofBundle, wanted })
    }
  }
  for (const [index, skip] of entry.skips.entries()) {
    if (skip !== '') continue
    causes.push(createErrorLeaf(`skip[${index}] is empty`))
    findings.add(channelRules.emptySkipRule, atEntry, { ...inChannel, entry: entry.name, index })
  }
  const { skipRange } = entry
  const range = ruleSet.skipRangeSyntax && skipRange !== '' ? parseVersionRange(skipRange) : undefined
  if (range?.ok === false) {
    causes.push(createErrorLeaf(`invalid skipRange ${quoteLikeGo(skipRange)}: ${range.error}`))
    const data = { ...inChannel, entry: entry.name, skipRange, error: range.error }
    findings.add(channelRules.invalidSkipRangeRule, atEntry, data)
  }
  // The conversion reports entries without a bundle; this only reproduces opm's tree.
  if (bundle === undefined)
    causes.push(createErrorLeaf('must be exactly one property with type "olm.package"'))
  if (bundle === undefined || !hasImageOrBundleObjects(bundle))
    causes.push(createErrorLeaf('bundle image must be set'))
  if (bundle !== undefined && !hasImageOrBundleObjects(bundle)) {
    ofItself?.add(bundleRules.bundleWithoutImageRule, atBundle, ofBundle)
  }
  const object = (): string => `bundle ${quoteLikeGo(entry.name)}`
  causes.push(...collectDeprecationErrors(packageName, object, bundle?.deprecation, ofItself))
  if (released && (bundle.version?.build.length ?? 0) > 0) {
    causes.push(createErrorLeaf('cannot use build metadata in version with a release version'))
    const data = { ...ofBundle, version, release: bundle.release }
    ofItself?.add(bundleRules.releaseWithBuildMetadataRule, atBundle, data)
  }
  return causes
}

/** For a package, a channel or a bundle. */
function collectDeprecationErrors(
  packageName: string,
  object: () => string,
  deprecation: ModelDeprecation | undefined,
  findings: FindingList | undefined,
): ErrorTree[] {
  if (deprecation === undefined || deprecation.entry.message !== '') return []
  const at = toFindingLocation(deprecation.place, deprecation.entry.mark)
  findings?.add(deprecationWithoutMessageRule, at, { package: packageName, object: object() })
  return [createErrorLeaf('invalid deprecation: message must be set')]
}

function hasImageOrBundleObjects({ blob }: ModelBundle): boolean {
  return blob.image !== '' || blob.properties.some((property) => property.type === 'olm.bundle.object')
}
