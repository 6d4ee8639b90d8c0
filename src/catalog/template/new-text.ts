// What is new in a template, as YAML or JSON text in the manner of what stands around it.
import type { Json } from '../../go/json/json.ts'
import { isObject } from '../../go/json/json-fields.ts'
import { yaml } from '../write/write-yaml.ts'

export interface Style {
  /** Columns by which the items of a list stand deeper than its key. */
  readonly listOffset: number
  /** What stands between a dash and its item. */
  readonly gap: string
  /** How the neighbour quotes the value of each key, in the words of the YAML library. */
  readonly quotes?: ReadonlyMap<string, string>
}

export const newText = { item, pairs, flow, flowPair, json }

/** An item of a block list with its dash, without the last line's end. */
function item(value: Json, column: number, style: Style): string {
  const dash = `${' '.repeat(column)}-${style.gap}`
  if (!isObject(value)) return dash + scalar(value)
  const inner = column + 1 + style.gap.length
  return dash + pairs(value, inner, style).slice(inner)
}

/** Keys of a block mapping, without the last line's end. */
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

/** On one line, in braces and brackets. */
function flow(value: Json, isJson = false): string {
  if (isJson) return spaced(value)
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map((one) => flow(one)).join(', ')}]`
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, its]) => flowPair(key, its, false))
      .join(', ')}}`
  // Commas and brackets end a plain text there.
  const text = scalar(value)
  return /[,[\]{}]/.test(text) && !/^['"]/.test(text) ? JSON.stringify(value) : text
}

function flowPair(key: string, value: Json, isJson: boolean): string {
  return isJson ? `${JSON.stringify(key)}: ${spaced(value)}` : `${scalar(key)}: ${flow(value)}`
}

/** JSON over several lines; its own first line stands somewhere already. */
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

/** As opm would write it, on one line; or quoted as its neighbour is. */
function scalar(value: Json, quoted?: string): string {
  if (typeof value === 'string') {
    if (quoted === 'QUOTE_DOUBLE') return JSON.stringify(value)
    if (quoted === 'QUOTE_SINGLE' && /^[ -~]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`
  }
  const text = yaml(value).trimEnd()
  return text.includes('\n') ? JSON.stringify(value) : text
}
