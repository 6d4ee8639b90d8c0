// Derives fixes from a finding's facts and the file's text. Each fix is verified against the file with the fix applied.
import { upgradeGraph, type GraphEntry } from '../../catalog/graph/upgrade-graph.ts'
import { compareVersions, parseVersion, type Version } from '../../catalog/versions/version.ts'
import type { Finding } from '../../findings/finding.ts'
import type { Fix } from '../../findings/fix.ts'
import { valueAt, type MapValue, type Value } from '../../go/tree.ts'
import { entryAt, FixableFile, textAt, type FixableDocument } from './fixable-file.ts'

type Facts = Readonly<Record<string, unknown>>

interface Place {
  readonly line: number
  readonly column: number
}

/** Candidate fixes, best first, and the condition that the fixed document must meet. */
interface Attempt {
  readonly fix: Fix | undefined
  readonly holds: (document: FixableDocument) => boolean
}

type Fixer = (data: Facts, document: FixableDocument, at: Place) => Iterable<Attempt>

const fixers: Readonly<Record<string, Fixer>> = {
  'several-heads': joinHeads,
  'edge-to-nowhere': correctEdge,
  'image-by-tag': nameByDigest,
  'misspelt-field': renameField,
  'misspelt-property-type': renameType,
  'invalid-version': correctVersion,
}

/** The fix for a finding in the file at `finding.at`; undefined if there is no safe one. */
export function fixOf(finding: Finding, bytes: Uint8Array): Fix | undefined {
  const { rule, at, data } = finding
  const fixer = Object.hasOwn(fixers, rule) ? fixers[rule] : undefined
  if (fixer === undefined || at === undefined || data === undefined) return undefined
  const file = FixableFile.open(at.file, bytes)
  const document = file?.documentAt(at.line)
  if (file === undefined || document === undefined) return undefined
  for (const { fix, holds } of fixer(data, document, at)) {
    if (fix === undefined) continue
    const mended = file.with(fix)?.documentAt(at.line)
    if (mended !== undefined && holds(mended)) return fix
  }
  return undefined
}

export const fixableRules: ReadonlySet<string> = new Set(Object.keys(fixers))

/**
 * Tries to let the newest head replace the next one, or skip all others, until one head remains without circles or
 * stranded entries.
 */
function* joinHeads({ channel, heads }: Facts, document: FixableDocument): Generator<Attempt> {
  const names = textList(heads).toSorted(newestFirst)
  const [newest, next] = names
  const entries = maps(valueAt(document.root, 'entries'))
  const entry = entries.find((each) => textAt(each, 'name') === newest)
  if (newest === undefined || next === undefined || entry === undefined) return
  if (textAt(document.root, 'name') !== channel) return
  const before = graphEntries(document.root).map(({ name }) => name)
  const holds = (mended: FixableDocument): boolean => {
    const now = graphEntries(mended.root)
    const graph = upgradeGraph(now)
    return (
      now.every(({ name }, at) => name === before[at]) &&
      graph.heads.length === 1 &&
      graph.heads[0] === newest &&
      !graph.cycle &&
      graph.stranded.length === 0
    )
  }
  const replaces = entryAt(entry, 'replaces')
  yield {
    fix:
      replaces === undefined
        ? document.addField(entry, 'name', 'replaces', next)
        : document.replaceValue(replaces, next, linesFrom(entry, replaces.keyStart, document)),
    holds,
  }
  if (entryAt(entry, 'skips') === undefined)
    yield { fix: document.addField(entry, replaces ? 'replaces' : 'name', 'skips', names.slice(1)), holds }
}

/** How many lines above a key its map begins, for context. Large distances are not shown. */
function linesFrom(map: MapValue, keyStart: number, document: FixableDocument): number {
  const lines = document.point(keyStart).line - document.point(map.start).line
  return lines <= 3 ? lines : 0
}

function* correctEdge({ entry, edge, targets, near }: Facts, document: FixableDocument): Generator<Attempt> {
  const [wrong] = textList(targets)
  if (wrong === undefined || typeof near !== 'string' || near === '') return
  for (const map of maps(valueAt(document.root, 'entries'))) {
    if (textAt(map, 'name') !== entry) continue
    const field = entryAt(map, String(edge))
    const item =
      field?.value.kind === 'list' ? field.value.items.find((each) => isText(each, wrong)) : undefined
    const context = field === undefined ? 0 : linesFrom(map, item?.start ?? field.keyStart, document)
    const isOwn = item !== undefined && field !== undefined && item.start > field.keyEnd
    yield {
      fix: isOwn
        ? document.replaceText(item.start, item.end, near, context)
        : field && isText(field.value, wrong)
          ? document.replaceValue(field, near, context)
          : undefined,
      holds: (mended) =>
        graphEntries(mended.root).some(
          ({ name, replaces, skips }) =>
            name === entry && (edge === 'replaces' ? replaces === near : skips.includes(near)),
        ),
    }
  }
}

function* nameByDigest(
  { reference, digest }: Facts,
  document: FixableDocument,
  at: Place,
): Generator<Attempt> {
  if (typeof reference !== 'string' || typeof digest !== 'string') return
  const named = `${reference.replace(/:[A-Za-z0-9_][A-Za-z0-9._-]*$/, '')}@${digest}`
  yield replacing(document, at, reference, named)
}

function* renameField({ field, known }: Facts, document: FixableDocument, at: Place): Generator<Attempt> {
  if (typeof field === 'string' && typeof known === 'string') yield replacing(document, at, field, known)
}

function* renameType({ type, known }: Facts, document: FixableDocument, at: Place): Generator<Attempt> {
  for (const map of document.maps()) {
    const entry = entryAt(map, 'type')
    if (typeof known !== 'string' || entry === undefined || !isText(entry.value, type)) continue
    const begins = document.point(map.start)
    if (begins.line > at.line || document.point(map.end).line < at.line) continue
    yield {
      fix: document.replaceValue(entry, known),
      holds: (mended) => [...mended.maps()].some((each) => textAt(each, 'type') === known),
    }
  }
}

/** Strips a leading `v`, or takes an empty version from the bundle's name. */
function* correctVersion({ bundle, version }: Facts, document: FixableDocument): Generator<Attempt> {
  if (typeof version !== 'string' || typeof bundle !== 'string') return
  const wanted = version === '' ? versionInName(bundle) : version.trim().replace(/^v(?=\d)/i, '')
  if (wanted === undefined || !parseVersion(wanted).ok) return
  for (const property of maps(valueAt(document.root, 'properties'))) {
    const value = valueAt(property, 'value')
    if (textAt(property, 'type') !== 'olm.package' || value?.kind !== 'map') continue
    const entry = entryAt(value, 'version')
    yield {
      fix:
        entry === undefined
          ? document.addField(value, 'packageName', 'version', wanted)
          : document.replaceValue(entry, wanted, linesFrom(value, entry.keyStart, document)),
      holds: (mended) =>
        maps(valueAt(mended.root, 'properties')).some(
          (each) =>
            textAt(each, 'type') === 'olm.package' && textAt(valueAt(each, 'value'), 'version') === wanted,
        ),
    }
  }
}

/** Replaces the text at a place if it is the expected one. */
function replacing(document: FixableDocument, at: Place, old: string, text: string): Attempt {
  const span = document.at(at.line, at.column)
  const fix = span && document.replaceText(span.start, span.end, text)
  return {
    fix: fix?.before.at(-1)?.includes(old) === true ? fix : undefined,
    holds: (mended) => {
      const now = mended.at(at.line, at.column)
      return now !== undefined && mended.textOf(now) === text
    },
  }
}

function versionInName(name: string): string | undefined {
  return /\.v(\d.*)$/.exec(name)?.[1]
}

/** Orders by the version at the end of the names; names without one come last. */
function newestFirst(a: string, b: string): number {
  const [left, right] = [versionOf(a), versionOf(b)]
  if (left === undefined || right === undefined)
    return Number(left === undefined) - Number(right === undefined)
  return compareVersions(right, left)
}

function versionOf(name: string): Version | undefined {
  const parsed = parseVersion(versionInName(name) ?? '')
  return parsed.ok ? parsed.value : undefined
}

function graphEntries(root: Value): readonly GraphEntry[] {
  return maps(valueAt(root, 'entries')).map((entry) => ({
    name: textAt(entry, 'name'),
    replaces: textAt(entry, 'replaces'),
    skips: textsOf(valueAt(entry, 'skips')),
  }))
}

function textsOf(value: Value | undefined): readonly string[] {
  return value?.kind === 'list'
    ? value.items.flatMap((item) => (item.kind === 'string' ? [item.value] : []))
    : []
}

function maps(value: Value | undefined): readonly MapValue[] {
  return value?.kind === 'list' ? value.items.filter((item) => item.kind === 'map') : []
}

function isText(value: Value | undefined, text: unknown): value is Value & { kind: 'string' } {
  return value?.kind === 'string' && value.value === text
}

function textList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
