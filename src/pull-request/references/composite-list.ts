// Composite lists: files with one entry for each catalog or bundle of many owners (layout L10). Accepts only a narrow
// subset of YAML, so that every YAML or JSON parser finds the same entries. Any other file does not count as a list,
// and only maintainers can change it. This file does not decide permissions.
import { decodeUtf8Strictly } from '@catalog-bot/fbc/go/utf8'
import { isMap, isScalar, isSeq, visit, type Scalar } from 'yaml'
import { parseYamlDocument } from '../../config/text-problems.ts'
import { isTemplatePath } from '../layout/template-pairs.ts'
import type { AddedImageReference } from '../change.ts'
import type { TextPosition } from '@catalog-bot/fbc/go/position-lookup'

/** A reference with its location, whether it is new or not. */
export type LocatedImageReference = AddedImageReference

export interface CompositeListFileEntry {
  readonly name: string
  readonly image: string
  readonly mark: TextPosition
  readonly imageMark: TextPosition
  /** The lines of the entry as written, with the comments above it. Equal text has the same meaning for every parser. */
  readonly text: string
}

export interface CompositeListFile {
  /** In file order. Names are unique, even if case is ignored. */
  readonly references: readonly CompositeListFileEntry[]
  /** The lines before the first entry and after the last entry. */
  readonly frame: string
  /** The strings at the top level of the list: `name`, `repo`, and `tag`. */
  readonly fields: ReadonlyMap<string, string>
}

/** In bytes. Enough for thousands of entries. Real lists have dozens. */
const maxCompositeListFileBytes = 1024 * 1024
// Readers disagree on line separators other than LF, and invisible characters hide an edit.
const printableTextPattern = /^[\n\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u
const yamlKeyPattern = /^[A-Za-z][A-Za-z0-9_-]*$/
const imageListEntryNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
// Unquoted text that YAML 1.1 or 1.2 reads as another type.
const nonStringYamlScalarPattern =
  /^(?:true|false|yes|no|on|off|y|n|null|[-+.0-9_]+|[0-9][0-9_.]*e[-+]?[0-9]+|0[xob][0-9a-f_]+)$/i

/** Checks only the path. */
export function isPossibleCompositeListPath(path: string): boolean {
  const names = path.split('/')
  if (names.length > 3 || names.some((name) => name.startsWith('.')) || names[0] === 'operators') return false
  return (
    /\.ya?ml$/.test(path) &&
    (/^(?:catalog|catalogs|references)\.ya?ml$/.test(names.at(-1) ?? '') || isTemplatePath(path))
  )
}

/**
 * Parses a list: one block mapping with `references`, which is a block list of block mappings of single-line strings,
 * each with `name` and `image`. Returns undefined for anything else: flow style around entries, anchors, aliases, merge
 * keys, tags, keys or names that differ only in case, several documents, or characters that some parsers treat as line
 * ends.
 */
export function parseCompositeListFile(bytes: Uint8Array): CompositeListFile | undefined {
  if (bytes.length > maxCompositeListFileBytes) return undefined
  const text = decodeUtf8Strictly(bytes)
  if (text === undefined || !printableTextPattern.test(text)) return undefined
  const { document, locate, problem } = parseYamlDocument('', text, { schema: 'failsafe' })
  if (document === undefined || problem !== undefined || document.warnings.length > 0) return undefined
  let indirect = false
  visit(document, (_, node) => {
    const nodeProperties = node as { anchor?: unknown; tag?: unknown; type?: unknown } | null
    if (nodeProperties?.anchor !== undefined || hasYamlTag(node, text)) indirect = true
    return indirect ? visit.BREAK : undefined
  })
  const root = document.contents
  if (indirect || !isMap(root) || root.flow === true) return undefined
  const fields = indexYamlFieldsByKey(root.items)
  const list = fields?.get('references')
  if (!list || !isSeq(list.value) || list.value.flow === true) return undefined
  return parseCompositeListEntries(list.key, list.value.items, fields ?? new Map(), { text, locate })
}

function parseCompositeListEntries(
  key: Scalar<string>,
  items: readonly unknown[],
  fields: ReadonlyMap<string, YamlField>,
  { text, locate }: { readonly text: string; readonly locate: (offset: number) => TextPosition },
): CompositeListFile | undefined {
  const markOf = ({ range }: Scalar): TextPosition => {
    const { line, column } = locate(range?.[0] ?? 0)
    return { line, column }
  }
  const lastLine = ({ range }: Scalar) => locate(Math.max((range?.[1] ?? 1) - 1, 0)).line
  const rows = text.split('\n')
  const slice = (from: number, to: number) => rows.slice(from - 1, to).join('\n')
  const head = markOf(key).line
  const references: CompositeListFileEntry[] = []
  let previous = head
  for (const item of items) {
    if (!isMap(item) || item.flow === true) return undefined
    const entry = indexYamlFieldsByKey(item.items)
    const scalars = [...(entry?.values() ?? [])].flatMap(({ key, value }) => [key, value])
    if (!entry || !scalars.every((node): node is Scalar<string> => isPlainScalar(node, text)))
      return undefined
    const name = entry.get('name')?.value as Scalar<string> | undefined
    const image = entry.get('image')?.value as Scalar<string> | undefined
    if (!name || !image || !imageListEntryNamePattern.test(name.value) || !/^[\x21-\x7e]+$/.test(image.value))
      return undefined
    const first = Math.min(...scalars.map((node) => markOf(node).line))
    const last = Math.max(...scalars.map(lastLine))
    // Entries on one line cannot be separated.
    if (first <= previous) return undefined
    references.push({
      name: name.value,
      image: image.value,
      mark: markOf(name),
      imageMark: markOf(image),
      text: slice(previous + 1, last),
    })
    previous = last
  }
  const names = new Set(references.map(({ name }) => name.toLowerCase()))
  if (names.size === 0 || names.size < references.length) return undefined
  const own = [...fields].flatMap(([name, { value }]): [string, string][] =>
    isPlainScalar(value, text) ? [[name, value.value]] : [],
  )
  const frame = JSON.stringify([slice(1, head), slice(previous + 1, rows.length)])
  return { references, frame, fields: new Map(own) }
}

type YamlMapItems = readonly { readonly key: unknown; readonly value: unknown }[]
type YamlField = { readonly key: Scalar<string>; readonly value: unknown }

/** Returns undefined if two keys differ only in case, because Go's JSON parser ignores case. */
function indexYamlFieldsByKey(items: YamlMapItems): Map<string, YamlField> | undefined {
  const fields = new Map<string, YamlField>()
  const folded = new Set<string>()
  for (const { key, value } of items) {
    if (!isScalar(key) || typeof key.value !== 'string' || !yamlKeyPattern.test(key.value)) return undefined
    if (folded.has(key.value.toLowerCase())) return undefined
    folded.add(key.value.toLowerCase())
    fields.set(key.value, { key: key as Scalar<string>, value })
  }
  return fields
}

function isPlainScalar(node: unknown, text: string): node is Scalar<string> {
  if (!isScalar(node) || typeof node.value !== 'string' || !node.range) return false
  const source = text.slice(node.range[0], node.range[1])
  if (source === '' || /[\n\\]/.test(source)) return false
  if (node.type === 'PLAIN') return source === node.value && !nonStringYamlScalarPattern.test(source)
  return node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE'
}

/** The parsed node may not show a tag, such as a lone `!`. */
function hasYamlTag(node: unknown, text: string): boolean {
  const { tag, range } = (node ?? {}) as { tag?: unknown; range?: readonly number[] | null }
  return (tag !== undefined && !!range) || (!!range && text[range[0] ?? 0] === '!')
}

/** Returns an empty list if the file isn't a composite list. */
export function* findCompositeListImageReferences(
  path: string,
  bytes: Uint8Array,
): Generator<LocatedImageReference> {
  for (const { name, image, imageMark } of parseCompositeListFile(bytes)?.references ?? [])
    yield { reference: image, at: { file: path, ...imageMark }, package: name, bundle: name, role: 'listed' }
}
