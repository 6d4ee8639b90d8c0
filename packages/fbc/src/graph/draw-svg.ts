// Formats a drawing as SVG, with one card per channel, the newest version on top, and upgrades as rails on the left.
// The SVG has no scripts, fonts, or links, and untrusted text is escaped. Coordinates are integers, so that drawings
// can be compared.
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import type {
  DrawingBadge,
  DrawnChannel,
  DrawnUpgradeEdge,
  DrawnChannelRow,
  PackageDrawing,
} from './drawing.ts'

const rowHeight = 24
const edgeLaneWidth = 11
const maxEdgeLanes = 20
/** Only the newest skip and range rails are drawn. The counts next to the entries cover the others. */
const maxDrawnSkipEdgeLines = 18
/** A rail with more ends shows only the ends of each run, because more ticks would look like hatching. */
const maxTicksPerSkipEdgeLine = 12
const cardHeaderHeight = 46
const cardPadding = 16
const cardGap = 20
/** In pixels. More cards start a new row. */
const maxCardRowWidth = 1500
const topMargin = 56
const charWidth = 7.3
const maxLabelLength = 60
/** In characters. This is enough for 40 names of typical length. */
const maxTooltipLength = 2000

const svgColors = {
  text: '#1f2328',
  faint: '#656d76',
  border: '#d0d7de',
  background: '#ffffff',
  replaces: '#424a53',
  skips: '#bc4c00',
  skipRange: '#0969da',
  added: '#1a7f37',
  removed: '#cf222e',
  head: '#1a7f37',
  deprecated: '#e8960f',
} as const

const badgeColors: Readonly<Record<DrawingBadge, string>> = {
  default: '#0969da',
  'now default': svgColors.added,
  'was default': svgColors.removed,
  'no head': svgColors.removed,
  'several heads': svgColors.removed,
  head: svgColors.head,
  'was head': svgColors.faint,
  deprecated: '#9a6700',
  'now deprecated': svgColors.removed,
  'was deprecated': svgColors.added,
  skipped: svgColors.skips,
  'not in channel': svgColors.faint,
}

const signByDiffStatus = { added: '+', removed: '−', same: '' } as const

interface ChannelCard {
  readonly width: number
  readonly height: number
  readonly body: string
}

export function drawSvg(drawing: PackageDrawing): string {
  const title = `${drawing.package}${drawing.badges.map((badge) => ` (${badge})`).join('')}`
  const cards = drawing.channels.map((channel) => drawChannelCard(channel, drawing.compares))
  const positions = layOutChannelCards(cards)
  const parts = cards.map(({ body }, at) => {
    const [x, y] = positions[at] ?? [0, 0]
    return `<g transform="translate(${x},${y})">${body}</g>`
  })
  const right = computeMaxOrZero(cards.map(({ width }, at) => (positions[at]?.[0] ?? 0) + width + cardGap))
  const bottom = computeMaxOrZero([
    topMargin,
    ...cards.map(({ height }, at) => (positions[at]?.[1] ?? 0) + height + cardGap),
  ])
  const { width: legendWidth, body: legend } = drawLegend(drawing)
  const width = Math.max(
    right,
    legendWidth + 2 * cardGap,
    Math.round(estimateTextWidth(title) * 1.4) + 2 * cardGap,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${bottom + 36}" viewBox="0 0 ${width} ${bottom + 36}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="100%" height="100%" fill="#f6f8fa"/>`,
    `<text x="${cardGap}" y="34" font-size="17" font-weight="bold" fill="${svgColors.text}">${escapeXml(title)}</text>`,
    ...parts,
    `<g transform="translate(${cardGap},${bottom + 8})">${legend}</g>`,
    '</svg>',
    '',
  ].join('\n')
}

/** Lays the cards out side by side in as many rows as needed. A high row stacks cards. */
function layOutChannelCards(cards: readonly ChannelCard[]): [x: number, y: number][] {
  let line = { top: topMargin, bottom: topMargin }
  let column = { left: cardGap, right: cardGap, bottom: Infinity }
  return cards.map(({ width, height }, at) => {
    const below = column.bottom + cardGap
    if (below + height <= line.bottom) {
      column = {
        left: column.left,
        right: Math.max(column.right, column.left + width),
        bottom: below + height,
      }
      return [column.left, below]
    }
    let left = at === 0 ? cardGap : column.right + cardGap
    if (left > cardGap && left + width > maxCardRowWidth) {
      line = { top: line.bottom + cardGap, bottom: line.bottom + cardGap }
      left = cardGap
    }
    column = { left, right: left + width, bottom: line.top + height }
    line = { top: line.top, bottom: Math.max(line.bottom, column.bottom) }
    return [left, line.top]
  })
}

function drawChannelCard(channel: DrawnChannel, compares: boolean): ChannelCard {
  const lanes = assignEdgeLanes(channel.links)
  const used = computeMaxOrZero([...lanes.values()].map((at) => at + 1))
  const nodeX = cardPadding + used * edgeLaneWidth + 8
  const textX = nodeX + 16
  const rows = channel.rows.map((drawn, at) =>
    drawChannelRowSvg(drawn, textX, cardHeaderHeight + at * rowHeight + rowHeight / 2, nodeX, compares),
  )
  const links = channel.links.map((link) => drawUpgradeEdge(link, lanes.get(link), nodeX, compares))
  const heading = drawChannelHeading(channel)
  const width = Math.ceil(
    computeMaxOrZero([heading.width, ...rows.map((drawn) => drawn.width)]) + cardPadding,
  )
  const height = cardHeaderHeight + channel.rows.length * rowHeight + 10
  const stroke = channel.status === 'same' ? svgColors.border : svgColors[channel.status]
  const backs = channel.rows.map((drawn, at) =>
    drawn.status === 'same'
      ? ''
      : `<rect x="1" y="${cardHeaderHeight + at * rowHeight}" width="${width - 2}" height="${rowHeight}" fill="${svgColors[drawn.status]}" opacity="0.1"/>`,
  )
  return {
    width,
    height,
    body: [
      `<rect width="${width}" height="${height}" rx="6" fill="${svgColors.background}" stroke="${stroke}"${channel.status === 'removed' ? ' stroke-dasharray="5 4"' : ''}/>`,
      `<line x1="0" y1="36" x2="${width}" y2="36" stroke="${svgColors.border}"/>`,
      heading.body,
      ...backs,
      ...links,
      ...rows.map((drawn) => drawn.body),
    ].join(''),
  }
}

function drawChannelHeading({ name, badges, status, entries, entriesBefore }: DrawnChannel) {
  const label = truncateLabel(name)
  let x = cardPadding
  const parts = [drawText(x, 23, label, `font-weight="bold" font-size="13" fill="${svgColors.text}"`, name)]
  x += Math.round(estimateTextWidth(label) * 1.1) + 8
  if (status !== 'same') {
    const pill = drawBadge(x, 19, status === 'added' ? 'new' : 'removed', svgColors[status])
    parts.push(pill.body)
    x += pill.width + 6
  }
  for (const badge of badges) {
    const pill = drawBadge(x, 19, badge, badgeColors[badge])
    parts.push(pill.body)
    x += pill.width + 6
  }
  const before = entriesBefore === undefined ? '' : `${entriesBefore} → `
  const count = `${before}${entries === 1 ? '1 entry' : `${entries} entries`}`
  parts.push(drawText(x + 4, 23, count, `fill="${svgColors.faint}" font-size="11"`))
  return { width: x + 4 + estimateTextWidth(count), body: parts.join('') }
}

function drawChannelRowSvg(
  drawn: DrawnChannelRow,
  textX: number,
  y: number,
  nodeX: number,
  compares: boolean,
) {
  const { names, label, badges, notes, status } = drawn
  const isGroup = names.length > 1
  const parts = drawChannelRowNode(drawn, nodeX, y, compares)
  let x = textX
  const shown = (status === 'same' ? '' : `${signByDiffStatus[status]} `) + truncateLabel(label)
  const color =
    status !== 'same'
      ? svgColors[status]
      : isGroup || badges.includes('not in channel')
        ? svgColors.faint
        : svgColors.text
  const style = `fill="${color}"${isGroup ? ' font-style="italic"' : ''}${badges.includes('head') ? ' font-weight="bold"' : ''}`
  parts.push(drawText(x, y + 4, shown, style))
  x += estimateTextWidth(shown) + 8
  for (const badge of badges) {
    // The ring already shows this, and in long semver channels the label would repeat on every line.
    if (badge === 'skipped') continue
    const pill = drawBadge(x, y, badge, badgeColors[badge])
    parts.push(pill.body)
    x += pill.width + 6
  }
  for (const note of notes) {
    const text = signByDiffStatus[note.status] + truncateLabel(note.text)
    parts.push(
      drawText(
        x,
        y + 4,
        text,
        `font-size="11" fill="${note.status === 'same' ? svgColors.faint : svgColors[note.status]}"`,
        note.text,
      ),
    )
    x += Math.round(estimateTextWidth(text) * 0.93) + 10
  }
  return {
    width: x,
    body: `<g><title>${escapeXml(names.slice(0, 40).join(', ').slice(0, maxTooltipLength))}</title>${parts.join('')}</g>`,
  }
}

/** A circle, or three dots for a group of entries. */
function drawChannelRowNode(
  { names, badges, status }: DrawnChannelRow,
  x: number,
  y: number,
  compares: boolean,
): string[] {
  const deprecated = badges.includes('deprecated') || badges.includes('now deprecated')
  const stroke = status === 'same' ? (compares ? svgColors.faint : svgColors.replaces) : svgColors[status]
  if (names.length > 1)
    return [-5, 0, 5].map(
      (dy) =>
        `<circle cx="${x}" cy="${y + dy}" r="1.7" fill="${deprecated ? svgColors.deprecated : stroke}"/>`,
    )
  const fill = badges.includes('head')
    ? svgColors.head
    : deprecated
      ? svgColors.deprecated
      : svgColors.background
  const dashes = badges.includes('not in channel') ? ' stroke-dasharray="2 2"' : ''
  const edge = badges.includes('skipped')
    ? svgColors.skips
    : badges.includes('head')
      ? svgColors.head
      : stroke
  return [`<circle cx="${x}" cy="${y}" r="5" fill="${fill}" stroke="${edge}" stroke-width="1.6"${dashes}/>`]
}

/**
 * Lane 0 is next to the nodes. Short rails are placed first, so that they are innermost. Rails that don't fit get no
 * lane.
 */
function assignEdgeLanes(links: readonly DrawnUpgradeEdge[]): Map<DrawnUpgradeEdge, number> {
  const skipping = links.filter(({ kind }) => kind !== 'replaces').sort((a, b) => a.to - b.to)
  const left = new Set(skipping.slice(maxDrawnSkipEdgeLines))
  const order = { replaces: 0, skips: 1, skipRange: 2 }
  const spans = links
    .filter((link) => !left.has(link))
    .map((link) => ({ link, ...getEdgeRowSpan(link) }))
    .filter(({ link, top, bottom }) => link.kind !== 'replaces' || link.from.length > 1 || bottom - top > 1)
    .sort(
      (a, b) =>
        order[a.link.kind] - order[b.link.kind] || a.bottom - a.top - (b.bottom - b.top) || a.top - b.top,
    )
  const lanes: { top: number; bottom: number }[][] = []
  const found = new Map<DrawnUpgradeEdge, number>()
  for (const { link, top, bottom } of spans) {
    let at = lanes.findIndex((taken) => taken.every((other) => bottom < other.top || top > other.bottom))
    if (at < 0) at = lanes.length
    if (at >= maxEdgeLanes) continue
    ;(lanes[at] ??= []).push({ top, bottom })
    found.set(link, at)
  }
  return found
}

/** The `from` rows of a link are sorted. */
function getEdgeRowSpan({ from, to }: DrawnUpgradeEdge): { top: number; bottom: number } {
  return { top: Math.min(to, from[0] ?? to), bottom: Math.max(to, from.at(-1) ?? to) }
}

function drawUpgradeEdge(link: DrawnUpgradeEdge, at: number | undefined, nodeX: number, compares: boolean) {
  const { from, to, kind, status } = link
  const color = status !== 'same' ? svgColors[status] : compares ? '#afb8c1' : svgColors[kind]
  const dashes =
    status === 'removed'
      ? ' stroke-dasharray="4 3"'
      : kind === 'replaces'
        ? ''
        : kind === 'skips'
          ? ' stroke-dasharray="5 2"'
          : ' stroke-dasharray="1.5 2.5"'
  const width = status === 'same' ? 1.4 : 2
  const style = `fill="none" stroke="${color}" stroke-width="${width}"${dashes}`
  const y = (index: number) => cardHeaderHeight + index * rowHeight + rowHeight / 2
  const [first = to] = from
  if (at === undefined) {
    if (kind !== 'replaces' || from.length !== 1 || Math.abs(first - to) !== 1) return ''
    const up = first > to
    const [start, end] = up ? [y(first) - 6, y(to) + 7] : [y(first) + 6, y(to) - 7]
    const tip = up ? 4 : -4
    return `<path d="M${nodeX} ${start}V${end}" ${style}/><path d="M${nodeX - 3} ${end + tip}L${nodeX} ${end}L${nodeX + 3} ${end + tip}" fill="none" stroke="${color}" stroke-width="${width}"/>`
  }
  const x = nodeX - 12 - at * edgeLaneWidth
  const end = y(to) + 2
  const span = getEdgeRowSpan(link)
  const rows = new Set(from)
  // One bracket with the arrow's end and a tick per row: the ends of each run are enough.
  const ticks = from.filter(
    (index) =>
      (kind !== 'skipRange' && from.length <= maxTicksPerSkipEdgeLine) ||
      !rows.has(index - 1) ||
      !rows.has(index + 1),
  )
  const paths = [`M${nodeX - 8} ${end}H${x + 4}`]
  for (const [side, furthest] of [
    [1, span.bottom],
    [-1, span.top],
  ] as const) {
    if (furthest === to) continue
    const last = y(furthest) - 2
    paths.push(
      `M${x + 4} ${end}Q${x} ${end} ${x} ${end + 4 * side}V${last - 4 * side}Q${x} ${last} ${x + 4} ${last}H${nodeX - 7}`,
    )
    for (const index of ticks)
      if (index !== furthest && Math.sign(index - to) === side)
        paths.push(`M${x} ${y(index) - 2}H${nodeX - 7}`)
  }
  return `<path d="${paths.join('')}" ${style}/><path d="M${nodeX - 11} ${end - 3}L${nodeX - 7} ${end}L${nodeX - 11} ${end + 3}" fill="none" stroke="${color}" stroke-width="${width}"/>`
}

function drawLegend({ compares, unchanged }: PackageDrawing): { width: number; body: string } {
  const items: [string, string, string][] = compares
    ? [
        ['added', svgColors.added, ''],
        ['removed', svgColors.removed, '4 3'],
        ['unchanged', '#afb8c1', ''],
      ]
    : [
        ['replaces', svgColors.replaces, ''],
        ['skips', svgColors.skips, '5 2'],
        ['skipRange', svgColors.skipRange, '1.5 2.5'],
      ]
  let x = 0
  const parts = items.map(([label, color, dashes]) => {
    const line = `<path d="M${x} 6H${x + 24}" stroke="${color}" stroke-width="2"${dashes === '' ? '' : ` stroke-dasharray="${dashes}"`}/>`
    const item = line + drawText(x + 30, 10, label, `font-size="11" fill="${svgColors.faint}"`)
    x += 30 + estimateTextWidth(label) + 18
    return item
  })
  const dots: [string, string, string][] = [
    ['head', svgColors.head, svgColors.head],
    ['deprecated', svgColors.deprecated, svgColors.replaces],
    ['skipped', svgColors.background, svgColors.skips],
  ]
  for (const [label, fill, stroke] of dots) {
    parts.push(`<circle cx="${x + 5}" cy="6" r="5" fill="${fill}" stroke="${stroke}" stroke-width="1.6"/>`)
    parts.push(drawText(x + 16, 10, label, `font-size="11" fill="${svgColors.faint}"`))
    x += 16 + estimateTextWidth(label) + 18
  }
  if (unchanged > 0) {
    const text = `${unchanged} ${unchanged === 1 ? 'channel' : 'channels'} unchanged`
    parts.push(drawText(x, 10, text, `font-size="11" fill="${svgColors.faint}"`))
    x += estimateTextWidth(text)
  }
  return { width: x, body: parts.join('') }
}

function drawBadge(x: number, y: number, label: string, color: string): { width: number; body: string } {
  const width = Math.round(label.length * 6.1) + 12
  return {
    width,
    body: `<rect x="${x}" y="${y - 8}" width="${width}" height="16" rx="8" fill="none" stroke="${color}"/>${drawText(x + 6, y + 3.5, label, `font-size="10" fill="${color}"`)}`,
  }
}

/** Truncated text shows `whole` as a tooltip. */
function drawText(x: number, y: number, label: string, attributes: string, whole = ''): string {
  const tip = label.endsWith('…') ? `<title>${escapeXml(whole.slice(0, maxTooltipLength))}</title>` : ''
  return `<text x="${x}" y="${y}" ${attributes}>${tip}${escapeXml(label)}</text>`
}

/** Safe for any number of values, unlike Math.max(...); 0 for an empty list. */
function computeMaxOrZero(numbers: readonly number[]): number {
  return numbers.reduce((highest, number) => Math.max(highest, number), 0)
}

function estimateTextWidth(label: string): number {
  return Math.round([...label].length * charWidth)
}

function truncateLabel(label: string): string {
  const characters = [...label]
  return characters.length <= maxLabelLength ? label : `${characters.slice(0, maxLabelLength - 1).join('')}…`
}

function escapeXml(label: string): string {
  return escapeNonPrintableCharacters(label.toWellFormed())
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
}
