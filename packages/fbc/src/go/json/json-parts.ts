// JSON in parts. Long values that several documents share are one part, so that a writer escapes and compresses them
// only once.
import { marshalString } from './marshal.ts'

/** A fragment of JSON, or a whole long value as JSON or unquoted text. */
export type JsonChunk = string | { readonly json: string } | { readonly text: string }
export type JsonChunkTree = readonly JsonChunk[]

/** Sharing shorter values saves nothing. */
const minSharedJsonChunkLength = 256

export function joinJsonChunks(parts: JsonChunkTree): string {
  return parts.map(formatJsonChunk).join('')
}

function formatJsonChunk(part: JsonChunk): string {
  if (typeof part === 'string') return part
  return 'json' in part ? part.json : marshalString(part.text)
}

export class JsonChunkWriter {
  private readonly parts: JsonChunk[] = []
  private pending = ''
  private separator = ''

  open(bracket: '{' | '['): void {
    this.pending += this.separator + bracket
    this.separator = ''
  }

  close(bracket: '}' | ']'): void {
    this.pending += bracket
    this.separator = ','
  }

  /** Starts a field of the open object; the caller adds its value next. */
  key(name: string): void {
    this.pending += `${this.separator}${marshalString(name)}:`
    this.separator = ''
  }

  /** Adds a field with finished JSON, or nothing if undefined. */
  field(name: string, json: string | undefined): void {
    if (json === undefined) return
    this.key(name)
    if (json.length < minSharedJsonChunkLength) this.pending += json
    else this.add({ json })
    this.separator = ','
  }

  string(text: string): void {
    this.pending += this.separator
    if (text.length < minSharedJsonChunkLength) this.pending += marshalString(text)
    else this.add({ text })
    this.separator = ','
  }

  done(): JsonChunkTree {
    return this.pending === '' ? this.parts : [...this.parts, this.pending]
  }

  private add(part: JsonChunk): void {
    this.parts.push(this.pending, part)
    this.pending = ''
  }
}
