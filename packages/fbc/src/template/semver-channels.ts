// The channels, edges, and default channel of the semver template. Edges skip all lower versions of the same major
// across minors. opm does this, even though its documentation differs.
import { compareBytes } from '../go/text.ts'
import { compareVersions, type Version, zeroVersion } from '../versions/version.ts'
import type { WritableChannel, WritableChannelEntry } from '../write/writable-catalog.ts'

/** From least to most stable. */
export const channelArchetypes = ['candidate', 'fast', 'stable'] as const
export type ChannelArchetype = (typeof channelArchetypes)[number]
export type SemverChannelKind = 'major' | 'minor'

export interface SemverChannelsInput {
  readonly package: string
  /** By archetype, then bundle name. */
  readonly versions: Readonly<Record<ChannelArchetype, ReadonlyMap<string, Version>>>
  readonly kinds: readonly SemverChannelKind[]
  /** The kind of the default channel if both qualify. */
  readonly preferred: SemverChannelKind
  readonly edges?: SemverEdgeStyle
}

/**
 * `across-channels`: edges between all bundles of a major version, as in opm since v1.61.0. `within-channels`: only
 * within a channel, as in opm up to v1.60.0 (operator-framework/operator-registry#1813). Such catalogs are still
 * published.
 */
export type SemverEdgeStyle = 'across-channels' | 'within-channels'

interface SemverChannelBundle {
  readonly archetype: ChannelArchetype
  readonly kind: SemverChannelKind
  readonly channel: string
  readonly name: string
  readonly version: Version
}

interface DefaultChannelCandidate {
  readonly archetype: number
  readonly kind: SemverChannelKind | undefined
  readonly version: Version
  readonly name: string
}

const channelKindAndArchetypePairs = (['major', 'minor'] as const).flatMap((kind) =>
  channelArchetypes.map((archetype) => [kind, archetype] as const),
)

/** Channels are sorted by name, entries by ascending version. */
export function buildSemverChannels(input: SemverChannelsInput): {
  channels: WritableChannel[]
  defaultChannel: string
} {
  const channels = new Map<string, Map<string, WritableChannelEntry>>()
  const placed: SemverChannelBundle[] = []
  let best: DefaultChannelCandidate = { archetype: 0, kind: undefined, version: zeroVersion, name: '' }
  for (const [rank, archetype] of channelArchetypes.entries()) {
    const ascending = [...input.versions[archetype]].sort(([, a], [, b]) => compareVersions(a, b))
    for (const [name, version] of ascending)
      for (const kind of input.kinds) {
        const channel =
          kind === 'major'
            ? `${archetype}-v${version.major}`
            : `${archetype}-v${version.major}.${version.minor}`
        let entries = channels.get(channel)
        if (!entries) {
          channels.set(channel, (entries = new Map<string, WritableChannelEntry>()))
          // opm ranks a channel by its lowest version, which created it.
          const candidate = { archetype: rank, kind, version, name: channel }
          if (isBetterDefaultChannel(candidate, best, input.preferred)) best = candidate
        }
        entries.set(name, { name })
        placed.push({ archetype, kind, channel, name, version })
      }
  }
  if (input.edges === 'within-channels')
    for (const channel of channels.keys())
      linkBundlesWithinChannels(
        placed.filter((entry) => entry.channel === channel),
        channels,
      )
  else
    for (const [kind, archetype] of channelKindAndArchetypePairs)
      linkBundlesAcrossChannels(
        placed.filter((entry) => entry.kind === kind && entry.archetype === archetype),
        channels,
      )
  return {
    channels: [...channels]
      .sort(([a], [b]) => compareBytes(a, b))
      .map(([name, entries]) => ({
        schema: 'olm.channel',
        name,
        package: input.package,
        entries: [...entries.values()],
      })),
    defaultChannel: best.name,
  }
}

/**
 * Within one archetype and kind, the highest patch of each minor replaces that of the previous minor and skips every
 * other lower version of the major.
 */
function linkBundlesAcrossChannels(
  ascending: readonly SemverChannelBundle[],
  channels: Map<string, Map<string, WritableChannelEntry>>,
): void {
  let lower: string[] = []
  let replaces = ''
  ascending.forEach((entry, at) => {
    const next = ascending[at + 1]
    const isTop =
      !next || next.version.major !== entry.version.major || next.version.minor !== entry.version.minor
    if (isTop) {
      const skips = lower.filter((name) => name !== replaces).sort(compareBytes)
      channels
        .get(entry.channel)
        ?.set(entry.name, {
          name: entry.name,
          ...(replaces !== '' && { replaces }),
          ...(skips.length > 0 && { skips }),
        })
    }
    if (next?.version.major !== entry.version.major) {
      lower = []
      replaces = ''
    } else {
      if (isTop) replaces = entry.name
      lower.push(entry.name)
    }
  })
}

/** The highest patch of each minor replaces the previous minor's, and skips the lower patches of its minor. */
function linkBundlesWithinChannels(
  ascending: readonly SemverChannelBundle[],
  channels: Map<string, Map<string, WritableChannelEntry>>,
): void {
  let replaces = ''
  let lower: string[] = []
  ascending.forEach(({ channel, name, version }, at) => {
    const next = ascending[at + 1]
    if (next?.version.major === version.major && next.version.minor === version.minor) {
      lower.push(name)
      return
    }
    channels
      .get(channel)
      ?.set(name, { name, ...(replaces !== '' && { replaces }), ...(lower.length > 0 && { skips: lower }) })
    replaces = name
    lower = []
  })
}

/** By archetype, then version, then preferred kind, then minor before major. */
function isBetterDefaultChannel(
  a: DefaultChannelCandidate,
  b: DefaultChannelCandidate,
  preferred: SemverChannelKind,
): boolean {
  if (a.archetype !== b.archetype) return a.archetype > b.archetype
  const order = compareVersions(a.version, b.version)
  if (order !== 0) return order > 0
  if (a.kind === b.kind) return false
  if (a.kind === preferred) return true
  if (b.kind === preferred) return false
  return a.kind === 'minor' || b.kind === undefined
}
