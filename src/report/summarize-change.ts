// A change's effect on users, in a sentence for each of the first packages.
import { buildPackageGraphs, type ChannelGraph } from '@catalog-bot/fbc/graph/package-graph'
import type { CatalogChange, PullRequestChange, PackageChange } from '../pull-request/change.ts'
import { toCodeSpan } from './escape.ts'

const maxSummarizedPackages = 2
const maxNamesPerSummary = 3

/** A line of Markdown. Undefined if the change does not affect users. */
export function summarizePullRequestChange(change: PullRequestChange): string | undefined {
  const summaries = new Map<string, { format: (where: string) => string; where: string[] }>()
  for (const catalog of change.catalogs)
    for (const one of catalog.packages) {
      const formatSentence = createPackageChangeFormatter(one, catalog)
      if (formatSentence === undefined) continue
      const key = formatSentence('')
      const known = summaries.get(key) ?? { format: formatSentence, where: [] }
      known.where.push(catalog.version ?? catalog.root)
      summaries.set(key, known)
    }
  const sentences = [...summaries.values()].map(({ format, where }) =>
    format(` in ${formatTruncatedNameList(where)}`),
  )
  if (sentences.length === 0) return undefined
  const left = sentences.length - maxSummarizedPackages
  const more = left > 0 ? [`${left} more ${left === 1 ? 'package changes' : 'packages change'}.`] : []
  return [...sentences.slice(0, maxSummarizedPackages), ...more].join(' ')
}

function createPackageChangeFormatter(
  change: PackageChange,
  catalog: CatalogChange,
): ((where: string) => string) | undefined {
  const name = toCodeSpan(change.name)
  if (change.kind === 'removed')
    return (where) =>
      `${name} is removed${where}. Users can no longer install it, and existing installations stop receiving upgrades.`
  const after = catalog.result && buildPackageGraphs(catalog.result, change.name)[0]
  const channels = after?.channels ?? []
  if (change.kind === 'added') {
    const head = getChannelHeadLabel(channels.find(({ isDefault }) => isDefault))
    return (where) => `${name} is new${where}${head === undefined ? '' : `; new installations get ${head}`}.`
  }
  const forked = channels.find(
    ({ name: its, heads }) => heads.length > 1 && isChannelAddedOrChanged(change, its),
  )
  if (forked !== undefined) return createMultiHeadChannelFormatter(change, forked)
  const moved = channels.filter((channel) => isChannelHeadAddedOrMoved(change, channel))
  const main = moved.find(({ isDefault }) => isDefault) ?? moved[0]
  if (main !== undefined) return createChannelHeadChangeFormatter(name, main)
  const [joining] = change.bundles.added
  const home =
    joining && channels.find(({ nodes }) => nodes.some((node) => node.isEntry && node.name === joining.name))
  const head = getChannelHeadLabel(home)
  if (joining === undefined || home === undefined || head === undefined) return undefined
  const joins = createVersionLabeler(home)(joining.name)
  return (where) =>
    `${joins} joins channel ${toCodeSpan(home.name)} of ${name}${where}; new installations still get ${head}.`
}

function createMultiHeadChannelFormatter(
  { name, bundles }: PackageChange,
  channel: ChannelGraph,
): (where: string) => string {
  const label = createVersionLabeler(channel)
  const heads = channel.heads.map(label)
  const joining = bundles.added
    .filter((added) => channel.heads.includes(added.name))
    .map((added) => label(added.name))
  const shown = `${heads.length === 2 ? 'two heads' : `${heads.length} heads`}, ${formatTruncatedNameList(channel.heads, label)}`
  return (where) =>
    joining.length === 0
      ? `Channel ${toCodeSpan(channel.name)} of ${toCodeSpan(name)}${where} would have ${shown}.`
      : `${joining.slice(0, maxNamesPerSummary).join(', ')} ${joining.length === 1 ? 'joins' : 'join'} channel ${toCodeSpan(channel.name)} of ${toCodeSpan(name)}${where}, which would then have ${shown}.`
}

function createChannelHeadChangeFormatter(
  name: string,
  channel: ChannelGraph,
): ((where: string) => string) | undefined {
  const head = getChannelHeadLabel(channel)
  if (head === undefined) return undefined
  const label = createVersionLabeler(channel)
  const from = [
    ...new Set(
      channel.edges
        .filter(({ from: old, to }) => to === channel.heads[0] && old !== to)
        .map((edge) => edge.from),
    ),
  ]
  const upgrade =
    from.length === 0
      ? ''
      : `; ${formatTruncatedNameList(from, label)} ${from.length === 1 ? 'upgrades' : 'upgrade'} to it`
  return (where) =>
    channel.isDefault
      ? `New installations of ${name}${where} get ${head}${upgrade}.`
      : `New installations of ${name} from channel ${toCodeSpan(channel.name)}${where} get ${head}${upgrade}.`
}

function isChannelAddedOrChanged({ channels }: PackageChange, name: string): boolean {
  return channels.added.includes(name) || channels.changed.some((channel) => channel.name === name)
}

function isChannelHeadAddedOrMoved({ channels }: PackageChange, { name }: ChannelGraph): boolean {
  return (
    channels.added.includes(name) ||
    channels.changed.some((channel) => channel.name === name && channel.head.before !== channel.head.after)
  )
}

function getChannelHeadLabel(channel: ChannelGraph | undefined): string | undefined {
  const [head, ...others] = channel?.heads ?? []
  return channel === undefined || head === undefined || others.length > 0
    ? undefined
    : createVersionLabeler(channel)(head)
}

/** Returns the version if it is unique in the channel, otherwise the name, as code. */
function createVersionLabeler({ nodes }: ChannelGraph): (name: string) => string {
  return (name) => {
    const version = nodes.find((node) => node.name === name)?.version
    const isOne = version !== undefined && nodes.filter((node) => node.version === version).length === 1
    return toCodeSpan(isOne ? version : name)
  }
}

function formatTruncatedNameList(
  all: readonly string[],
  label: (name: string) => string = (name) => toCodeSpan(name),
): string {
  const shown = all
    .slice(0, all.length > maxNamesPerSummary ? maxNamesPerSummary - 1 : maxNamesPerSummary)
    .map(label)
  const left = all.length - shown.length
  const last = left > 0 ? `${left} more` : shown.pop()
  return shown.length === 0 ? (last ?? '') : `${shown.join(', ')} and ${last ?? ''}`
}
