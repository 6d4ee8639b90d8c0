// Summarizes a change for users of the Operator: a sentence for each of the first packages. describe-change.ts lists
// everything.
import { packageGraphs, type ChannelGraph } from '../catalog/graph/package-graph.ts'
import type { CatalogChange, Change, PackageChange } from '../change/change.ts'
import { code } from './escape.ts'

const mostPackages = 2
const mostNames = 3

/** A line of Markdown; undefined where no user notices the change. */
export function summariseChange(change: Change): string | undefined {
  const told = new Map<string, { say: (where: string) => string; where: string[] }>()
  for (const catalog of change.catalogs)
    for (const one of catalog.packages) {
      const say = sentenceOf(one, catalog)
      if (say === undefined) continue
      const key = say('')
      const known = told.get(key) ?? { say, where: [] }
      known.where.push(catalog.version ?? catalog.root)
      told.set(key, known)
    }
  const sentences = [...told.values()].map(({ say, where }) => say(` in ${names(where)}`))
  if (sentences.length === 0) return undefined
  const left = sentences.length - mostPackages
  const more = left > 0 ? [`${left} more ${left === 1 ? 'package changes' : 'packages change'}.`] : []
  return [...sentences.slice(0, mostPackages), ...more].join(' ')
}

function sentenceOf(change: PackageChange, catalog: CatalogChange): ((where: string) => string) | undefined {
  const name = code(change.name)
  if (change.kind === 'removed')
    return (where) =>
      `${name} goes${where}: nobody can install it there any more, and who has it gets no upgrades.`
  const after = catalog.result && packageGraphs(catalog.result, change.name)[0]
  const channels = after?.channels ?? []
  if (change.kind === 'added') {
    const head = headOf(channels.find(({ isDefault }) => isDefault))
    return (where) => `${name} is new${where}${head === undefined ? '' : `: new installations get ${head}`}.`
  }
  const forked = channels.find(({ name: its, heads }) => heads.length > 1 && touches(change, its))
  if (forked !== undefined) return withTwoHeads(change, forked)
  const moved = channels.filter((channel) => movesHead(change, channel))
  const main = moved.find(({ isDefault }) => isDefault) ?? moved[0]
  if (main !== undefined) return withNewHead(name, main)
  const [joining] = change.bundles.added
  const home =
    joining && channels.find(({ nodes }) => nodes.some((node) => node.isEntry && node.name === joining.name))
  const head = headOf(home)
  if (joining === undefined || home === undefined || head === undefined) return undefined
  const joins = labelIn(home)(joining.name)
  return (where) =>
    `${joins} joins channel ${code(home.name)} of ${name}${where}; new installations still get ${head}.`
}

function withTwoHeads({ name, bundles }: PackageChange, channel: ChannelGraph): (where: string) => string {
  const label = labelIn(channel)
  const heads = channel.heads.map(label)
  const joining = bundles.added
    .filter((added) => channel.heads.includes(added.name))
    .map((added) => label(added.name))
  const shown = `${heads.length === 2 ? 'two heads' : `${heads.length} heads`}, ${names(channel.heads, label)}`
  return (where) =>
    joining.length === 0
      ? `Channel ${code(channel.name)} of ${code(name)}${where} would have ${shown}.`
      : `${joining.slice(0, mostNames).join(', ')} ${joining.length === 1 ? 'joins' : 'join'} channel ${code(channel.name)} of ${code(name)}${where}, which would then have ${shown}.`
}

function withNewHead(name: string, channel: ChannelGraph): ((where: string) => string) | undefined {
  const head = headOf(channel)
  if (head === undefined) return undefined
  const label = labelIn(channel)
  const from = [
    ...new Set(
      channel.edges
        .filter(({ from: old, to }) => to === channel.heads[0] && old !== to)
        .map((edge) => edge.from),
    ),
  ]
  const upgrade =
    from.length === 0 ? '' : `; ${names(from, label)} ${from.length === 1 ? 'upgrades' : 'upgrade'} to it`
  return (where) =>
    channel.isDefault
      ? `New installations of ${name}${where} get ${head}${upgrade}.`
      : `Channel ${code(channel.name)} of ${name}${where} leads to ${head}${upgrade}.`
}

function touches({ channels }: PackageChange, name: string): boolean {
  return channels.added.includes(name) || channels.changed.some((channel) => channel.name === name)
}

function movesHead({ channels }: PackageChange, { name }: ChannelGraph): boolean {
  return (
    channels.added.includes(name) ||
    channels.changed.some((channel) => channel.name === name && channel.head.before !== channel.head.after)
  )
}

function headOf(channel: ChannelGraph | undefined): string | undefined {
  const [head, ...others] = channel?.heads ?? []
  return channel === undefined || head === undefined || others.length > 0 ? undefined : labelIn(channel)(head)
}

/** The version where it is unique in the channel, else the name; as code. */
function labelIn({ nodes }: ChannelGraph): (name: string) => string {
  return (name) => {
    const version = nodes.find((node) => node.name === name)?.version
    const isOne = version !== undefined && nodes.filter((node) => node.version === version).length === 1
    return code(isOne ? version : name)
  }
}

function names(all: readonly string[], label: (name: string) => string = (name) => code(name)): string {
  const shown = all.slice(0, all.length > mostNames ? mostNames - 1 : mostNames).map(label)
  const left = all.length - shown.length
  const last = left > 0 ? `${left} more` : shown.pop()
  return shown.length === 0 ? (last ?? '') : `${shown.join(', ')} and ${last ?? ''}`
}
