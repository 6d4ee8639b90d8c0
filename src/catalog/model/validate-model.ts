// opm's checks of the linked catalog. Builds opm's error tree and our findings together, so that they can't diverge.
import { leaf, node } from './error-tree.ts'
import type { ErrorTree } from './error-tree.ts'
import type { FindingList } from '../../findings/finding-list.ts'
import type { Rule } from '../../findings/rule.ts'
import type { Mark } from '../../go/mark.ts'
import { compareBytes, quote, sortedByBytes } from '../../go/text.ts'
import * as channelRules from './rules/channel-rules.ts'
import * as packageRules from './rules/package-rules.ts'
import type { RuleSet } from './rule-set.ts'
import { upgradeGraph } from '../graph/upgrade-graph.ts'
import { versionText } from '../versions/version.ts'
import { locationOf } from './location.ts'
import { deprecationCauses, entryCauses } from './validate-entry.ts'
import type { ModelBundle, ModelChannel, ModelPackage } from './model.ts'

/**
 * Returns opm's tree, or undefined for a valid catalog. Sorts siblings by name where opm's order is random. Never
 * throws.
 */
export function validateModel(
  packages: ReadonlyMap<string, ModelPackage>,
  ruleSet: RuleSet,
  findings: FindingList,
): ErrorTree | undefined {
  const causes: ErrorTree[] = []
  for (const [name, parent] of byName(packages)) {
    causes.push(...node(`invalid package ${quote(name)}`, packageCauses(parent, ruleSet, findings)))
  }
  const [tree] = node('invalid index', causes)
  return tree
}

function packageCauses(parent: ModelPackage, ruleSet: RuleSet, findings: FindingList): ErrorTree[] {
  const { blob } = parent
  const at = locationOf(blob.place)
  const data = { package: blob.name }
  const causes: ErrorTree[] = []
  if (blob.defaultChannel === '') {
    causes.push(leaf('default channel must be set'))
    findings.add(packageRules.noDefaultChannel, at, data)
  }
  if (parent.channels.size === 0) {
    causes.push(leaf('package must contain at least one channel'))
    findings.add(packageRules.packageWithoutChannel, at, data)
  }
  for (const [name, channel] of byName(parent.channels)) {
    const found = channelCauses(parent, channel, ruleSet, findings)
    causes.push(...node(`invalid channel ${quote(name)}`, found))
  }
  if (ruleSet.uniqueVersions) causes.push(...duplicateVersions(parent, findings))
  causes.push(...deprecationCauses(blob.name, () => 'the package', parent.deprecation, findings))
  return causes
}

function channelCauses(
  parent: ModelPackage,
  channel: ModelChannel,
  ruleSet: RuleSet,
  findings: FindingList,
): ErrorTree[] {
  const causes: ErrorTree[] = []
  if (channel.entries.size === 0) {
    causes.push(leaf('channel must contain at least one bundle'))
    // An added channel is already reported as an unknown default channel.
    if (channel.blob !== undefined) {
      const data = { package: parent.blob.name, channel: channel.name }
      findings.add(channelRules.emptyChannel, locationOf(channel.blob.place), data)
    }
  } else {
    causes.push(...graphCauses(parent, channel, ruleSet, findings))
  }
  for (const [name, entry] of byName(channel.entries)) {
    const found = entryCauses(parent.blob.name, channel, entry, ruleSet, findings)
    causes.push(...node(`invalid bundle ${quote(name)}`, found))
  }
  const object = (): string => `channel ${quote(channel.name)}`
  causes.push(...deprecationCauses(parent.blob.name, object, channel.deprecation, findings))
  return causes
}

function graphCauses(
  parent: ModelPackage,
  channel: ModelChannel,
  ruleSet: RuleSet,
  findings: FindingList,
): ErrorTree[] {
  const entries = [...channel.entries.values()].map(({ entry }) => entry)
  const graph = upgradeGraph(entries, ruleSet)
  const data = { package: parent.blob.name, channel: channel.name }
  const complain = <Data extends object>(rule: Rule<Data>, more: Data, mark?: Mark): void => {
    if (channel.blob === undefined) return
    findings.add(rule, locationOf(channel.blob.place, mark), more)
  }
  const markOf = (name: string): Mark | undefined => channel.entries.get(name)?.entry.mark
  if (graph.heads.length === 0) {
    complain(channelRules.noHead, data)
    return [leaf('no channel head found in graph')]
  }
  if (graph.heads.length > 1) {
    complain(channelRules.severalHeads, { ...data, heads: graph.heads })
    return [leaf(`multiple channel heads found in graph: ${graph.heads.join(', ')}`)]
  }
  if (graph.cycle) {
    const path = graph.cycle.join(' -> ')
    complain(channelRules.replacesCycle, { ...data, cycle: graph.cycle }, markOf(graph.cycle[0] ?? ''))
    return [leaf(`detected cycle in replaces chain of upgrade graph: ${path}`)]
  }
  if (graph.stranded.length === 0) return []
  for (const entry of graph.stranded) {
    complain(channelRules.strandedBundle, { ...data, entry }, markOf(entry))
  }
  return [leaf(`channel contains one or more stranded bundles: ${graph.stranded.join(', ')}`)]
}

/** Compares bundles by name, across all channels. */
function duplicateVersions(parent: ModelPackage, findings: FindingList): ErrorTree[] {
  const versions = new Map<string, Map<string, ModelBundle | undefined>>()
  for (const channel of parent.channels.values()) {
    for (const [name, { bundle }] of channel.entries) {
      const version = versionKey(bundle)
      if (version === undefined) continue
      const bundles = versions.get(version) ?? new Map<string, ModelBundle | undefined>()
      versions.set(version, bundles.set(name, bundle))
    }
  }
  const groups: string[] = []
  for (const [version, bundles] of byName(versions)) {
    if (bundles.size < 2) continue
    const names = sortedByBytes(bundles.keys())
    groups.push(`{${version}: [${names.join(', ')}]}`)
    const places = names
      .flatMap((name) => bundles.get(name)?.blob.place ?? [])
      .map((place) => locationOf(place))
    // opm counts entries without a bundle as 0.0.0; they already have a finding.
    if (places.length < 2) continue
    const data = { package: parent.blob.name, version, bundles: names }
    const others = places.slice(0, -1).map((at) => ({ at, note: `also version ${version}` }))
    findings.add(packageRules.duplicateVersion, places.at(-1), data, others)
  }
  return groups.length === 0 ? [] : [leaf(`duplicate versions found in bundles: [${groups.join(' ')}]`)]
}

/** Undefined for a version that doesn't parse, which already has a finding. */
function versionKey(bundle: ModelBundle | undefined): string | undefined {
  if (bundle === undefined) return '0.0.0'
  if (bundle.version === undefined) return undefined
  const version = versionText(bundle.version)
  return bundle.release === '' ? version : `${version}-${bundle.release}`
}

function byName<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => compareBytes(a, b))
}
