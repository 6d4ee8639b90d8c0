// A text field of a property's value, for rules that look at every property of a catalog.
import type { Json } from '../../../go/json/json.ts'
import { textField } from '../../../go/json/json-fields.ts'

/** The field as spelt where it is a text, else as Go would find it: without regard to case; '' where there is none. */
export function fieldText(value: Json, field: string): string {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const exact = (value as Readonly<Record<string, Json>>)[field]
    if (typeof exact === 'string') return exact
  }
  return textField(value, field)
}
