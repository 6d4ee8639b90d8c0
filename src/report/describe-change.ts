// Describes changes for comments and terminals. Names are separate, so that renderers can escape them.
import { type ChannelEntry, getPackageBlobs, type PackageBlobs } from '@catalog-bot/fbc/facts/catalog'
import type {
  CatalogChange,
  PullRequestChange,
  PackageChange,
  CompositeListFileChange,
  TouchedPath,
} from '../pull-request/change.ts'
import { getBundleVersion } from '../pull-request/compare-blobs.ts'
import { escapeNonPrintableCharacters, formatCountWithNoun } from '@catalog-bot/findings/printable'
import { toCodeSpan } from './escape.ts'

/** Strings are trusted. A `name` is untrusted and shown as code. */
export type DescriptionLineSegment = string | { readonly name: string }
export interface DescriptionLine {
  /** 0 for a package or a group of files, 1 for a change in it. */
  readonly depth: 0 | 1
  readonly words: readonly DescriptionLineSegment[]
}

/** Longer lists are truncated. */
const maxDisplayedNamesPerList = 5
const maxDisplayedChangeLines = 60

/** Lists packages first. Combines equal changes of a package in several catalogs. */
export function describePullRequestChangeAsLines(change: PullRequestChange): DescriptionLine[] {
  const lines = [
    ...describePackages(change.catalogs),
    ...(change.lists ?? []).flatMap(describeCompositeListFileChange),
    ...describeTouchedFiles(change.paths),
  ]
  if (lines.length === 0) return [describeEmptyCatalogChange(change.paths)]
  if (lines.length <= maxDisplayedChangeLines) return lines
  const left = lines.length - maxDisplayedChangeLines
  return [...lines.slice(0, maxDisplayedChangeLines), { depth: 0, words: [`… and ${left} more lines.`] }]
}

/** For moved or reformatted blobs, which change files but not the catalog. */
function describeEmptyCatalogChange(paths: readonly TouchedPath[]): DescriptionLine {
  if (paths.length === 0)
    return { depth: 0, words: ['No changes: the base branch already contains everything.'] }
  const changed = formatCountWithNoun(paths.length, 'file changes', 'files change')
  return {
    depth: 0,
    words: [
      `No catalog changes. ${changed} without affecting the catalogs: `,
      ...formatUntrustedNames(paths.map(({ path }) => path)),
    ],
  }
}

export function formatDescriptionLinesAsMarkdown(lines: readonly DescriptionLine[]): string[] {
  return lines.map(
    ({ depth, words }) =>
      `${'  '.repeat(depth)}- ${words.map((segment) => (typeof segment === 'string' ? segment : toCodeSpan(segment.name))).join('')}`,
  )
}

export function formatDescriptionLinesAsText(lines: readonly DescriptionLine[]): string[] {
  return lines.map(
    ({ depth, words }) =>
      `${'  '.repeat(depth)}${words.map((segment) => escapeNonPrintableCharacters(typeof segment === 'string' ? segment : segment.name)).join('')}`,
  )
}

function describePackages(catalogs: readonly CatalogChange[]): DescriptionLine[] {
  const described = new Map<
    string,
    { heading: DescriptionLineSegment[]; where: string[]; lines: DescriptionLine[] }
  >()
  for (const catalog of catalogs) {
    const before = catalog.base && getPackageBlobs(catalog.base)
    const after = catalog.result && getPackageBlobs(catalog.result)
    for (const change of catalog.packages) {
      const { heading, lines } = describePackage(change, before?.get(change.name), after?.get(change.name))
      const key = JSON.stringify([change.name, heading, lines])
      const group = described.get(key) ?? { heading: [{ name: change.name }, ...heading], where: [], lines }
      group.where.push(catalog.version ?? catalog.root)
      described.set(key, group)
    }
  }
  return [...described.values()].flatMap(({ heading, where, lines }) => [
    {
      depth: 0 as const,
      words: [...heading, ' in ', ...formatUntrustedNames(where, 13), ...(lines.length > 0 ? [':'] : [])],
    },
    ...lines,
  ])
}

function describePackage(
  change: PackageChange,
  base: PackageBlobs | undefined,
  result: PackageBlobs | undefined,
): { heading: DescriptionLineSegment[]; lines: DescriptionLine[] } {
  const label = createBundleLabeler(base, result)
  if (change.kind === 'removed') {
    const { removed } = change.bundles
    return { heading: [' removed, with ', formatCountWithNoun(removed.length, 'bundle')], lines: [] }
  }
  if (change.kind === 'added') {
    const segments: DescriptionLineSegment[] = [formatCountWithNoun(change.bundles.added.length, 'bundle')]
    if (change.channels.added.length > 0)
      segments.push(', ', ...formatNounWithNames('channel', change.channels.added))
    const blob = result?.packages[0]
    if (blob && blob.defaultChannel !== '') segments.push('; default channel ', { name: blob.defaultChannel })
    return { heading: [' is new'], lines: [{ depth: 1, words: segments }] }
  }
  const clauses = [
    ...describeAddedBundles(change, result, label),
    ...describeEditedBundles(change, label),
    ...describeChannels(change, label),
    ...describePackageFieldChanges(change, label),
  ]
  return { heading: [], lines: clauses.map((words) => ({ depth: 1, words })) }
}

type BundleLabeler = (bundle: string) => DescriptionLineSegment

/** Returns the version if it is unique in the package, otherwise the bundle name. */
function createBundleLabeler(
  base: PackageBlobs | undefined,
  result: PackageBlobs | undefined,
): BundleLabeler {
  const versions = new Map<string, string>()
  const holders = new Map<string, Set<string>>()
  for (const bundle of [...(base?.bundles ?? []), ...(result?.bundles ?? [])]) {
    const version = getBundleVersion(bundle)
    versions.set(bundle.name, version)
    holders.set(version, (holders.get(version) ?? new Set()).add(bundle.name))
  }
  return (name) => {
    const version = versions.get(name) ?? ''
    return { name: version !== '' && holders.get(version)?.size === 1 ? version : name }
  }
}

function describeAddedBundles(change: PackageChange, result: PackageBlobs | undefined, label: BundleLabeler) {
  const listed = new Map<string, { channel: string; entry: ChannelEntry }[]>()
  for (const { name, entries } of result?.channels ?? [])
    // If a name appears twice in a channel, the first entry wins.
    for (const entry of new Map(entries.toReversed().map((one) => [one.name, one])).values()) {
      const its = listed.get(entry.name)
      if (its) its.push({ channel: name, entry })
      else listed.set(entry.name, [{ channel: name, entry }])
    }
  return change.bundles.added.map(({ name }) => {
    const groups = new Map<string, { edges: DescriptionLineSegment[]; channels: string[] }>()
    for (const { channel, entry } of listed.get(name) ?? []) {
      const edges: DescriptionLineSegment[] = []
      if (entry.replaces !== '') edges.push(', replaces ', label(entry.replaces))
      if (entry.skips.length > 0)
        edges.push(', skips ', ...formatDescriptionSegments(entry.skips.map(label), 3))
      if (entry.skipRange !== '') edges.push(', skips the range ', { name: entry.skipRange })
      const key = JSON.stringify(edges)
      const group = groups.get(key) ?? { edges, channels: [] }
      group.channels.push(channel)
      groups.set(key, group)
    }
    if (groups.size === 0) return [label(name), ' added, but not to any channel']
    const parts = [...groups.values()].map(({ edges, channels }) => [
      ...formatNounWithNames('channel', channels),
      ...edges,
    ])
    return [label(name), ' added to ', ...parts.flatMap((part, at) => (at === 0 ? part : ['; to ', ...part]))]
  })
}

function describeEditedBundles({ bundles }: PackageChange, label: BundleLabeler): DescriptionLineSegment[][] {
  const lines: DescriptionLineSegment[][] = bundles.changed.map(({ name, fields }) => [
    'published bundle ',
    label(name),
    ' edited: ',
    ...formatUntrustedNames(fields),
  ])
  if (bundles.removed.length > 0)
    lines.push([
      bundles.removed.length === 1 ? 'bundle ' : 'bundles ',
      ...formatDescriptionSegments(bundles.removed.map(({ name }) => label(name))),
      ' removed',
    ])
  return lines
}

function describeChannels({ channels, bundles }: PackageChange, label: BundleLabeler) {
  const lines: DescriptionLineSegment[][] = []
  if (channels.added.length > 0) lines.push(formatNounWithNames('new channel', channels.added))
  if (channels.removed.length > 0)
    lines.push([...formatNounWithNames('channel', channels.removed), ' removed'])
  const isNew = new Set(bundles.added.map(({ name }) => name))
  const isGone = new Set(bundles.removed.map(({ name }) => name))
  for (const { name, head, entries } of channels.changed) {
    const segments: DescriptionLineSegment[] = []
    const append = (...appended: DescriptionLineSegment[]) =>
      segments.push(segments.length === 0 ? ': ' : '; ', ...appended)
    if (head.before !== head.after)
      append(
        'head ',
        head.before === undefined ? 'none' : label(head.before),
        ' → ',
        head.after === undefined ? 'none' : label(head.after),
      )
    const joining = entries.added.filter((entry) => !isNew.has(entry))
    const leaving = entries.removed.filter((entry) => !isGone.has(entry))
    if (joining.length > 0) append(...formatDescriptionSegments(joining.map(label)), ' added')
    if (leaving.length > 0) append(...formatDescriptionSegments(leaving.map(label)), ' removed')
    if (entries.changed.length > 0)
      append('changed upgrade edges of ', ...formatDescriptionSegments(entries.changed.map(label)))
    if (segments.length === 0 && entries.added.length + entries.removed.length === 0)
      append('changed properties')
    if (segments.length > 0) lines.push(['channel ', { name }, ...segments])
  }
  return lines
}

function describePackageFieldChanges(
  change: PackageChange,
  label: BundleLabeler,
): DescriptionLineSegment[][] {
  const { defaultChannel, metadata, deprecations, others } = change
  const lines: DescriptionLineSegment[][] = []
  const subject = (schema: string, name: string): DescriptionLineSegment[] => {
    if (schema === 'olm.package') return ['the package']
    return schema === 'olm.channel' ? ['channel ', { name }] : ['bundle ', label(name)]
  }
  if (defaultChannel)
    lines.push(['default channel ', { name: defaultChannel.before }, ' → ', { name: defaultChannel.after }])
  if (metadata.length > 0) lines.push(['package metadata: ', ...formatUntrustedNames(metadata)])
  for (const { schema, name } of deprecations.added)
    lines.push([...subject(schema, name), ' is now deprecated'])
  for (const { schema, name } of deprecations.removed)
    lines.push([...subject(schema, name), ' is no longer deprecated'])
  for (const { schema, name } of deprecations.changed)
    lines.push([...subject(schema, name), ' has a new deprecation message'])
  if (others > 0) lines.push([formatCountWithNoun(others, 'other blob'), ' changed'])
  return lines
}

function describeCompositeListFileChange(change: CompositeListFileChange): DescriptionLine[] {
  const { path, added, removed, updated } = change
  const entries: DescriptionLineSegment[][] = [
    ...added.map(({ name, image }): DescriptionLineSegment[] => [
      'new reference ',
      { name },
      ' to ',
      { name: image },
    ]),
    ...removed.map(({ name }): DescriptionLineSegment[] => ['reference ', { name }, ' removed']),
    ...updated.map(({ name, before, after }): DescriptionLineSegment[] =>
      before === after
        ? ['reference ', { name }, ' reformatted, with the same image']
        : ['reference ', { name }, ': ', { name: before }, ' → ', { name: after }],
    ),
  ]
  return [
    { depth: 0, words: ['composite file ', { name: path }, ':'] },
    ...entries.map((words) => ({ depth: 1 as const, words })),
  ]
}

function describeTouchedFiles(paths: readonly TouchedPath[]): DescriptionLine[] {
  const lines: DescriptionLine[] = []
  const sources = new Map<string, number>()
  for (const { role } of paths)
    if (role.kind === 'operator') sources.set(role.directory, (sources.get(role.directory) ?? 0) + 1)
  for (const [directory, files] of sources)
    lines.push({
      depth: 0,
      words: ['sources of ', { name: directory }, `: ${formatCountWithNoun(files, 'file')}`],
    })
  const of = (kind: TouchedPath['role']['kind']) =>
    paths.filter(({ role }) => role.kind === kind).map(({ path }) => path)
  const owners = of('owners')
  if (owners.length > 0) lines.push({ depth: 0, words: formatNounWithNames('owner file', owners) })
  const infrastructure = of('infrastructure')
  if (infrastructure.length > 0)
    lines.push({
      depth: 0,
      words: [
        `${formatCountWithNoun(infrastructure.length, 'file')} outside packages: `,
        ...formatUntrustedNames(infrastructure),
      ],
    })
  return lines
}

function formatNounWithNames(noun: string, names: readonly string[]): DescriptionLineSegment[] {
  return [names.length === 1 ? `${noun} ` : `${noun}s `, ...formatUntrustedNames(names)]
}

function formatUntrustedNames(values: readonly string[], limit = maxDisplayedNamesPerList) {
  return formatDescriptionSegments(
    values.map((name) => ({ name })),
    limit,
  )
}

function formatDescriptionSegments(
  items: readonly DescriptionLineSegment[],
  limit = maxDisplayedNamesPerList,
) {
  const shown = items.length > limit ? items.slice(0, limit - 1) : items
  const joined = shown.flatMap((segment, at) => (at === 0 ? [segment] : [', ', segment]))
  return shown.length === items.length ? joined : [...joined, ` and ${items.length - shown.length} more`]
}
