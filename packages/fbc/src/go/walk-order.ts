// The order in which opm walks a tree: Go's WalkDir, names of each directory by bytes, depth first.
import { compareBytes } from './text.ts'

export function comparePathsInWalkOrder(a: string, b: string): number {
  const left = a.split('/')
  const right = b.split('/')
  const shorter = Math.min(left.length, right.length)
  for (let at = 0; at < shorter; at++) {
    const order = compareBytes(left[at] as string, right[at] as string)
    if (order !== 0) return order
  }
  return left.length - right.length
}
