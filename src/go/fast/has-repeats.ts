import { KeyTable } from '../key-table.ts'
import type { MapEntry } from '../tree.ts'

/** So few are compared one by one. */
const few = 16

/** Whether a key stands more than once among a map's entries. */
export function hasRepeats(entries: readonly MapEntry[]): boolean {
  if (entries.length > few) {
    const table = new KeyTable()
    return entries.some(({ key }) => table.add(key) >= 0)
  }
  for (let at = 1; at < entries.length; at++) {
    for (let before = 0; before < at; before++) if (entries[before]?.key === entries[at]?.key) return true
  }
  return false
}
