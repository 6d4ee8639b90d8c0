// Derives fixes from a finding's facts and the file's text. Each fix is verified against the file with the fix applied.
import { analyzeUpgradeGraph, type UpgradeGraphEntry } from '@catalog-bot/fbc/graph/upgrade-graph'
import { compareVersions, parseVersion, type Version } from '@catalog-bot/fbc/versions/version'
import type { Finding, SuggestedFix } from '@catalog-bot/findings/finding'
import { getMapValue, getStringByKey, type MapValue, type ParsedValue } from '@catalog-bot/fbc/go/tree'
import { findMapEntry, FixableFile, type FixableDocument } from './fixable-file.ts'

type FindingData = Readonly<Record<string, unknown>>

interface DocumentPosition {
  readonly line: number
  readonly column: number
}

/** Candidate fixes, best first, and the condition that the fixed document must meet. */
interface CandidateFix {
  readonly fix: SuggestedFix | undefined
  readonly isFixed: (document: FixableDocument) => boolean
}

type FindingFixer = (
  data: FindingData,
  document: FixableDocument,
  at: DocumentPosition,
) => Iterable<CandidateFix>

const fixerByRuleId: Readonly<Record<string, FindingFixer>> = {
  'several-heads': proposeSingleChannelHeadFixes,
  'edge-to-nowhere': proposeUpgradeEdgeFixes,
  'image-by-tag': proposeDigestPinFixes,
  'misspelt-field': proposeFieldNameFixes,
  'misspelt-property-type': proposePropertyTypeFixes,
  'invalid-version': proposeBundleVersionFixes,
}

/** The fix for a finding in the file at `finding.at`; undefined if there is no safe one. */
export function computeFindingFix(finding: Finding, bytes: Uint8Array): SuggestedFix | undefined {
  const { rule, at, data } = finding
  const fixer = Object.hasOwn(fixerByRuleId, rule) ? fixerByRuleId[rule] : undefined
  if (fixer === undefined || at === undefined || data === undefined) return undefined
  const file = FixableFile.open(at.file, bytes)
  const document = file?.documentAt(at.line)
  if (file === undefined || document === undefined) return undefined
  for (const { fix, isFixed } of fixer(data, document, at)) {
    if (fix === undefined) continue
    const fixedDocument = file.with(fix)?.documentAt(at.line)
    if (fixedDocument !== undefined && isFixed(fixedDocument)) return fix
  }
  return undefined
}

export const fixableRuleIds: ReadonlySet<string> = new Set(Object.keys(fixerByRuleId))

/**
 * Tries to let the newest head replace the next one, or skip all others, until one head remains without cycles or
 * stranded entries.
 */
function* proposeSingleChannelHeadFixes(
  { channel, heads }: FindingData,
  document: FixableDocument,
): Generator<CandidateFix> {
  const names = keepOnlyStrings(heads).toSorted(compareBundleNamesNewestFirst)
  const [newest, next] = names
  const entries = getMapsInList(getMapValue(document.root, 'entries'))
  const entry = entries.find((each) => getStringByKey(each, 'name') === newest)
  if (newest === undefined || next === undefined || entry === undefined) return
  if (getStringByKey(document.root, 'name') !== channel) return
  const before = parseUpgradeGraphEntries(document.root).map(({ name }) => name)
  const isFixed = (fixedDocument: FixableDocument): boolean => {
    const now = parseUpgradeGraphEntries(fixedDocument.root)
    const graph = analyzeUpgradeGraph(now)
    return (
      now.every(({ name }, at) => name === before[at]) &&
      graph.heads.length === 1 &&
      graph.heads[0] === newest &&
      !graph.cycle &&
      graph.stranded.length === 0
    )
  }
  const replaces = findMapEntry(entry, 'replaces')
  yield {
    fix:
      replaces === undefined
        ? document.addField(entry, 'name', 'replaces', next)
        : document.replaceValue(replaces, next, countFixContextLines(entry, replaces.keyStart, document)),
    isFixed,
  }
  if (findMapEntry(entry, 'skips') === undefined)
    yield { fix: document.addField(entry, replaces ? 'replaces' : 'name', 'skips', names.slice(1)), isFixed }
}

/** The number of lines between the start of a map and its key, to show as context; 0 for large distances. */
function countFixContextLines(map: MapValue, keyStart: number, document: FixableDocument): number {
  const lines = document.positionAt(keyStart).line - document.positionAt(map.start).line
  return lines <= 3 ? lines : 0
}

function* proposeUpgradeEdgeFixes(
  { entry, edge, targets, near }: FindingData,
  document: FixableDocument,
): Generator<CandidateFix> {
  const [wrong] = keepOnlyStrings(targets)
  if (wrong === undefined || typeof near !== 'string' || near === '') return
  for (const map of getMapsInList(getMapValue(document.root, 'entries'))) {
    if (getStringByKey(map, 'name') !== entry) continue
    const field = findMapEntry(map, String(edge))
    const item =
      field?.value.kind === 'list'
        ? field.value.items.find((each) => isStringEqualTo(each, wrong))
        : undefined
    const context =
      field === undefined ? 0 : countFixContextLines(map, item?.start ?? field.keyStart, document)
    const isOwn = item !== undefined && field !== undefined && item.start > field.keyEnd
    yield {
      fix: isOwn
        ? document.replaceText(item.start, item.end, near, context)
        : field && isStringEqualTo(field.value, wrong)
          ? document.replaceValue(field, near, context)
          : undefined,
      isFixed: (fixedDocument) =>
        parseUpgradeGraphEntries(fixedDocument.root).some(
          ({ name, replaces, skips }) =>
            name === entry && (edge === 'replaces' ? replaces === near : skips.includes(near)),
        ),
    }
  }
}

function* proposeDigestPinFixes(
  { reference, digest }: FindingData,
  document: FixableDocument,
  at: DocumentPosition,
): Generator<CandidateFix> {
  if (typeof reference !== 'string' || typeof digest !== 'string') return
  const named = `${reference.replace(/:[A-Za-z0-9_][A-Za-z0-9._-]*$/, '')}@${digest}`
  yield createTextReplacementFix(document, at, reference, named)
}

function* proposeFieldNameFixes(
  { field, known }: FindingData,
  document: FixableDocument,
  at: DocumentPosition,
): Generator<CandidateFix> {
  if (typeof field === 'string' && typeof known === 'string')
    yield createTextReplacementFix(document, at, field, known)
}

function* proposePropertyTypeFixes(
  { type, known }: FindingData,
  document: FixableDocument,
  at: DocumentPosition,
): Generator<CandidateFix> {
  for (const map of document.maps()) {
    const entry = findMapEntry(map, 'type')
    if (typeof known !== 'string' || entry === undefined || !isStringEqualTo(entry.value, type)) continue
    const begins = document.positionAt(map.start)
    if (begins.line > at.line || document.positionAt(map.end).line < at.line) continue
    yield {
      fix: document.replaceValue(entry, known),
      isFixed: (fixedDocument) =>
        [...fixedDocument.maps()].some((each) => getStringByKey(each, 'type') === known),
    }
  }
}

/** Strips a leading `v`, or takes an empty version from the bundle's name. */
function* proposeBundleVersionFixes(
  { bundle, version }: FindingData,
  document: FixableDocument,
): Generator<CandidateFix> {
  if (typeof version !== 'string' || typeof bundle !== 'string') return
  const fixed = version === '' ? parseVersionSuffix(bundle) : version.trim().replace(/^v(?=\d)/i, '')
  if (fixed === undefined || !parseVersion(fixed).ok) return
  for (const property of getMapsInList(getMapValue(document.root, 'properties'))) {
    const value = getMapValue(property, 'value')
    if (getStringByKey(property, 'type') !== 'olm.package' || value?.kind !== 'map') continue
    const entry = findMapEntry(value, 'version')
    yield {
      fix:
        entry === undefined
          ? document.addField(value, 'packageName', 'version', fixed)
          : document.replaceValue(entry, fixed, countFixContextLines(value, entry.keyStart, document)),
      isFixed: (fixedDocument) =>
        getMapsInList(getMapValue(fixedDocument.root, 'properties')).some(
          (each) =>
            getStringByKey(each, 'type') === 'olm.package' &&
            getStringByKey(getMapValue(each, 'value'), 'version') === fixed,
        ),
    }
  }
}

/** Replaces the text at a position if it is the expected text. */
function createTextReplacementFix(
  document: FixableDocument,
  at: DocumentPosition,
  old: string,
  text: string,
): CandidateFix {
  const span = document.findScalarAt(at.line, at.column)
  const fix = span && document.replaceText(span.start, span.end, text)
  return {
    fix: fix?.before.at(-1)?.includes(old) === true ? fix : undefined,
    isFixed: (fixedDocument) => {
      const now = fixedDocument.findScalarAt(at.line, at.column)
      return now !== undefined && fixedDocument.textOf(now) === text
    },
  }
}

function parseVersionSuffix(name: string): string | undefined {
  return /\.v(\d.*)$/.exec(name)?.[1]
}

/** Orders by the version at the end of the names. Names without a version come last. */
function compareBundleNamesNewestFirst(a: string, b: string): number {
  const [left, right] = [parseVersionInBundleName(a), parseVersionInBundleName(b)]
  if (left === undefined || right === undefined)
    return Number(left === undefined) - Number(right === undefined)
  return compareVersions(right, left)
}

function parseVersionInBundleName(name: string): Version | undefined {
  const parsed = parseVersion(parseVersionSuffix(name) ?? '')
  return parsed.ok ? parsed.value : undefined
}

function parseUpgradeGraphEntries(root: ParsedValue): readonly UpgradeGraphEntry[] {
  return getMapsInList(getMapValue(root, 'entries')).map((entry) => ({
    name: getStringByKey(entry, 'name'),
    replaces: getStringByKey(entry, 'replaces'),
    skips: getStringsInList(getMapValue(entry, 'skips')),
  }))
}

function getStringsInList(value: ParsedValue | undefined): readonly string[] {
  return value?.kind === 'list'
    ? value.items.flatMap((item) => (item.kind === 'string' ? [item.value] : []))
    : []
}

function getMapsInList(value: ParsedValue | undefined): readonly MapValue[] {
  return value?.kind === 'list' ? value.items.filter((item) => item.kind === 'map') : []
}

function isStringEqualTo(
  value: ParsedValue | undefined,
  text: unknown,
): value is ParsedValue & { kind: 'string' } {
  return value?.kind === 'string' && value.value === text
}

function keepOnlyStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
