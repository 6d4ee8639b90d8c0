import type { MapEntry } from '../tree.ts'

/** Whether a key stands more than once among a map's entries. */
export function hasRepeats(entries: readonly MapEntry[]): boolean {
  if (entries.length > 16) return new Set(entries.map((entry) => entry.key)).size < entries.length
  for (let at = 1; at < entries.length; at++) {
    for (let before = 0; before < at; before++) if (entries[before]?.key === entries[at]?.key) return true
  }
  return false
}
