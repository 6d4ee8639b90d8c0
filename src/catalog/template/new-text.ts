// Formats new parts of a template as YAML or JSON like the surrounding text.
import type { Json } from '../../go/json/json.ts'
import { isObject } from '../../go/json/json-fields.ts'
import { yaml } from '../write/write-yaml.ts'

export interface Style {
  /** Columns from a list's key to its items. */
  readonly listOffset: number
  /** The text between a dash and its item. */
  readonly gap: string
  /** The quoting style per key, in the YAML library's terms. */
  readonly quotes?: ReadonlyMap<string, string>
}

export const newText = { item, pairs, flow, flowPair, json }

/** An item of a block list, without the last line feed. */
function item(value: Json, column: number, style: Style): string {
  const dash = `${' '.repeat(column)}-${style.gap}`
  if (!isObject(value)) return dash + scalar(value)
  const inner = column + 1 + style.gap.length
  return dash + pairs(value, inner, style).slice(inner)
}

/** Keys of a block mapping, without the last line feed. */
function pairs(value: Readonly<Record<string, Json>>, column: number, style: Style): string {
  const indent = ' '.repeat(column)
  return Object.entries(value)
    .map(([key, its]) => {
      const name = `${indent}${scalar(key)}:`
      if (Array.isArray(its)) {
        const items = its as readonly Json[]
        if (items.length === 0) return `${name} []`
        return [name, ...items.map((one) => item(one, column + style.listOffset, style))].join('\n')
      }
      if (isObject(its)) return `${name}\n${pairs(its, column + 2, style)}`
      return `${name} ${scalar(its, style.quotes?.get(key))}`
    })
    .join('\n')
}

function flow(value: Json, isJson = false): string {
  if (isJson) return spaced(value)
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map((one) => flow(one)).join(', ')}]`
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, its]) => flowPair(key, its, false))
      .join(', ')}}`
  // In flow style, commas and brackets end plain text.
  const text = scalar(value)
  return /[,[\]{}]/.test(text) && !/^['"]/.test(text) ? JSON.stringify(value) : text
}

function flowPair(key: string, value: Json, isJson: boolean): string {
  return isJson ? `${JSON.stringify(key)}: ${spaced(value)}` : `${scalar(key)}: ${flow(value)}`
}

/** Multi-line JSON; the caller has already indented the first line. */
function json(value: Json, outer: number, step: number): string {
  return JSON.stringify(value, undefined, step).replaceAll('\n', `\n${' '.repeat(outer)}`)
}

function spaced(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(spaced).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([key, its]) => `${JSON.stringify(key)}: ${spaced(its)}`)
    .join(', ')} }`
}

/** On one line, in opm's style unless `quoted` gives the neighbor's. */
function scalar(value: Json, quoted?: string): string {
  if (typeof value === 'string') {
    if (quoted === 'QUOTE_DOUBLE') return JSON.stringify(value)
    if (quoted === 'QUOTE_SINGLE' && /^[ -~]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`
  }
  const text = yaml(value).trimEnd()
  return text.includes('\n') ? JSON.stringify(value) : text
}
