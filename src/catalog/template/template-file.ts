// A template's text to its document: one object with a schema. Knows no template by itself. A template is no blob: keys
// may come in several spellings, of which the last counts, as encoding/json has it.
import { sortedEntries } from '../../go/json/json-text.ts'
import { readJson } from '../../go/json/read-json.ts'
import { decode, fieldName, textOf, type DecodeResult } from '../../go/decode/decode.ts'
import { documentsOf, hugeNumberMessage } from '../load/documents.ts'
import { slice, string, struct, type StructType } from '../../go/decode/go-type.ts'
import { joinedMessage, readMeta, type Meta } from '../load/meta.ts'
import type { Value } from '../../go/tree.ts'
import type { ReadResult } from '../write/writable.ts'

export interface TemplateDocument {
  readonly schema: string
  readonly value: Value
  /** The text of its document where that is JSON. */
  readonly json: string | undefined
  /** The whole template. */
  readonly bytes: Uint8Array
}

const schemaField = { schema: string }
const detectedType = struct('struct { Schema string "json:\\"schema\\"" }', schemaField)

/** The field that holds a template's blobs. */
export const entriesType = slice({ kind: 'raw', name: '*declcfg.Meta' })

/** The first document of a template; later ones are not read, as in opm. */
export function readTemplateDocument(bytes: Uint8Array): ReadResult<TemplateDocument> {
  for (const { value, json, problem } of documentsOf(bytes, { asValues: true })) {
    if (!value) return failed(`decoding template input: ${problem?.message ?? 'no document'}`)
    // Go leaves the JSON empty where the YAML is null.
    if (value.kind === 'null') return failed('unmarshalling template schema: unexpected end of JSON input')
    const { decoded, problems } = decodeTemplate(detectedType, { value, json })
    if (problems[0]) return failed(`unmarshalling template schema: ${problems[0].message}`)
    const schema = textOf(decoded, 'schema')
    if (schema === '') return failed("template input missing required 'schema' field")
    return { ok: true, value: { schema, value, json, bytes } }
  }
  return failed('decoding template input: EOF')
}

function failed(error: string): { ok: false; error: string } {
  return { ok: false, error: `auto-detecting template type: ${error}` }
}

/** A template as a Go type: JSON is read as it was written, YAML was written anew with its keys sorted. */
function decodeTemplate(
  type: StructType,
  { value, json }: Pick<TemplateDocument, 'value' | 'json'>,
): DecodeResult {
  return decode(type, value, { inTextOrder: json !== undefined })
}

/** Decodes a template with blobs in its `entries`. What is wrong with a blob comes before all else, as in opm. */
export function readTemplate(
  type: StructType,
  template: TemplateDocument,
): ReadResult<DecodeResult['decoded'] & { readonly blobs: readonly Meta[] }> {
  const { value } = template
  const { decoded, problems } = decodeTemplate(type, template)
  const used = decoded.fields.get('entries')
  let blobs: readonly Meta[] = []
  const fields = value.kind === 'map' ? value.entries : []
  for (const entry of template.json === undefined ? sortedEntries(fields) : fields) {
    if (entry.value.kind !== 'list' || fieldName(type, entry.key) !== 'entries') continue
    const read = readBlobs(entry.value.items, template.json)
    if (!read.ok) return read
    // Of several lists the last counts; what is wrong with the others does so, too.
    if (entry.value === decoded.sources.get('entries')) blobs = read.value
  }
  if (problems[0]) return { ok: false, error: `unmarshalling template: ${problems[0].message}` }
  const read = { at: decoded.at, fields: decoded.fields, sources: decoded.sources }
  return { ok: true, value: { ...read, blobs: Array.isArray(used) ? blobs : [] } }
}

function readBlobs(items: readonly Value[], json: string | undefined): ReadResult<Meta[]> {
  const refused = (error: string) => ({ ok: false as const, error: `unmarshalling template: ${error}` })
  const metas: Meta[] = []
  for (const [index, item] of items.entries()) {
    // opm crashes here.
    if (item.kind === 'null') return refused(`entries[${index}] is null`)
    const raw = json?.slice(item.start, item.end)
    const huge = raw === undefined ? undefined : readJson(raw, 0).hugeNumber
    if (raw !== undefined && huge)
      return refused(
        hugeNumberMessage(raw, huge, (unit) => new TextEncoder().encode(raw.slice(0, unit)).length).message,
      )
    const read = readMeta(item, raw)
    if ('problems' in read) return refused(joinedMessage(read.problems))
    metas.push(read.meta)
  }
  return { ok: true, value: metas }
}
