import { isMap, isNode, isScalar, isSeq, visit, type Document, type YAMLMap } from 'yaml'
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
): { readonly offset: number; readonly name: string } | undefined {
  const found = ambiguousLineBreakPattern.exec(text)
  return found ? { offset: found.index, name: formatUnicodeCodePoint(found[0]) } : undefined
}

/** The name of the first character that is invisible, or that only some parsers treat as a space. */
export function findInvisibleCharacter(text: string): string | undefined {
  const found = invisibleCharPattern.exec(text)
  return found ? formatUnicodeCodePoint(found[0]) : undefined
}

/**
 * Equal for keys that a lenient parser might treat as the same: ignores case, normalization, whitespace, and invisible
 * characters.
 */
export function normalizeYamlKeyForComparison(key: string): string {
  return key.normalize('NFKC').replace(invisibleOrSpaceCharPattern, '').toLowerCase()
}

function formatUnicodeCodePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

// Finds duplicate keys in the mappings of a YAML document in linear time. The library finds them too, but compares
// each key with all keys before it, so a file with many keys takes quadratic time.
/** The first duplicate key in the document. Ignores keys that are not scalars. */
export function findDuplicateYamlKey(document: Document.Parsed): unknown {
  let repeated: unknown
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
