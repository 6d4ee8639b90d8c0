// Prints values up to a length limit without recursion, so that deep, wide or endlessly aliased values are safe.
import type { ListValue, MapValue, ParsedValue } from './tree.ts'

export interface ParsedValueFormatter {
  /** The parts of a list or map with the text between them. */
  readonly partsOf: (value: ListValue | MapValue) => Iterable<ParsedValue | string>
  readonly scalar: (value: Exclude<ParsedValue, ListValue | MapValue>) => string
}

/** Stops adding text after `limit` code units. */
export function formatParsedValueWithLimit(
  root: ParsedValue,
  { partsOf, scalar }: ParsedValueFormatter,
  limit: number,
): string {
  const pieces: string[] = []
  let length = 0
  const open: Iterator<ParsedValue | string>[] = [[root].values()]
  for (let top = open.at(-1); top && length < limit; top = open.at(-1)) {
    const next = top.next()
    if (next.done === true) {
      open.pop()
      continue
    }
    const part = next.value
    if (typeof part !== 'string' && (part.kind === 'list' || part.kind === 'map'))
      open.push(partsOf(part)[Symbol.iterator]())
    else {
      const text = typeof part === 'string' ? part : scalar(part)
      pieces.push(text)
      length += text.length
    }
  }
  return pieces.join('')
}
