// opm's checks of the linked catalog. Builds opm's error tree and the findings together, so that they can't diverge.
import { createErrorLeaf, createErrorNode } from './error-tree.ts'
import type { ErrorTree } from './error-tree.ts'
import type { FindingList } from '@catalog-bot/findings/finding-list'
import type { FindingRule } from '@catalog-bot/findings/rule'
import type { TextPosition } from '../go/text-position.ts'
import { compareBytes, quoteLikeGo, sortByBytes } from '../go/text.ts'
import * as channelRules from './rules/channel-rules.ts'
import * as packageRules from './rules/package-rules.ts'
import type { OpmRuleSet } from './rule-set.ts'
import { analyzeUpgradeGraph } from '../graph/upgrade-graph.ts'
import { formatVersion } from '../versions/version.ts'
import { toFindingLocation } from './location.ts'
import { collectDeprecationErrors, collectEntryErrors } from './validate-entry.ts'
import type { ModelBundle, ModelChannel, ModelPackage } from './model.ts'

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
  for (const [name, parent] of sortByName(packages)) {
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
    findings.add(packageRules.noDefaultChannel, at, data)
  }
  if (parent.channels.size === 0) {
    causes.push(createErrorLeaf('package must contain at least one channel'))
    findings.add(packageRules.packageWithoutChannel, at, data)
  }
  for (const [name, channel] of sortByName(parent.channels)) {
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
      findings.add(channelRules.emptyChannel, toFindingLocation(channel.blob.place), data)
    }
  } else {
    causes.push(...collectGraphErrors(parent, channel, ruleSet, findings))
  }
  for (const [name, entry] of sortByName(channel.entries)) {
    const found = collectEntryErrors(parent.blob.name, channel, entry, ruleSet, findings)
    causes.push(...createErrorNode(`invalid bundle ${quoteLikeGo(name)}`, found))
  }
  const object = (): string => `channel ${quoteLikeGo(channel.name)}`
  causes.push(...collectDeprecationErrors(parent.blob.name, object, channel.deprecation, findings))
  return causes
}

function collectGraphErrors(
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
    report(channelRules.noHead, data)
    return [createErrorLeaf('no channel head found in graph')]
  }
  if (graph.heads.length > 1) {
    report(channelRules.severalHeads, { ...data, heads: graph.heads })
    return [createErrorLeaf(`multiple channel heads found in graph: ${graph.heads.join(', ')}`)]
  }
  if (graph.cycle) {
    const path = graph.cycle.join(' -> ')
    report(channelRules.replacesCycle, { ...data, cycle: graph.cycle }, markOf(graph.cycle[0] ?? ''))
    return [createErrorLeaf(`detected cycle in replaces chain of upgrade graph: ${path}`)]
  }
  if (graph.stranded.length === 0) return []
  for (const entry of graph.stranded) {
    report(channelRules.strandedBundle, { ...data, entry }, markOf(entry))
  }
  return [createErrorLeaf(`channel contains one or more stranded bundles: ${graph.stranded.join(', ')}`)]
}

/** Compares bundles by name, across all channels. */
function findDuplicateVersions(parent: ModelPackage, findings: FindingList): ErrorTree[] {
  const versions = new Map<string, Map<string, ModelBundle | undefined>>()
  for (const channel of parent.channels.values()) {
    for (const [name, { bundle }] of channel.entries) {
      const version = getVersionKey(bundle)
      if (version === undefined) continue
      const bundles = versions.get(version) ?? new Map<string, ModelBundle | undefined>()
      versions.set(version, bundles.set(name, bundle))
    }
  }
  const groups: string[] = []
  for (const [version, bundles] of sortByName(versions)) {
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
    findings.add(packageRules.duplicateVersion, locations.at(-1), data, others)
  }
  return groups.length === 0
    ? []
    : [createErrorLeaf(`duplicate versions found in bundles: [${groups.join(' ')}]`)]
}

/** Returns undefined for an invalid version, which already has a finding. */
function getVersionKey(bundle: ModelBundle | undefined): string | undefined {
  if (bundle === undefined) return '0.0.0'
  if (bundle.version === undefined) return undefined
  const version = formatVersion(bundle.version)
  return bundle.release === '' ? version : `${version}-${bundle.release}`
}

function sortByName<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => compareBytes(a, b))
}
