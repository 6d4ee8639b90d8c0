// Describes a pull request's changes for comments and terminals. Lines keep words and names apart so that each renderer
// can escape the names.
import type { ChannelEntry } from '../catalog/facts/catalog.ts'
import type {
  CatalogChange,
  Change,
  PackageChange,
  ReferenceListChange,
  TouchedPath,
} from '../change/change.ts'
import { bundleVersion, packagesIn, type PackageBlobs } from '../change/package-blobs.ts'
import { printable } from '../findings/printable.ts'
import { code } from './escape.ts'

/** Words are ours; a `name` is untrusted and shown as code. */
export type Word = string | { readonly name: string }
export interface Line {
  /** 0 for a package or a group of files, 1 for what happens there. */
  readonly depth: 0 | 1
  readonly words: readonly Word[]
}

/** Longer lists are cut. */
const shownNames = 5
const shownLines = 60

/** Packages first. Merges equal changes of a package in several catalogs. */
export function describeChangeLines(change: Change): Line[] {
  const lines = [
    ...describePackages(change.catalogs),
    ...(change.lists ?? []).flatMap(describeList),
    ...describeFiles(change.paths),
  ]
  if (lines.length === 0) return [nothing(change.paths)]
  if (lines.length <= shownLines) return lines
  const left = lines.length - shownLines
  return [...lines.slice(0, shownLines), { depth: 0, words: [`… and ${left} more lines.`] }]
}

/** For moved or reformatted blobs, which change only files. */
function nothing(paths: readonly TouchedPath[]): Line {
  if (paths.length === 0) return { depth: 0, words: ['Nothing: the base branch already has all of it.'] }
  const changed = count(paths.length, 'file changes', 'files change')
  return {
    depth: 0,
    words: [
      `Nothing in the catalogs. ${changed} without a change of meaning: `,
      ...names(paths.map(({ path }) => path)),
    ],
  }
}

export function changeAsMarkdown(lines: readonly Line[]): string[] {
  return lines.map(
    ({ depth, words }) =>
      `${'  '.repeat(depth)}- ${words.map((word) => (typeof word === 'string' ? word : code(word.name))).join('')}`,
  )
}

export function changeAsText(lines: readonly Line[]): string[] {
  return lines.map(
    ({ depth, words }) =>
      `${'  '.repeat(depth)}${words.map((word) => printable(typeof word === 'string' ? word : word.name)).join('')}`,
  )
}

function describePackages(catalogs: readonly CatalogChange[]): Line[] {
  const told = new Map<string, { heading: Word[]; where: string[]; lines: Line[] }>()
  for (const catalog of catalogs) {
    const changed = new Set(catalog.packages.map(({ name }) => name))
    const before = packagesIn(catalog.base, changed)
    const after = packagesIn(catalog.result, changed)
    for (const change of catalog.packages) {
      const { heading, lines } = describePackage(change, before.get(change.name), after.get(change.name))
      const key = JSON.stringify([change.name, heading, lines])
      const group = told.get(key) ?? { heading: [{ name: change.name }, ...heading], where: [], lines }
      group.where.push(catalog.version ?? catalog.root)
      told.set(key, group)
    }
  }
  return [...told.values()].flatMap(({ heading, where, lines }) => [
    {
      depth: 0 as const,
      words: [...heading, ' in ', ...names(where, 13), ...(lines.length > 0 ? [':'] : [])],
    },
    ...lines,
  ])
}

function describePackage(
  change: PackageChange,
  base: PackageBlobs | undefined,
  result: PackageBlobs | undefined,
): { heading: Word[]; lines: Line[] } {
  const label = bundleLabels(base, result)
  if (change.kind === 'removed') {
    const { removed } = change.bundles
    return { heading: [' removed, with ', count(removed.length, 'bundle')], lines: [] }
  }
  if (change.kind === 'added') {
    const words: Word[] = [count(change.bundles.added.length, 'bundle')]
    if (change.channels.added.length > 0)
      words.push(
        change.channels.added.length === 1 ? ', channel ' : ', channels ',
        ...names(change.channels.added),
      )
    const blob = result?.packages[0]
    if (blob && blob.defaultChannel !== '') words.push('; default channel ', { name: blob.defaultChannel })
    return { heading: [' is new'], lines: [{ depth: 1, words }] }
  }
  const said = [
    ...addedBundles(change, result, label),
    ...editedBundles(change, label),
    ...channelLines(change, label),
    ...packageLines(change, label),
  ]
  return { heading: [], lines: said.map((words) => ({ depth: 1, words })) }
}

type Label = (bundle: string) => Word

/** The version where it is unique in the package, else the bundle's name. */
function bundleLabels(base: PackageBlobs | undefined, result: PackageBlobs | undefined): Label {
  const versions = new Map<string, string>()
  const holders = new Map<string, Set<string>>()
  for (const bundle of [...(base?.bundles ?? []), ...(result?.bundles ?? [])]) {
    const version = bundleVersion(bundle)
    versions.set(bundle.name, version)
    holders.set(version, (holders.get(version) ?? new Set()).add(bundle.name))
  }
  return (name) => {
    const version = versions.get(name) ?? ''
    return { name: version !== '' && holders.get(version)?.size === 1 ? version : name }
  }
}

function addedBundles(change: PackageChange, result: PackageBlobs | undefined, label: Label): Word[][] {
  const listed = new Map<string, { channel: string; entry: ChannelEntry }[]>()
  for (const { name, entries } of result?.channels ?? [])
    // A name that is twice in a channel counts once, and its first entry wins.
    for (const entry of new Map(entries.toReversed().map((one) => [one.name, one])).values()) {
      const its = listed.get(entry.name)
      if (its) its.push({ channel: name, entry })
      else listed.set(entry.name, [{ channel: name, entry }])
    }
  return change.bundles.added.map(({ name }) => {
    const places = new Map<string, { edges: Word[]; channels: string[] }>()
    for (const { channel, entry } of listed.get(name) ?? []) {
      const edges: Word[] = []
      if (entry.replaces !== '') edges.push(', replaces ', label(entry.replaces))
      if (entry.skips.length > 0) edges.push(', skips ', ...list(entry.skips.map(label), 3))
      if (entry.skipRange !== '') edges.push(', skips the range ', { name: entry.skipRange })
      const key = JSON.stringify(edges)
      const place = places.get(key) ?? { edges, channels: [] }
      place.channels.push(channel)
      places.set(key, place)
    }
    if (places.size === 0) return [label(name), ' added, but in no channel']
    const parts = [...places.values()].map(({ edges, channels }) => [
      channels.length === 1 ? 'channel ' : 'channels ',
      ...names(channels),
      ...edges,
    ])
    return [label(name), ' added to ', ...parts.flatMap((part, at) => (at === 0 ? part : ['; to ', ...part]))]
  })
}

function editedBundles({ bundles }: PackageChange, label: Label): Word[][] {
  const lines: Word[][] = bundles.changed.map(({ name, fields }) => [
    'published bundle ',
    label(name),
    ' edited: ',
    ...names(fields),
  ])
  if (bundles.removed.length > 0)
    lines.push([
      bundles.removed.length === 1 ? 'bundle ' : 'bundles ',
      ...list(bundles.removed.map(({ name }) => label(name))),
      ' removed',
    ])
  return lines
}

function channelLines({ channels, bundles }: PackageChange, label: Label): Word[][] {
  const lines: Word[][] = []
  if (channels.added.length > 0)
    lines.push([channels.added.length === 1 ? 'new channel ' : 'new channels ', ...names(channels.added)])
  if (channels.removed.length > 0)
    lines.push([
      channels.removed.length === 1 ? 'channel ' : 'channels ',
      ...names(channels.removed),
      ' removed',
    ])
  const isNew = new Set(bundles.added.map(({ name }) => name))
  const isGone = new Set(bundles.removed.map(({ name }) => name))
  for (const { name, head, entries } of channels.changed) {
    const words: Word[] = []
    const say = (...said: Word[]) => words.push(words.length === 0 ? ': ' : '; ', ...said)
    if (head.before !== head.after)
      say(
        'head ',
        head.before === undefined ? 'none' : label(head.before),
        ' → ',
        head.after === undefined ? 'none' : label(head.after),
      )
    const joining = entries.added.filter((entry) => !isNew.has(entry))
    const leaving = entries.removed.filter((entry) => !isGone.has(entry))
    if (joining.length > 0) say(...list(joining.map(label)), ' added')
    if (leaving.length > 0) say(...list(leaving.map(label)), ' removed')
    if (entries.changed.length > 0) say('changed upgrade edges of ', ...list(entries.changed.map(label)))
    if (words.length === 0 && entries.added.length + entries.removed.length === 0) say('changed properties')
    if (words.length > 0) lines.push(['channel ', { name }, ...words])
  }
  return lines
}

function packageLines(change: PackageChange, label: Label): Word[][] {
  const { defaultChannel, metadata, deprecations, others } = change
  const lines: Word[][] = []
  const subject = (schema: string, name: string): Word[] => {
    if (schema === 'olm.package') return ['the package']
    return schema === 'olm.channel' ? ['channel ', { name }] : ['bundle ', label(name)]
  }
  if (defaultChannel)
    lines.push(['default channel ', { name: defaultChannel.before }, ' → ', { name: defaultChannel.after }])
  if (metadata.length > 0) lines.push(['package metadata: ', ...names(metadata)])
  for (const { schema, name } of deprecations.added)
    lines.push([...subject(schema, name), ' is deprecated now'])
  for (const { schema, name } of deprecations.removed)
    lines.push([...subject(schema, name), ' is no longer deprecated'])
  for (const { schema, name } of deprecations.changed)
    lines.push([...subject(schema, name), ' has a new deprecation message'])
  if (others > 0) lines.push([count(others, 'other blob'), ' changed'])
  return lines
}

function describeList({ path, added, removed, updated }: ReferenceListChange): Line[] {
  const entries: Word[][] = [
    ...added.map(({ name, image }): Word[] => ['new reference ', { name }, ' to ', { name: image }]),
    ...removed.map(({ name }): Word[] => ['reference ', { name }, ' removed']),
    ...updated.map(({ name, before, after }): Word[] =>
      before === after
        ? ['reference ', { name }, ' rewritten, with the same image']
        : ['reference ', { name }, ': ', { name: before }, ' → ', { name: after }],
    ),
  ]
  return [
    { depth: 0, words: ['list of references ', { name: path }, ':'] },
    ...entries.map((words) => ({ depth: 1 as const, words })),
  ]
}

function describeFiles(paths: readonly TouchedPath[]): Line[] {
  const lines: Line[] = []
  const sources = new Map<string, number>()
  for (const { role } of paths)
    if (role.kind === 'operator') sources.set(role.directory, (sources.get(role.directory) ?? 0) + 1)
  for (const [directory, files] of sources)
    lines.push({ depth: 0, words: ['sources of ', { name: directory }, `: ${count(files, 'file')}`] })
  const of = (kind: TouchedPath['role']['kind']) =>
    paths.filter(({ role }) => role.kind === kind).map(({ path }) => path)
  const owners = of('owners')
  if (owners.length > 0)
    lines.push({ depth: 0, words: [owners.length === 1 ? 'owner file ' : 'owner files ', ...names(owners)] })
  const infrastructure = of('infrastructure')
  if (infrastructure.length > 0)
    lines.push({
      depth: 0,
      words: [`${count(infrastructure.length, 'file')} outside packages: `, ...names(infrastructure)],
    })
  return lines
}

function names(texts: readonly string[], limit = shownNames): Word[] {
  return list(
    texts.map((name) => ({ name })),
    limit,
  )
}

function list(words: readonly Word[], limit = shownNames): Word[] {
  const shown = words.length > limit ? words.slice(0, limit - 1) : words
  const joined = shown.flatMap((word, at) => (at === 0 ? [word] : [', ', word]))
  return shown.length === words.length ? joined : [...joined, ` and ${words.length - shown.length} more`]
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}
