// Links a catalog's blobs in the order of opm's ConvertToModel, but continues after the first problem.
import type { FindingList } from '@catalog-bot/findings/finding-list'
import type { Catalog, ChannelBlob, PackageBlob } from '../facts/catalog.ts'
import { quoteLikeGo, sortByBytes } from '../go/text.ts'
import * as channelRules from './rules/channel-rules.ts'
import * as packageRules from './rules/package-rules.ts'
import type { OpmRuleSet } from './rule-set.ts'
import {
  type ModelBundle,
  type ModelPackage,
  type ModelConversionState,
  createFirstOccurrenceNote,
  toFindingLocation,
  ProblemCollector,
} from './model.ts'
import { convertBundle, convertDeprecations } from './convert-blobs.ts'

const maxDnsLabelLength = 63
const maxDnsSubdomainLength = 253
const dnsLabelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const dnsSubdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const dnsLabelSyntaxError =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
  "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

export interface ModelConversionResult {
  readonly packages: ReadonlyMap<string, ModelPackage>
  /** opm's message for the first problem. */
  readonly message?: string
}

/** Never throws. Every problem is added to `findings`. */
export function convertToModel(
  catalog: Catalog,
  ruleSet: OpmRuleSet,
  findings: FindingList,
): ModelConversionResult {
  const problems = new ProblemCollector(findings)
  const draft: ModelConversionState = {
    ruleSet,
    packages: new Map(),
    bundles: new Map(),
    deprecated: new Set(),
    problems,
  }
  for (const blob of catalog.packages) convertPackage(draft, blob)
  const lastChannel = new Map<string, ChannelBlob>()
  for (const blob of catalog.channels) {
    convertChannel(draft, blob)
    lastChannel.set(blob.package, blob)
  }
  for (const blob of catalog.bundles) convertBundle(draft, blob)
  reportChannelEntriesWithoutBundle(draft, lastChannel)
  addMissingDefaultChannels(draft)
  if (ruleSet.deprecations) {
    for (const [index, blob] of catalog.deprecations.entries()) convertDeprecations(draft, blob, index)
  }
  const { packages } = draft
  const { message } = problems
  return message === undefined ? { packages } : { packages, message }
}

function convertPackage(draft: ModelConversionState, blob: PackageBlob): void {
  const at = toFindingLocation(blob.place)
  if (blob.name === '') {
    draft.problems.add(() => 'config contains package with no name', packageRules.namelessPackageRule, at, {})
    return
  }
  const first = draft.packages.get(blob.name)
  if (first !== undefined) {
    const message = () => `duplicate package ${quoteLikeGo(blob.name)}`
    const related = [createFirstOccurrenceNote(first.blob.place)]
    draft.problems.add(message, packageRules.duplicatePackageRule, at, { package: blob.name }, related)
    return
  }
  const message = draft.ruleSet.packageNameSyntax ? findPackageNameError(blob.name) : undefined
  if (message !== undefined) {
    draft.problems.add(() => message, packageRules.invalidPackageNameRule, at, { package: blob.name })
  }
  draft.packages.set(blob.name, { blob, channels: new Map() })
}

function convertChannel(draft: ModelConversionState, blob: ChannelBlob): void {
  const at = toFindingLocation(blob.place)
  const parent = draft.packages.get(blob.package)
  if (parent === undefined) {
    const object = `channel ${quoteLikeGo(blob.name)}`
    const message = () => `unknown package ${quoteLikeGo(blob.package)} for channel ${quoteLikeGo(blob.name)}`
    if (blob.package === '') draft.problems.add(message, channelRules.missingPackageRule, at, { object })
    else draft.problems.add(message, channelRules.unknownPackageRule, at, { package: blob.package, object })
    return
  }
  if (blob.name === '') {
    const message = () => `package ${quoteLikeGo(blob.package)} contains channel with no name`
    draft.problems.add(message, channelRules.namelessChannelRule, at, { package: blob.package })
    return
  }
  const data = { package: blob.package, channel: blob.name }
  const first = parent.channels.get(blob.name)
  if (first?.blob !== undefined) {
    const message = () =>
      `package ${quoteLikeGo(blob.package)} has duplicate channel ${quoteLikeGo(blob.name)}`
    const related = [createFirstOccurrenceNote(first.blob.place)]
    draft.problems.add(message, channelRules.duplicateChannelRule, at, data, related)
    return
  }
  const channel = { name: blob.name, blob, entries: new Map() }
  parent.channels.set(blob.name, channel)
  for (const entry of blob.entries) {
    if (!channel.entries.has(entry.name)) {
      channel.entries.set(entry.name, { entry })
      continue
    }
    const message = () =>
      `invalid package ${quoteLikeGo(blob.package)}, channel ${quoteLikeGo(blob.name)}: duplicate entry ${quoteLikeGo(entry.name)}`
    const atEntry = toFindingLocation(blob.place, entry.mark)
    draft.problems.add(message, channelRules.duplicateEntryRule, atEntry, { ...data, entry: entry.name })
  }
}

/**
 * Every entry without a bundle is a finding. opm tracks only the entries of the package's last loaded channel, so only
 * those have a message here. The others fail in opm's error tree.
 */
function reportChannelEntriesWithoutBundle(
  draft: ModelConversionState,
  lastChannel: ReadonlyMap<string, ChannelBlob>,
): void {
  for (const [name, parent] of draft.packages) {
    const bundles = draft.bundles.get(name)
    const last = lastChannel.get(name)
    for (const channel of parent.channels.values()) {
      if (channel.blob === undefined) continue
      for (const { entry } of channel.entries.values()) {
        if (bundles?.has(entry.name)) continue
        const message =
          channel.blob === last ? () => formatChannelEntriesWithoutBundle(last, name, bundles) : undefined
        const at = toFindingLocation(channel.blob.place, entry.mark)
        const data = { package: name, channel: channel.name, entry: entry.name }
        draft.problems.add(message, channelRules.entryWithoutBundleRule, at, data)
      }
    }
  }
}

function formatChannelEntriesWithoutBundle(
  { entries }: ChannelBlob,
  packageName: string,
  bundles: ReadonlyMap<string, ModelBundle> | undefined,
): string {
  const missing = entries.map((entry) => entry.name).filter((entry) => !bundles?.has(entry))
  const list = sortByBytes(new Set(missing)).join(' ')
  return `no olm.bundle blobs found in package ${quoteLikeGo(packageName)} for olm.channel entries [${list}]`
}

/** opm adds an empty channel for a missing default channel, then reports it as empty in its error tree. */
function addMissingDefaultChannels(draft: ModelConversionState): void {
  for (const { blob, channels } of draft.packages.values()) {
    if (blob.defaultChannel === '' || channels.has(blob.defaultChannel)) continue
    channels.set(blob.defaultChannel, { name: blob.defaultChannel, entries: new Map() })
    const data = { package: blob.name, channel: blob.defaultChannel }
    draft.problems.add(undefined, packageRules.unknownDefaultChannelRule, toFindingLocation(blob.place), data)
  }
}

/** Returns opm's error, or undefined for a valid name. */
function findPackageNameError(name: string): string | undefined {
  const problems: string[] = []
  if (new TextEncoder().encode(name).length > maxDnsLabelLength) {
    problems.push(`must be no more than ${maxDnsLabelLength} characters`)
  }
  // Far longer names are invalid anyway; this bounds the cost of the pattern.
  const short = name.length <= maxDnsSubdomainLength * 4
  if (!dnsLabelPattern.test(name))
    problems.push(short && dnsSubdomainPattern.test(name) ? 'must not contain dots' : dnsLabelSyntaxError)
  return problems.length === 0
    ? undefined
    : `invalid package name ${quoteLikeGo(name)}: [${problems.join(' ')}]`
}
