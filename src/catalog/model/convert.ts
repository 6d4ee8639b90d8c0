// Links a catalog's blobs in the order of opm's ConvertToModel, but continues after the first problem.
import type { Catalog, ChannelBlob, PackageBlob } from '../facts/catalog.ts'
import type { FindingList } from '../../findings/finding-list.ts'
import { quote, sortedByBytes } from '../../go/text.ts'
import * as channelRules from './rules/channel-rules.ts'
import * as packageRules from './rules/package-rules.ts'
import { packageNameError } from './package-name.ts'
import type { RuleSet } from './rule-set.ts'
import { Complaints } from './complaints.ts'
import { addBundle } from './convert-bundle.ts'
import { addDeprecations } from './convert-deprecation.ts'
import type { Draft } from './draft.ts'
import { firstOne, locationOf } from './location.ts'
import type { ModelBundle, ModelPackage } from './model.ts'

export interface Conversion {
  readonly packages: ReadonlyMap<string, ModelPackage>
  /** opm's text for the first problem. */
  readonly message?: string
}

/** Never throws; every problem goes into `findings`. */
export function convert(catalog: Catalog, ruleSet: RuleSet, findings: FindingList): Conversion {
  const complaints = new Complaints(findings)
  const draft: Draft = {
    ruleSet,
    packages: new Map(),
    bundles: new Map(),
    deprecated: new Set(),
    complaints,
  }
  for (const blob of catalog.packages) addPackage(draft, blob)
  const lastChannel = new Map<string, ChannelBlob>()
  for (const blob of catalog.channels) {
    addChannel(draft, blob)
    lastChannel.set(blob.package, blob)
  }
  for (const blob of catalog.bundles) addBundle(draft, blob)
  complainOfHollowEntries(draft, lastChannel)
  inventDefaultChannels(draft)
  if (ruleSet.deprecations) {
    for (const [index, blob] of catalog.deprecations.entries()) addDeprecations(draft, blob, index)
  }
  const { packages } = draft
  const { message } = complaints
  return message === undefined ? { packages } : { packages, message }
}

function addPackage(draft: Draft, blob: PackageBlob): void {
  const at = locationOf(blob.place)
  if (blob.name === '') {
    draft.complaints.add(() => 'config contains package with no name', packageRules.namelessPackage, at, {})
    return
  }
  const first = draft.packages.get(blob.name)
  if (first !== undefined) {
    const message = () => `duplicate package ${quote(blob.name)}`
    const related = [firstOne(first.blob.place)]
    draft.complaints.add(message, packageRules.duplicatePackage, at, { package: blob.name }, related)
    return
  }
  const message = draft.ruleSet.packageNameSyntax ? packageNameError(blob.name) : undefined
  if (message !== undefined) {
    draft.complaints.add(() => message, packageRules.invalidPackageName, at, { package: blob.name })
  }
  draft.packages.set(blob.name, { blob, channels: new Map() })
}

function addChannel(draft: Draft, blob: ChannelBlob): void {
  const at = locationOf(blob.place)
  const parent = draft.packages.get(blob.package)
  if (parent === undefined) {
    const object = `channel ${quote(blob.name)}`
    const message = () => `unknown package ${quote(blob.package)} for channel ${quote(blob.name)}`
    if (blob.package === '') draft.complaints.add(message, channelRules.missingPackage, at, { object })
    else draft.complaints.add(message, channelRules.unknownPackage, at, { package: blob.package, object })
    return
  }
  if (blob.name === '') {
    const message = () => `package ${quote(blob.package)} contains channel with no name`
    draft.complaints.add(message, channelRules.namelessChannel, at, { package: blob.package })
    return
  }
  const data = { package: blob.package, channel: blob.name }
  const first = parent.channels.get(blob.name)
  if (first?.blob !== undefined) {
    const message = () => `package ${quote(blob.package)} has duplicate channel ${quote(blob.name)}`
    const related = [firstOne(first.blob.place)]
    draft.complaints.add(message, channelRules.duplicateChannel, at, data, related)
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
      `invalid package ${quote(blob.package)}, channel ${quote(blob.name)}: duplicate entry ${quote(entry.name)}`
    const atEntry = locationOf(blob.place, entry.mark)
    draft.complaints.add(message, channelRules.duplicateEntry, atEntry, { ...data, entry: entry.name })
  }
}

/**
 * Every entry without a bundle is a finding. opm tracks only the entries of the package's last loaded channel, so only
 * those have a message here; the others fail in its error tree.
 */
function complainOfHollowEntries(draft: Draft, lastChannel: ReadonlyMap<string, ChannelBlob>): void {
  for (const [name, parent] of draft.packages) {
    const bundles = draft.bundles.get(name)
    const last = lastChannel.get(name)
    for (const channel of parent.channels.values()) {
      if (channel.blob === undefined) continue
      for (const { entry } of channel.entries.values()) {
        if (bundles?.has(entry.name)) continue
        const message = channel.blob === last ? () => hollowEntries(last, name, bundles) : undefined
        const at = locationOf(channel.blob.place, entry.mark)
        const data = { package: name, channel: channel.name, entry: entry.name }
        draft.complaints.add(message, channelRules.entryWithoutBundle, at, data)
      }
    }
  }
}

function hollowEntries(
  { entries }: ChannelBlob,
  packageName: string,
  bundles: ReadonlyMap<string, ModelBundle> | undefined,
): string {
  const missing = entries.map((entry) => entry.name).filter((entry) => !bundles?.has(entry))
  const list = sortedByBytes(new Set(missing)).join(' ')
  return `no olm.bundle blobs found in package ${quote(packageName)} for olm.channel entries [${list}]`
}

/** opm adds an empty channel for a missing default channel, then reports it as empty in its error tree. */
function inventDefaultChannels(draft: Draft): void {
  for (const { blob, channels } of draft.packages.values()) {
    if (blob.defaultChannel === '' || channels.has(blob.defaultChannel)) continue
    channels.set(blob.defaultChannel, { name: blob.defaultChannel, entries: new Map() })
    const data = { package: blob.name, channel: blob.defaultChannel }
    draft.complaints.add(undefined, packageRules.unknownDefaultChannel, locationOf(blob.place), data)
  }
}
