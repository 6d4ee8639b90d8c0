import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type Alias,
  type Document,
  type Scalar,
  type SchemaOptions,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Location } from '@catalog-bot/findings/finding'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import type { z } from 'zod'

// Finds characters that some parsers treat as a line break, the end of the text, a space, or nothing, and others as a letter.
// Lists of users that contain them are ambiguous, so they are rejected.

/**
 * Characters at which some parsers end a line or the text, or which they drop: control characters, a lone carriage return,
 * Unicode line separators, a byte order mark, lone surrogates, and the replacement character for invalid UTF-8. They also end
 * comments, so comments must not contain them either.
 */
const ambiguousLineBreakPattern = /(?![\t\n\r])\p{Cc}|\r(?!\n)|[\p{Zl}\p{Zp}\p{Cs}\ufeff\ufffd]/u

/** Whitespace other than the space and the tab, and invisible characters. */
const invisibleCharPattern = /(?![ \t])[\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u
const invisibleOrSpaceCharPattern = /[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Finds the first character at which parsers split the text differently. */
export function findAmbiguousLineBreak(
  text: string,
): { readonly line: number; readonly column: number; readonly name: string } | undefined {
  const found = ambiguousLineBreakPattern.exec(text)
  if (found === null) return undefined
  const before = text.slice(0, found.index).split('\n')
  const column = (before.at(-1)?.length ?? 0) + 1
  return { line: before.length, column, name: formatUnicodeCodePoint(found[0]) }
}

/** The name of the first character that is invisible, or that only some parsers treat as a space. */
export function findInvisibleCharacter(text: string): string | undefined {
  const found = invisibleCharPattern.exec(text)
  return found ? formatUnicodeCodePoint(found[0]) : undefined
}

/** Equal for keys that a lenient parser might equate: ignores case, normalization, spaces, and invisible characters. */
export function normalizeYamlKeyForComparison(key: string): string {
  return key.normalize('NFKC').replace(invisibleOrSpaceCharPattern, '').toLowerCase()
}

function formatUnicodeCodePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** By the library's code and message, which use the terms of the YAML specification. */
const yamlSyntaxProblems: readonly (readonly [RegExp, string])[] = [
  [/^TAB_AS_INDENT/, 'a tab indents this line; indent it with spaces'],
  [/Missing closing/, 'a quotation mark before this line is not closed; close it, or remove it'],
  [/end with a [\]}]/, 'a `[` or `{` before this line is not closed; close it, or put the text in quotes'],
  [/^BAD_INDENT/, 'this line is not aligned with those above it; indent them with the same number of spaces'],
  [/Nested mappings/, 'this value contains a colon and a space; put the value in quotes'],
  [/same line with key/, 'a list must start on the line after its key'],
  [/^BAD_SCALAR_START/, 'a value cannot start with this character; put the value in quotes'],
  [/^BAD_DQ_ESCAPE/, 'in double quotes, `\\` starts an escape sequence; write `\\\\`, or use single quotes'],
  [/Comments must/, 'a comment needs a space before `#`'],
  [/[Ii]mplicit/, 'this line must be `key: value`, with a space after the colon, or `- item` in a list'],
  [/^UNEXPECTED_TOKEN/, 'this text does not belong here; remove it, or put the value in quotes'],
  [/^RESOURCE_EXHAUSTION/, 'the values are nested too deeply'],
  [/(?:)/, 'the file cannot be read from here on; check quotation marks, brackets, and spaces'],
]

/**
 * Parses a file that must have at most one YAML document, without duplicate keys or aliases. `problem`: the first one.
 * The later ones are usually consequences.
 */
export function parseYamlDocument(file: string, text: string, options: Pick<SchemaOptions, 'schema'> = {}) {
  const lines = new LineCounter()
  // Duplicates are found below. The library also slices the entire text for each pretty error.
  const parseOptions = {
    ...options,
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    strict: true,
  }
  const documents = parseAllDocuments(text, parseOptions)
  const [document, ...more] = Array.isArray(documents) ? documents : []
  const locate = (offset: number): Location => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const problem = findYamlProblem(document, more[0])
  return { document, locate, problem: problem && { ...problem, at: locate(problem.offset) } }
}

function findYamlProblem(
  document: Document.Parsed | undefined,
  second: Document.Parsed | undefined,
): { readonly offset: number; readonly problem: string } | undefined {
  const [error] = document?.errors ?? []
  const isKnown = ([pattern]: (typeof yamlSyntaxProblems)[number]) =>
    pattern.test(`${error?.code} ${error?.message}`)
  if (error !== undefined)
    return { offset: error.pos[0], problem: yamlSyntaxProblems.find(isKnown)?.[1] ?? error.message }
  if (second !== undefined)
    return { offset: second.range[0], problem: 'the file contains more than one document' }
  if (document === undefined) return undefined
  let odd = undefined as Alias | YAMLMap | YAMLSeq | undefined
  visit(document, {
    Alias: (_, node) => ((odd = node), visit.BREAK),
    // The library converts such a key to text, which takes it 35 seconds at a depth of 400.
    Pair: (_, { key }) => (isCollection(key) ? ((odd = key), visit.BREAK) : undefined),
  })
  const node = odd ?? findDuplicateYamlKey(document)
  const problem = isAlias(node)
    ? 'this value starts with `*`, which refers to another value; put the value in quotes'
    : isCollection(node)
      ? 'a key must be text; put the key, or a value that starts with `{`, in quotes'
      : 'this key must be unique; remove it or the other one'
  return node && { offset: node.range?.[0] ?? 0, problem }
}

// Finds duplicate keys in the mappings of a YAML document in linear time. The library finds them too, but compares
// each key with all keys before it, so a file with many keys takes quadratic time.
/** The first duplicate key in the document. Ignores keys that are not scalars. */
export function findDuplicateYamlKey(document: Document.Parsed): Scalar | undefined {
  let repeated: Scalar | undefined
  visit(document, {
    Map: (_, { items }) => {
      const known = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (known.has(key.value)) {
          repeated = key
          return visit.BREAK
        }
        known.add(key.value)
      }
      return undefined
    },
  })
  return repeated
}

/**
 * The offset of the value at a path, or of its nearest existing parent; with `points: 'key'`, of its key, if it has one.
 * Takes the same time for any number of keys.
 */
export function findYamlOffset(
  document: Document.Parsed | undefined,
  path: readonly (string | number)[],
  points: 'key' | 'value',
): number {
  let holder: unknown = document?.contents
  let offset = 0
  for (const step of path) {
    const pair = isMap(holder) ? indexYamlPairsByKey(holder).get(step) : undefined
    holder = isSeq(holder) ? holder.items[Number(step)] : pair?.value
    const node = points === 'key' && pair ? pair.key : holder
    if (!isNode(node)) break
    offset = node.range?.[0] ?? offset
  }
  return offset
}

const indexYamlPairsByKey = memoizePerObject(
  ({ items }: YAMLMap) =>
    new Map(items.map((pair) => [isScalar(pair.key) ? pair.key.value : pair.key, pair])),
)

const schemaTypeDescriptions: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'an integer',
  number: 'a number',
  object: 'a section with keys',
  record: 'a section with keys',
  string: 'a string in quotes',
}

/** For people who do not know the schema. Never contains the value, which may be a secret. Undefined: zod's own text. */
export function describeSchemaProblem(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys')
    return `unknown key ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
  if (issue.code === 'invalid_value' || issue.code === 'invalid_type') {
    if (issue.input === undefined) return 'is missing'
    if (issue.code === 'invalid_value') return `must be one of: ${issue.values.join(', ')}`
    return `must be ${schemaTypeDescriptions[issue.expected] ?? issue.expected}`
  }
  if (issue.code === 'invalid_format' && issue.format === 'url')
    return 'must be a URL that starts with https:// or http://'
  if (issue.code === 'too_small' && issue.origin === 'number')
    return `must be ${issue.inclusive === false ? 'greater than' : 'at least'} ${issue.minimum}`
  if (issue.code === 'too_small' && issue.minimum === 1) return 'must not be empty'
  if (issue.code === 'too_big' && issue.origin === 'number') return `must be at most ${issue.maximum}`
  return undefined
}
