// Formats decoded JSON as Go's fmt does with %v, and with the %t that opm uses by mistake.
import { formatGoFloat } from '../number.ts'
import { sortMapEntriesByKey } from '../json/json-text.ts'
import { formatParsedValueWithLimit, type ParsedValueFormatter } from '../print-value.ts'
import type { ListValue, MapValue, ParsedValue } from '../tree.ts'

const maxFormattedGoValueLength = 1 << 20

const jsonTypeByValueKind = {
  null: 'null',
  bool: 'bool',
  number: 'number',
  string: 'string',
  list: 'array',
  map: 'object',
}

export function getJsonTypeName(value: ParsedValue): string {
  return jsonTypeByValueKind[value.kind]
}

/** `%v`: lists and maps as `[1 x]` and `map[a:1]`. */
export function formatGoValue(value: ParsedValue): string {
  return formatParsedValueWithLimit(
    value,
    { partsOf: (part) => splitGoValueIntoFormatParts(part, false), scalar: formatGoScalar },
    maxFormattedGoValueLength,
  )
}

/** `%t` of a value that is not a bool: `%!t(float64=1)`. */
export function formatAsGoBool(value: ParsedValue): string {
  if (value.kind === 'null') return '%!t(<nil>)'
  const scalar: ParsedValueFormatter['scalar'] = (part) => {
    if (part.kind === 'bool') return String(part.value)
    if (part.kind === 'null') return '<nil>'
    return `%!t(${part.kind === 'number' ? 'float64' : 'string'}=${formatGoScalar(part)})`
  }
  return formatParsedValueWithLimit(
    value,
    { partsOf: (part) => splitGoValueIntoFormatParts(part, true), scalar },
    maxFormattedGoValueLength,
  )
}

function formatGoScalar(value: Parameters<ParsedValueFormatter['scalar']>[0]): string {
  switch (value.kind) {
    case 'null':
      return '<nil>'
    case 'bool':
      return String(value.value)
    case 'number':
      return formatGoFloat(value.value)
    case 'string':
      return value.value
  }
}

function* splitGoValueIntoFormatParts(
  value: ListValue | MapValue,
  markKeys: boolean,
): Generator<ParsedValue | string> {
  let between = ''
  if (value.kind === 'list') {
    yield '['
    for (const item of value.items) {
      yield between
      yield item
      between = ' '
    }
  } else {
    yield 'map['
    for (const { key, value: inner } of sortMapEntriesByKey(value.entries)) {
      yield `${between}${markKeys ? `%!t(string=${key})` : key}:`
      yield inner
      between = ' '
    }
  }
  yield ']'
}
