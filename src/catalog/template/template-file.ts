// A template's text to its document: one object with a schema. Knows no template by itself.
import { documentsOf } from '../load/documents.ts'
import { foldCase } from '../load/fold-case.ts'
import { joinedMessage, readMeta, type Meta } from '../load/meta.ts'
import type { Places } from '../load/places.ts'
import type { MapValue, Value } from '../tree.ts'
import type { ReadResult } from '../write/writable.ts'

export interface TemplateDocument {
  readonly schema: string
  readonly value: MapValue
  readonly places: Places
}

/** The first document of a template; later ones are not read, as in opm. */
export function readTemplateDocument(bytes: Uint8Array): ReadResult<TemplateDocument> {
  for (const { meta, problem, places } of documentsOf(bytes)) {
    if (meta) return { ok: true, value: { schema: meta.schema, value: meta.value, places } }
    if (problem?.kind === 'missing-schema')
      return {
        ok: false,
        error: "auto-detecting template type: template input missing required 'schema' field",
      }
    return {
      ok: false,
      error: `auto-detecting template type: decoding template input: ${problem?.message ?? 'no document'}`,
    }
  }
  return { ok: false, error: 'auto-detecting template type: decoding template input: EOF' }
}

/** The value of a field, spelt in any case. */
export function fieldOf(value: Value | undefined, name: string): Value | undefined {
  if (value?.kind !== 'map') return undefined
  let found: Value | undefined
  for (const entry of value.entries) if (foldCase(entry.key) === foldCase(name)) found = entry.value
  return found
}

/** The `entries` of a basic or substitutes template, each a blob. */
export function entriesOf({ value }: TemplateDocument): ReadResult<Meta[]> {
  const entries = fieldOf(value, 'entries')
  if (entries === undefined || entries.kind === 'null') return { ok: true, value: [] }
  if (entries.kind !== 'list') return { ok: false, error: 'unmarshalling template: entries is not a list' }
  const metas: Meta[] = []
  for (const item of entries.items) {
    const read = readMeta(item, undefined)
    if ('problems' in read)
      return { ok: false, error: `unmarshalling template: ${joinedMessage(read.problems)}` }
    metas.push(read.meta)
  }
  return { ok: true, value: metas }
}
