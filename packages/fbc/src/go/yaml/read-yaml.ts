// Reads the first YAML document like opm's conversion to JSON. Never throws for invalid text.
import { TextPositionLookup } from '../position-lookup.ts'
import type { ParsedValue } from '../tree.ts'
import { composeYamlDocument, DuplicateKeyCollector } from './compose.ts'
import { YamlCursor, YamlError } from './cursor.ts'
import { type DecodedYamlText, decodeYamlChunk } from './encoding.ts'
import { parseYamlNodeTree } from './parser.ts'
import { YamlScanner } from './scanner.ts'
import type { YamlToken } from './token.ts'
import { readJson, JsonError } from '../json/read-json.ts'
import { decodeUtf8LikeGo } from '../utf8.ts'

export interface YamlDocumentTree {
  readonly value: ParsedValue
  readonly text: string
}

export interface ReadYamlOptions {
  /** Rejects repeated keys like go-yaml's UnmarshalStrict. */
  readonly isStrict?: boolean
}

export type ReadYamlResult =
  | {
      readonly ok: true
      /** Undefined if there is no document; an empty document is null. */
      readonly value: ParsedValue | undefined
      /** Start of the text after the document that go-yaml ignores, if any. */
      readonly unread: number | undefined
    }
  | { readonly ok: false; readonly error: YamlError }

export function readYaml(
  { text, unreadable }: DecodedYamlText,
  options: ReadYamlOptions = {},
): ReadYamlResult {
  try {
    const { root, next } = parseYamlNodeTree(new YamlScanner(new YamlCursor(text, unreadable)))
    const repeated = options.isStrict === true ? new DuplicateKeyCollector() : undefined
    const value = root && composeYamlDocument(root, repeated)
    if (repeated && repeated.found.length > 0) throw createDuplicateKeysError(text, repeated)
    return { ok: true, value, unread: findTrailingContentOffset(text, next) }
  } catch (error) {
    if (error instanceof YamlError) return { ok: false, error }
    throw error
  }
}

/** Looks only at whitespace of the same line, because many blank lines would take quadratic time. */
const contentLinePattern = /^(?!(?:\.\.\.|---)?[^\S\n\r\u2028\u2029]*$|[^\S\n\r\u2028\u2029]*#).+$/m

function findTrailingContentOffset(text: string, next: YamlToken): number | undefined {
  if (next.kind === 'stream-end') return undefined
  if (next.kind !== 'document-end' && next.kind !== 'document-start') return next.index
  // After `...`, only blank lines, comments and more markers are allowed.
  const content = contentLinePattern.exec(text.slice(next.end))
  return content ? next.end + content.index : undefined
}

/** go-yaml reports all of them, each with the line of the later value. */
function createDuplicateKeysError(text: string, { found }: DuplicateKeyCollector): YamlError {
  const positions = new TextPositionLookup(text.replace(/\r(?!\n)|[\u0085\u2028\u2029]/g, '\n'))
  const lines = found.map(
    ({ key, at }) => `  line ${positions.positionAt(at).line}: key ${key} already set in map`,
  )
  return new YamlError(['yaml: unmarshal errors:', ...lines].join('\n'), found[0]?.at ?? 0)
}

/** Reads a document with the exact reader, as JSON if possible. Returns undefined if it is unreadable or empty. */
export function parseYamlDocumentTree(document: Uint8Array): YamlDocumentTree | undefined {
  const json = decodeUtf8LikeGo(document)
  if (json.startsWith('{')) {
    try {
      return { value: readJson(json, 0).value, text: json }
    } catch (error) {
      if (!(error instanceof JsonError)) throw error
    }
  }
  const source = decodeYamlChunk(document)
  const result = readYaml(source)
  return result.ok && result.value ? { value: result.value, text: source.text } : undefined
}
