// Reads a file with both readers, and returns the first difference in the facts or in a tree of the fast reader.
import { FastJsonReader } from '../../../../../packages/fbc/src/go/fast/regular-json.ts'
import { FastYamlReader } from '../../../../../packages/fbc/src/go/fast/regular-yaml.ts'
import {
  readJson,
  skipJsonWhitespace,
  type ReadJsonResult,
  JsonError,
} from '../../../../../packages/fbc/src/go/json/read-json.ts'
import { decodeYamlChunk, splitYamlChunks } from '../../../../../packages/fbc/src/go/yaml/encoding.ts'
import { parseCatalogFile } from '../../../../../packages/fbc/src/load/parse-catalog-file.ts'
import type { ParsedValue } from '../../../../../packages/fbc/src/go/tree.ts'
import { ByteOffsetLookup, decodeUtf8LikeGo } from '../../../../../packages/fbc/src/go/utf8.ts'
import { readYaml } from '../../../../../packages/fbc/src/go/yaml/read-yaml.ts'

export interface ReaderComparison {
  readonly documents: number
  /** The number of documents that the fast reader read without the exact reader. */
  readonly fast: number
  readonly difference?: string
}

export function compareYamlReaders(bytes: Uint8Array): ReaderComparison {
  let documents = 0
  let fast = 0
  const reader = new FastYamlReader(bytes)
  for (const { start, end, badSeparator } of splitYamlChunks(bytes, 0, 0, decodeUtf8LikeGo)) {
    documents++
    const regular = reader.read(start)
    if (regular === undefined) continue
    fast++
    if (badSeparator === undefined && regular.end !== end) {
      return { documents, fast, difference: `the document at ${start} ends at ${end}, not at ${regular.end}` }
    }
    const chunk = bytes.subarray(start, end)
    const exact = readYaml(decodeYamlChunk(chunk))
    const positions = chunk.every((byte) => byte < 0x80)
    const wanted =
      exact.ok && exact.value
        ? normalizeParsedValue(exact.value, 0, positions)
        : exact.ok
          ? 'nothing'
          : exact.error
    const found = normalizeParsedValue(regular.tree, start, positions)
    if (exact.ok && exact.unread !== undefined) {
      return { documents, fast, difference: `the document at ${start} has unread text` }
    }
    if (JSON.stringify(wanted) !== JSON.stringify(found)) {
      const difference = `the document at ${start}: ${findFirstDifference(JSON.stringify(wanted), JSON.stringify(found))}`
      return { documents, fast, difference }
    }
  }
  return { documents, fast, ...findFactsDifference(bytes) }
}

function findFactsDifference(bytes: Uint8Array): { readonly difference?: string } {
  for (const forVerdict of [false, true]) {
    const exact = JSON.stringify(parseCatalogFile(bytes, { exact: true, forVerdict }))
    const found = JSON.stringify(parseCatalogFile(bytes, { forVerdict }))
    if (exact !== found) return { difference: `the facts: ${findFirstDifference(exact, found)}` }
  }
  return {}
}

/** The same for a file of JSON objects. */
export function compareJsonReaders(bytes: Uint8Array): ReaderComparison {
  let documents = 0
  let fast = 0
  const reader = new FastJsonReader(bytes)
  const text = decodeUtf8LikeGo(bytes)
  const offsets = new ByteOffsetLookup(bytes, text)
  const positions = bytes.every((byte) => byte < 0x80)
  for (let at = skipJsonWhitespace(text, 0); at < text.length; at = skipJsonWhitespace(text, at)) {
    const exact = tryReadJson(text, at)
    const regular = reader.read(offsets.at(at))
    if (!exact) {
      if (!regular) break
      return { documents, fast, difference: `the object at ${at} is none` }
    }
    documents++
    if (regular) {
      fast++
      const [wanted, found] = [exact.value, regular.tree].map((tree) =>
        JSON.stringify(normalizeParsedValue(tree, 0, positions)),
      )
      const end = offsets.at(exact.end)
      if (wanted !== found || regular.end !== end)
        return {
          documents,
          fast,
          difference: `the object at ${at}: ${findFirstDifference(wanted ?? '', found ?? '')}`,
        }
    }
    at = exact.end
  }
  return { documents, fast, ...findFactsDifference(bytes) }
}

function tryReadJson(text: string, at: number): ReadJsonResult | undefined {
  try {
    return readJson(text, at)
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

function normalizeParsedValue(value: ParsedValue, offset: number, positions: boolean): unknown {
  const at = positions ? [value.start - offset, value.end - offset] : []
  switch (value.kind) {
    case 'map': {
      const entries = value.entries.map((entry) => [
        entry.key,
        ...(positions ? [entry.keyStart - offset, entry.keyEnd - offset] : []),
        normalizeParsedValue(entry.value, offset, positions),
      ])
      return { at, entries, repeated: value.repeated }
    }
    case 'list':
      return { at, items: value.items.map((item) => normalizeParsedValue(item, offset, positions)) }
    case 'null':
      return { at, kind: value.kind }
    case 'string':
      return { at, text: value.value, quoted: value.quoted }
    case 'number':
      return { at, number: value.text }
    case 'bool':
      return { at, bool: value.value }
  }
}

function findFirstDifference(exact: string, found: string): string {
  let at = 0
  while (at < exact.length && exact[at] === found[at]) at++
  const from = Math.max(0, at - 60)
  return `...${exact.slice(from, at + 60)}... became ...${found.slice(from, at + 60)}...`
}
