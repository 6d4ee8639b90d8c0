// Formats new parts of a template as YAML or JSON like the surrounding text.
import { type Json, isJsonObject } from '../go/json/json.ts'
import { formatYaml } from '../write/format-yaml.ts'

export interface TemplateTextStyle {
  /** The number of columns from a list's key to its items. */
  readonly listOffset: number
  /** The text between a dash and its item. */
  readonly gap: string
  /** The quoting style per key, in the YAML library's terms. */
  readonly quotes?: ReadonlyMap<string, string>
}

export const templateTextFormatters = {
  item: formatBlockListItem,
  pairs: formatBlockMapping,
  flow: formatFlowValue,
  flowPair: formatFlowMappingEntry,
  json: formatMultilineJson,
}

/** An item of a block list, without the last line feed. */
function formatBlockListItem(value: Json, column: number, style: TemplateTextStyle): string {
  const dash = `${' '.repeat(column)}-${style.gap}`
  if (!isJsonObject(value)) return dash + formatScalar(value)
  const inner = column + 1 + style.gap.length
  return dash + formatBlockMapping(value, inner, style).slice(inner)
}

/** Keys of a block mapping, without the last line feed. */
function formatBlockMapping(
  value: Readonly<Record<string, Json>>,
  column: number,
  style: TemplateTextStyle,
): string {
  const indent = ' '.repeat(column)
  return Object.entries(value)
    .map(([key, its]) => {
      const name = `${indent}${formatScalar(key)}:`
      if (Array.isArray(its)) {
        const items = its as readonly Json[]
        if (items.length === 0) return `${name} []`
        return [name, ...items.map((one) => formatBlockListItem(one, column + style.listOffset, style))].join(
          '\n',
        )
      }
      if (isJsonObject(its)) return `${name}\n${formatBlockMapping(its, column + 2, style)}`
      return `${name} ${formatScalar(its, style.quotes?.get(key))}`
    })
    .join('\n')
}

function formatFlowValue(value: Json, isJson = false): string {
  if (isJson) return formatSingleLineJson(value)
  if (Array.isArray(value))
    return `[${(value as readonly Json[]).map((one) => formatFlowValue(one)).join(', ')}]`
  if (isJsonObject(value))
    return `{${Object.entries(value)
      .map(([key, its]) => formatFlowMappingEntry(key, its, false))
      .join(', ')}}`
  // In flow style, commas and brackets end a plain scalar.
  const text = formatScalar(value)
  return /[,[\]{}]/.test(text) && !/^['"]/.test(text) ? JSON.stringify(value) : text
}

function formatFlowMappingEntry(key: string, value: Json, isJson: boolean): string {
  return isJson
    ? `${JSON.stringify(key)}: ${formatSingleLineJson(value)}`
    : `${formatScalar(key)}: ${formatFlowValue(value)}`
}

/** Multiline JSON. The caller has already indented the first line. */
function formatMultilineJson(value: Json, outer: number, step: number): string {
  return JSON.stringify(value, undefined, step).replaceAll('\n', `\n${' '.repeat(outer)}`)
}

function formatSingleLineJson(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(formatSingleLineJson).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([key, its]) => `${JSON.stringify(key)}: ${formatSingleLineJson(its)}`)
    .join(', ')} }`
}

/** On one line, in opm's style unless `quoted` gives the neighbor's. */
function formatScalar(value: Json, quoted?: string): string {
  if (typeof value === 'string') {
    if (quoted === 'QUOTE_DOUBLE') return JSON.stringify(value)
    if (quoted === 'QUOTE_SINGLE' && /^[ -~]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`
  }
  const text = formatYaml(value).trimEnd()
  return text.includes('\n') ? JSON.stringify(value) : text
}

export function areJsonValuesEqual(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    const [one, other] = [a as readonly Json[], b as readonly Json[]]
    return one.length === other.length && one.every((item, at) => areJsonValuesEqual(item, other[at] ?? null))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && areJsonValuesEqual(a[key] ?? null, b[key] ?? null))
  )
}
