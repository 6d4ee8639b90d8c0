// Converts a catalog file to a template, as `opm alpha convert-template` does.
import { decodeGoStruct, getDecodedStringField } from '../go/decode/decode.ts'
import { bundleStructType } from '../load/blob-types.ts'
import { splitDocuments } from '../load/split-documents.ts'
import { toJsonWithSizeLimit, type JsonObject, type CatalogReadResult } from '../write/writable-catalog.ts'
import { marshalIndentLikeGo } from '../write/format-json.ts'
import { formatYaml } from '../write/format-yaml.ts'

export type TemplateConversionKind = 'basic' | 'substitutes'

/** Returns opm's output byte for byte, or opm's error. Never throws. */
export function convertToTemplate(
  kind: TemplateConversionKind,
  bytes: Uint8Array,
  output: 'json' | 'yaml',
): CatalogReadResult<string> {
  const entries: JsonObject[] = []
  for (const { meta, problem } of splitDocuments(bytes)) {
    // opm accepts a document without a schema here, although it cannot render a template that contains one.
    if (problem) return { ok: false, error: problem.message }
    if (!meta) continue
    if (kind === 'basic' && meta.schema === 'olm.bundle') {
      const { decoded, problems } = decodeGoStruct(bundleStructType, meta.value)
      if (problems[0]) return { ok: false, error: `parse bundle: ${problems[0].message}` }
      entries.push({ schema: meta.schema, image: getDecodedStringField(decoded, 'image') })
    } else {
      const value = toJsonWithSizeLimit(meta.value)
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
    value: output === 'json' ? `${marshalIndentLikeGo(template)}\n` : `---\n${formatYaml(template)}\n`,
  }
}
