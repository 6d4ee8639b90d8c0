// Converts a catalog file to a template, as `opm alpha convert-template` does.
import { decode, textOf } from '../../go/decode/decode.ts'
import { bundleType } from '../load/blob-types.ts'
import { documentsOf } from '../load/documents.ts'
import { jsonOf, type JsonObject, type ReadResult } from '../write/writable.ts'
import { marshalIndented } from '../write/write-json.ts'
import { yaml } from '../write/write-yaml.ts'

export type ConvertedKind = 'basic' | 'substitutes'

/** Returns opm's output byte for byte, or opm's error. Never throws. */
export function convertedTemplate(
  kind: ConvertedKind,
  bytes: Uint8Array,
  output: 'json' | 'yaml',
): ReadResult<string> {
  const entries: JsonObject[] = []
  for (const { meta, problem } of documentsOf(bytes)) {
    // opm accepts a document without a schema here, although it renders no template that has one.
    if (problem) return { ok: false, error: problem.message }
    if (!meta) continue
    if (kind === 'basic' && meta.schema === 'olm.bundle') {
      const { decoded, problems } = decode(bundleType, meta.value)
      if (problems[0]) return { ok: false, error: `parse bundle: ${problems[0].message}` }
      entries.push({ schema: meta.schema, image: textOf(decoded, 'image') })
    } else {
      const value = jsonOf(meta.value)
      if (!value.ok) return value
      entries.push(value.value as JsonObject)
    }
  }
  const template: JsonObject = {
    schema: `olm.template.${kind}`,
    entries: entries.length === 0 ? null : entries,
    ...(kind === 'substitutes' && { substitutions: [] }),
  }
  // opm adds an extra line break at the end of YAML.
  return {
    ok: true,
    value: output === 'json' ? `${marshalIndented(template)}\n` : `---\n${yaml(template)}\n`,
  }
}
