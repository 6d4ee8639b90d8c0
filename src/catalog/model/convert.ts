// Links a catalog's blobs as opm's ConvertToModel does, in its order (R11 to R25, R36 to R38). opm stops at the
// first problem; this goes on with what can be linked, so that the first message is opm's and all findings are ours.
import type { Catalog, ChannelBlob, PackageBlob } from '../catalog.ts'
import { finding } from '../../findings/rule.ts'
import { quote, sortedByBytes } from '../go-text.ts'
import * as channelRules from '../model-rules/channel-rules.ts'
import * as packageRules from '../model-rules/package-rules.ts'
import { packageNameError } from '../package-name.ts'
import type { RuleSet } from '../rule-set.ts'
import { addBundle } from './convert-bundle.ts'
import { addDeprecations } from './convert-deprecation.ts'
import { firstOne, locationOf } from './location.ts'
import type { Complaint, ModelBundle, ModelPackage } from './model.ts'

export interface Conversion {
  readonly packages: ReadonlyMap<string, ModelPackage>
  /** In opm's order: the first with a message is the one that opm reports. */
  readonly complaints: readonly Complaint[]
}

/** What the steps of one conversion share. */
export interface Draft {
  readonly ruleSet: RuleSet
  readonly packages: Map<string, ModelPackage>
  /** Bundle blobs by package and name. */
  readonly bundles: Map<string, Map<string, ModelBundle>>
  /** Packages that have had their deprecations blob. */
  readonly deprecated: Set<string>
  readonly complaints: Complaint[]
}

/** Links the catalog. Never throws; every problem is a complaint. */
export function convert(catalog: Catalog, ruleSet: RuleSet): Conversion {
  const draft: Draft = {
    ruleSet,
    packages: new Map(),
    bundles: new Map(),
    deprecated: new Set(),
    complaints: [],
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
  return draft
}

function addPackage(draft: Draft, blob: PackageBlob): void {
  const at = locationOf(blob.place)
  if (blob.name === '') {
    const message = 'config contains package with no name'
    draft.complaints.push({ message, finding: finding(packageRules.namelessPackage, at, {}) })
    return
  }
  const first = draft.packages.get(blob.name)
  if (first !== undefined) {
    draft.complaints.push({
      message: `duplicate package ${quote(blob.name)}`,
      finding: finding(packageRules.duplicatePackage, at, { package: blob.name }, [
        firstOne(first.blob.place),
      ]),
    })
    return
  }
  const message = draft.ruleSet.packageNameSyntax ? packageNameError(blob.name) : undefined
  if (message !== undefined) {
    draft.complaints.push({
      message,
      finding: finding(packageRules.invalidPackageName, at, { package: blob.name }),
    })
  }
  draft.packages.set(blob.name, { blob, channels: new Map() })
}

function addChannel(draft: Draft, blob: ChannelBlob): void {
  const at = locationOf(blob.place)
  const parent = draft.packages.get(blob.package)
  if (parent === undefined) {
    const object = `channel ${quote(blob.name)}`
    draft.complaints.push({
      message: `unknown package ${quote(blob.package)} for channel ${quote(blob.name)}`,
      finding:
        blob.package === ''
          ? finding(channelRules.missingPackage, at, { object })
          : finding(channelRules.unknownPackage, at, { package: blob.package, object }),
    })
    return
  }
  if (blob.name === '') {
    draft.complaints.push({
      message: `package ${quote(blob.package)} contains channel with no name`,
      finding: finding(channelRules.namelessChannel, at, { package: blob.package }),
    })
    return
  }
  const data = { package: blob.package, channel: blob.name }
  const first = parent.channels.get(blob.name)
  if (first?.blob !== undefined) {
    draft.complaints.push({
      message: `package ${quote(blob.package)} has duplicate channel ${quote(blob.name)}`,
      finding: finding(channelRules.duplicateChannel, at, data, [firstOne(first.blob.place)]),
    })
    return
  }
  const channel = { name: blob.name, blob, entries: new Map() }
  parent.channels.set(blob.name, channel)
  for (const entry of blob.entries) {
    if (!channel.entries.has(entry.name)) {
      channel.entries.set(entry.name, { entry })
      continue
    }
    const why = `duplicate entry ${quote(entry.name)}`
    draft.complaints.push({
      message: `invalid package ${quote(blob.package)}, channel ${quote(blob.name)}: ${why}`,
      finding: finding(channelRules.duplicateEntry, locationOf(blob.place, entry.mark), {
        ...data,
        entry: entry.name,
      }),
    })
  }
}

/**
 * R22. Every entry without a bundle is a finding; opm's own bookkeeping keeps only the entries of a package's
 * channel that was loaded last, so only those have a message here. The others fail in its tree.
 */
function complainOfHollowEntries(draft: Draft, lastChannel: ReadonlyMap<string, ChannelBlob>): void {
  for (const [name, parent] of draft.packages) {
    const bundles = draft.bundles.get(name)
    const last = lastChannel.get(name)
    let told: string | undefined
    for (const channel of parent.channels.values()) {
      if (channel.blob === undefined) continue
      for (const { entry } of channel.entries.values()) {
        if (bundles?.has(entry.name)) continue
        const message = channel.blob === last ? (told ??= hollowEntries(last, name, bundles)) : undefined
        draft.complaints.push({
          ...(message !== undefined && { message }),
          finding: finding(channelRules.entryWithoutBundle, locationOf(channel.blob.place, entry.mark), {
            package: name,
            channel: channel.name,
            entry: entry.name,
          }),
        })
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

/** R23: opm adds an empty channel where the default one is missing, and complains of its emptiness in the tree. */
function inventDefaultChannels(draft: Draft): void {
  for (const { blob, channels } of draft.packages.values()) {
    if (blob.defaultChannel === '' || channels.has(blob.defaultChannel)) continue
    channels.set(blob.defaultChannel, { name: blob.defaultChannel, entries: new Map() })
    draft.complaints.push({
      finding: finding(packageRules.unknownDefaultChannel, locationOf(blob.place), {
        package: blob.name,
        channel: blob.defaultChannel,
      }),
    })
  }
}
