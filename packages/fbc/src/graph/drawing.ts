// Arranges a package in rows and links per channel, and folds uniform runs. Two graphs are drawn as a difference.
import { compareVersions, parseVersion } from '../versions/version.ts'
import type { ChannelGraph, GraphEdge, GraphNode, PackageGraph } from './package-graph.ts'
import { memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'

export type DiffStatus = 'same' | 'added' | 'removed'

export interface PackageDrawing {
  readonly package: string
  readonly badges: readonly DrawingBadge[]
  /** In a comparison, unchanged parts are drawn as the background. */
  readonly compares: boolean
  /** In a comparison, only the channels that differ. */
  readonly channels: readonly DrawnChannel[]
  /** The number of channels that are omitted because they do not differ. */
  readonly unchanged: number
}

export interface DrawnChannel {
  readonly name: string
  readonly status: DiffStatus
  readonly badges: readonly DrawingBadge[]
  /** Counts folded entries too. A comparison adds the previous count if it differs. */
  readonly entries: number
  readonly entriesBefore?: number
  /** Newest version first. */
  readonly rows: readonly DrawnChannelRow[]
  readonly links: readonly DrawnUpgradeEdge[]
}

export type DrawingBadge =
  | 'default'
  | 'now default'
  | 'was default'
  | 'no head'
  | 'several heads'
  | 'head'
  | 'was head'
  | 'deprecated'
  | 'now deprecated'
  | 'was deprecated'
  | 'skipped'
  | 'not in channel'

export interface DrawnChannelRow {
  /** The versions of the row, newest first. A folded row has several. */
  readonly names: readonly string[]
  readonly label: string
  readonly badges: readonly DrawingBadge[]
  readonly notes: readonly { readonly text: string; readonly status: DiffStatus }[]
  readonly status: DiffStatus
}

/** `count` is the number of edges that the link represents. */
export interface DrawnUpgradeEdge {
  readonly from: readonly number[]
  readonly to: number
  readonly kind: GraphEdge['kind']
  readonly status: DiffStatus
  readonly count: number
}

/** Drawings with up to this many rows aren't folded. */
const maxUnfoldedChannelRows = 30

/** Folds runs of entries that only replace one another in channels longer than a screen. */
export function drawPackage(graph: PackageGraph): PackageDrawing {
  return {
    package: graph.name,
    badges: computeDiffBadges('deprecated', graph.deprecated, graph.deprecated),
    compares: false,
    channels: [...graph.channels]
      .sort(compareNamesNaturally)
      .map((channel) => drawChannel(undefined, channel, false)),
    unchanged: 0,
  }
}

/** Only channels that differ, folded to the changes and their neighbors. */
export function drawPackageDiff(
  before: PackageGraph | undefined,
  after: PackageGraph | undefined,
): PackageDrawing {
  const both = [...(before?.channels ?? []), ...(after?.channels ?? [])].sort(compareNamesNaturally)
  const names = new Set(both.map(({ name }) => name))
  const channels: DrawnChannel[] = []
  let unchanged = 0
  for (const name of names) {
    const old = before?.channels.find((channel) => channel.name === name)
    const now = after?.channels.find((channel) => channel.name === name)
    if (old && now && JSON.stringify(old) === JSON.stringify(now)) unchanged++
    else channels.push(drawChannel(old, now, true))
  }
  return {
    package: after?.name ?? before?.name ?? '',
    badges: computeDiffBadges('deprecated', before?.deprecated, after?.deprecated),
    compares: true,
    channels,
    unchanged,
  }
}

interface ChannelRow {
  readonly node: GraphNode
  /** '' if there is no range. */
  readonly ranges: readonly [was: string, is: string]
  readonly status: DiffStatus
  readonly badges: DrawingBadge[]
}

interface EdgeWithDiffStatus extends GraphEdge {
  readonly status: DiffStatus
}

function drawChannel(
  before: ChannelGraph | undefined,
  after: ChannelGraph | undefined,
  compares: boolean,
): DrawnChannel {
  const edges = computeEdgeDiffStatuses(before?.edges ?? [], after?.edges ?? [], compares)
  const rows = buildChannelRows(before, after, edges, compares)
  const index = new Map(rows.map((row, at) => [row.node.name, at]))
  const retained = compares ? findRowsVisibleInDiff(rows, edges, index, before, after) : new Set<number>()
  const isUniform = (at: number) => isFoldableRow(at, rows, edges, index)
  let shown = (at: number) => (compares ? retained.has(at) : !isUniform(at))
  if (!compares && rows.length <= maxUnfoldedChannelRows) shown = () => true
  // A change of a hundred rows is folded like a whole channel.
  if (compares && retained.size > maxUnfoldedChannelRows) shown = (at) => retained.has(at) && !isUniform(at)
  const groups = foldChannelRows(rows, shown)
  const groupOf = new Map(groups.flatMap((group, at) => group.map((row) => [row.node.name, at])))
  const label = createNodeLabeler(rows)
  const [had, has] = [before, after].map((channel) => channel?.nodes.filter(({ isEntry }) => isEntry).length)
  return {
    name: (after ?? before)?.name ?? '',
    status: !compares || (before && after) ? 'same' : after ? 'added' : 'removed',
    badges: computeChannelBadges(before, after, compares),
    entries: has ?? had ?? 0,
    ...(compares && had !== undefined && has !== undefined && had !== has && { entriesBefore: had }),
    rows: groups.map((group) => drawChannelRow(group, edges, label)),
    links: groupUpgradeEdgesForDrawing(edges, groupOf),
  }
}

function computeEdgeDiffStatuses(
  before: readonly GraphEdge[],
  after: readonly GraphEdge[],
  compares: boolean,
): EdgeWithDiffStatus[] {
  const key = ({ kind, from, to }: GraphEdge) => `${kind}\n${from}\n${to}`
  const old = new Map(before.map((edge) => [key(edge), edge]))
  const now = new Map(after.map((edge) => [key(edge), edge]))
  const marked: EdgeWithDiffStatus[] = []
  for (const [id, edge] of now)
    if (edge.from !== edge.to) marked.push({ ...edge, status: !compares || old.has(id) ? 'same' : 'added' })
  for (const [id, edge] of old)
    if (edge.from !== edge.to && !now.has(id)) marked.push({ ...edge, status: 'removed' })
  return marked
}

function buildChannelRows(
  before: ChannelGraph | undefined,
  after: ChannelGraph | undefined,
  edges: readonly EdgeWithDiffStatus[],
  compares: boolean,
): ChannelRow[] {
  const old = new Map(before?.nodes.map((node) => [node.name, node]))
  const now = new Map(after?.nodes.map((node) => [node.name, node]))
  const replaced = new Set(edges.filter(({ kind }) => kind === 'replaces').map(({ from }) => from))
  const rows: ChannelRow[] = []
  for (const name of new Set([...now.keys(), ...old.keys()])) {
    const [was, is] = [old.get(name), now.get(name)]
    const node = is?.isEntry ? is : was?.isEntry ? was : (is ?? was)
    // Names that are only skipped add little. The count next to the skipping entry covers them.
    if (!node || (!node.isEntry && !replaced.has(name))) continue
    const status =
      !compares || !node.isEntry ? 'same' : !was?.isEntry ? 'added' : !is?.isEntry ? 'removed' : 'same'
    rows.push({
      node,
      ranges: [(compares ? was : is)?.skipRange ?? '', is?.skipRange ?? ''],
      status,
      badges: computeNodeBadges(was, is, node, before, after, compares),
    })
  }
  return rows.sort((a, b) => compareNodesNewestFirst(a.node, b.node))
}

function computeNodeBadges(
  was: GraphNode | undefined,
  is: GraphNode | undefined,
  node: GraphNode,
  before: ChannelGraph | undefined,
  after: ChannelGraph | undefined,
  compares: boolean,
): DrawingBadge[] {
  const badges: DrawingBadge[] = []
  if (after?.heads.includes(node.name)) badges.push('head')
  else if (compares && before?.heads.includes(node.name)) badges.push('was head')
  badges.push(...computeDiffBadges('deprecated', compares ? was?.deprecated : is?.deprecated, is?.deprecated))
  if (node.skipped && node.isEntry) badges.push('skipped')
  if (!node.isEntry) badges.push('not in channel')
  return badges
}

function computeDiffBadges(
  badge: 'default' | 'deprecated',
  was: boolean | undefined,
  is: boolean | undefined,
): DrawingBadge[] {
  if (is === true) return [was === false ? `now ${badge}` : badge]
  if (was === true) return [is === false ? `was ${badge}` : badge]
  return []
}

function computeChannelBadges(
  before: ChannelGraph | undefined,
  after: ChannelGraph | undefined,
  compares: boolean,
): DrawingBadge[] {
  const badges: DrawingBadge[] = []
  const old = compares ? before : after
  badges.push(...computeDiffBadges('default', old?.isDefault, after?.isDefault))
  badges.push(...computeDiffBadges('deprecated', old?.deprecated, after?.deprecated))
  // opm rejects broken channels, but a drawing still shows them.
  if (after && after.heads.length > 1) badges.push('several heads')
  if (after?.heads.length === 0 && after.nodes.some(({ isEntry }) => isEntry)) badges.push('no head')
  return badges
}

/**
 * The rows that must be visible in a change: differences, both heads, the ends of changed edges, and their neighbors.
 */
function findRowsVisibleInDiff(
  rows: readonly ChannelRow[],
  edges: readonly EdgeWithDiffStatus[],
  index: ReadonlyMap<string, number>,
  before: ChannelGraph | undefined,
  after: ChannelGraph | undefined,
): Set<number> {
  const matter = new Set<number>()
  const add = (name: string | undefined) => {
    const at = name === undefined ? undefined : index.get(name)
    if (at !== undefined) matter.add(at)
  }
  rows.forEach(({ status, badges, ranges: [was, is] }, at) => {
    if (status !== 'same' || was !== is || badges.some((badge) => /^(?:now|was) /.test(badge))) matter.add(at)
  })
  for (const head of [...(before?.heads ?? []), ...(after?.heads ?? [])]) add(head)
  const changedEdges = edges.filter(({ status }) => status !== 'same')
  for (const { kind, from, to } of changedEdges) {
    add(to)
    if (kind === 'replaces') add(from)
  }
  const skips = changedEdges.filter(({ kind }) => kind !== 'replaces')
  const changedInto = Map.groupBy(skips, ({ to }) => to)
  // A new head that skips eighty versions changes eighty edges but needs one line.
  for (const changed of changedInto.values())
    if (changed.length <= 3) for (const { from } of changed) add(from)
  for (const at of [...matter]) {
    if (at > 0) matter.add(at - 1)
    if (at + 1 < rows.length) matter.add(at + 1)
  }
  return matter
}

/**
 * Whether a row belongs to a uniform run. Its rows have the same status and badges, replace or are replaced only by
 * direct neighbors, skip nothing, and are skipped by the same entries.
 */
function isFoldableRow(
  at: number,
  rows: readonly ChannelRow[],
  edges: readonly EdgeWithDiffStatus[],
  index: ReadonlyMap<string, number>,
): boolean {
  const [above, row, below] = [rows[at - 1], rows[at], rows[at + 1]]
  if (!above || !row || !below) return false
  if (row.badges.some((badge) => !badgesAllowedInFoldedRows.has(badge))) return false
  if (row.ranges.some((range) => range !== '')) return false
  for (const edge of getEdgesTouchingNode(row.node.name, edges)) {
    if (edge.kind !== 'replaces') {
      if (edge.to === row.node.name) return false
      continue
    }
    if (edge.status !== row.status) return false
    if (Math.abs((index.get(edge.from) ?? -9) - (index.get(edge.to) ?? -9)) !== 1) return false
  }
  const manner = formatRowComparisonKey(row, edges)
  return manner === formatRowComparisonKey(above, edges) && manner === formatRowComparisonKey(below, edges)
}

function formatRowComparisonKey({ node, status, badges }: ChannelRow, edges: readonly EdgeWithDiffStatus[]) {
  const skippedBy = getEdgesTouchingNode(node.name, edges)
    .filter((edge) => edge.kind !== 'replaces' && edge.from === node.name)
    .map((edge) => `${edge.kind} ${edge.status} ${edge.to}`)
  return [
    status,
    ...badges.filter((badge) => badgesAllowedInFoldedRows.has(badge)),
    ...skippedBy.sort(),
  ].join('\n')
}

/** Badges that a folded run can share. */
const badgesAllowedInFoldedRows: ReadonlySet<DrawingBadge> = new Set([
  'deprecated',
  'now deprecated',
  'was deprecated',
  'skipped',
])

const groupEdgesByNodeName = memoizePerObject((edges: readonly EdgeWithDiffStatus[]) => {
  const known = new Map<string, EdgeWithDiffStatus[]>()
  for (const edge of edges)
    for (const end of [edge.from, edge.to]) getOrCreate(known, end, () => []).push(edge)
  return known
})

function getEdgesTouchingNode(name: string, edges: readonly EdgeWithDiffStatus[]) {
  return groupEdgesByNodeName(edges).get(name) ?? []
}

/** Groups hidden rows with neighbors of the same status; a group of one is shown. */
function foldChannelRows(rows: readonly ChannelRow[], shown: (at: number) => boolean): ChannelRow[][] {
  const groups: ChannelRow[][] = []
  let open: ChannelRow[] | undefined
  rows.forEach((row, at) => {
    if (shown(at)) {
      groups.push([row])
      open = undefined
    } else if (open?.[0]?.status === row.status) open.push(row)
    else groups.push((open = [row]))
  })
  return groups
}

function drawChannelRow(
  group: readonly ChannelRow[],
  edges: readonly EdgeWithDiffStatus[],
  label: (name: string) => string,
): DrawnChannelRow {
  const [first] = group
  const last = group.at(-1)
  const names = group.map(({ node }) => node.name)
  if (!first || !last) return { names, label: '', badges: [], notes: [], status: 'same' }
  if (group.length === 1)
    return {
      names,
      label: label(first.node.name),
      badges: first.badges,
      notes: formatChannelRowNotes(first, edges, label),
      status: first.status,
    }
  return {
    names,
    label: `${group.length} versions, ${label(last.node.name)} to ${label(first.node.name)}`,
    badges: first.badges.filter(
      (badge) => badge !== 'skipped' && group.every(({ badges }) => badges.includes(badge)),
    ),
    notes: [],
    status: first.status,
  }
}

function formatChannelRowNotes(
  { node: { name }, ranges: [was, is] }: ChannelRow,
  edges: readonly EdgeWithDiffStatus[],
  label: (name: string) => string,
): DrawnChannelRow['notes'] {
  const notes: { text: string; status: DiffStatus }[] = []
  const into = getEdgesTouchingNode(name, edges).filter((edge) => edge.to === name)
  for (const status of ['same', 'added', 'removed'] as const) {
    const skips = into.filter((edge) => edge.kind === 'skips' && edge.status === status)
    if (skips.length > 0)
      notes.push({
        text:
          skips.length <= 2
            ? `skips ${skips.map(({ from }) => label(from)).join(', ')}`
            : `skips ${skips.length}`,
        status,
      })
  }
  // Shown even if the range covers no entry, because it can cover versions that the catalog no longer contains.
  const covered = into.filter(({ kind, status }) => kind === 'skipRange' && status !== 'removed').length
  const note = (range: string, status: DiffStatus, count = '') => {
    if (range !== '') notes.push({ text: `range ${range}${count}`, status })
  }
  note(is, was === is ? 'same' : 'added', covered > 0 ? ` (${covered})` : '')
  if (was !== is) note(was, 'removed')
  return notes
}

function groupUpgradeEdgesForDrawing(
  edges: readonly EdgeWithDiffStatus[],
  groupOf: ReadonlyMap<string, number>,
): DrawnUpgradeEdge[] {
  const links = new Map<
    string,
    { from: Set<number>; link: Omit<DrawnUpgradeEdge, 'from' | 'count'>; count: number }
  >()
  for (const { kind, from, to, status } of edges) {
    const [source, target] = [groupOf.get(from), groupOf.get(to)]
    if (source === undefined || target === undefined || source === target) continue
    const drawn = getOrCreate(links, `${kind} ${status} ${target}`, () => ({
      from: new Set<number>(),
      link: { to: target, kind, status },
      count: 0,
    }))
    drawn.from.add(source)
    drawn.count++
  }
  return [...links.values()].map(({ from, link, count }) => ({
    ...link,
    from: [...from].sort((a, b) => a - b),
    count,
  }))
}

/** Versions are shorter than names. They are equally precise if each version belongs to one bundle. */
function createNodeLabeler(rows: readonly ChannelRow[]): (name: string) => string {
  const holders = new Map<string, number>()
  for (const { node } of rows)
    if (node.version !== undefined) holders.set(node.version, (holders.get(node.version) ?? 0) + 1)
  const versions = new Map(rows.map(({ node }) => [node.name, node.version]))
  return (name) => {
    const version = versions.get(name)
    return version !== undefined && holders.get(version) === 1 ? version : name
  }
}

/** Newest first; names without a version last. */
function compareNodesNewestFirst(a: GraphNode, b: GraphNode): number {
  const [left, right] = [a.version, b.version].map((text) => {
    const parsed = parseVersion(text ?? '')
    return parsed.ok ? parsed.value : undefined
  })
  if (!left || !right) return Number(!left) - Number(!right) || (a.name < b.name ? 1 : -1)
  return compareVersions(right, left) || (a.name < b.name ? 1 : -1)
}

/** Compares numbers in names by value: stable-3.9 comes before stable-3.10. */
function compareNamesNaturally(a: { readonly name: string }, b: { readonly name: string }): number {
  const [left, right] = [a.name, b.name].map((name) => name.split(/(\d+)/))
  for (let at = 0; left && right && at < Math.min(left.length, right.length); at++) {
    const [one = '', other = ''] = [left[at], right[at]]
    if (one === other) continue
    // Odd parts are digits. Very long ones are not versions and are compared as text.
    if (at % 2 === 1 && one.length <= 15 && other.length <= 15 && Number(one) !== Number(other))
      return Number(one) - Number(other)
    return one < other ? -1 : 1
  }
  return a.name.length - b.name.length
}
