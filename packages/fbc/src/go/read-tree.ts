import { JsonError } from './json/json-error.ts'
import { readJson } from './json/read-json.ts'
import type { ParsedValue } from './tree.ts'
import { decodeUtf8LikeGo } from './utf8.ts'
import { decodeYamlChunk } from './yaml/decode-yaml-chunk.ts'
import { readYaml } from './yaml/read-yaml.ts'

export interface DocumentTree {
  readonly value: ParsedValue
  readonly text: string
}

/** Reads a document with the exact reader, as JSON if possible. Returns undefined if it is unreadable or empty. */
export function parseDocumentTree(document: Uint8Array): DocumentTree | undefined {
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
