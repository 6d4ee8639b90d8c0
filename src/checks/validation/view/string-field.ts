import { type Json, getJsonStringField } from '@catalog-bot/fbc/go/json/json'

/** The exact field if it is a string, or else the first case-insensitive match, as in Go; '' if absent. */
export function getStringField(value: Json, field: string): string {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const exact = (value as Readonly<Record<string, Json>>)[field]
    if (typeof exact === 'string') return exact
  }
  return getJsonStringField(value, field)
}
