import type { Json } from '@catalog-bot/fbc/go/json/json'

export function toCanonicalJson(value: Json): string {
  return JSON.stringify(value, (_key, inner: Json) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
