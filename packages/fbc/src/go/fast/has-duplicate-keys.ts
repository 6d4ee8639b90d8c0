import { StringKeyIndex } from '../key-table.ts'
import type { MapEntry } from '../tree.ts'

const maxLinearSearchKeys = 16

export function hasDuplicateKeys(entries: readonly MapEntry[]): boolean {
  if (entries.length > maxLinearSearchKeys) {
    const table = new StringKeyIndex()
    return entries.some(({ key }) => table.add(key) >= 0)
  }
  for (let at = 1; at < entries.length; at++) {
    for (let before = 0; before < at; before++) if (entries[before]?.key === entries[at]?.key) return true
  }
  return false
}
